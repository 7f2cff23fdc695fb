import { beforeEach, describe, expect, it } from "vitest";
import { createInMemoryStore } from "../../../../adapters/memory/index.ts";
import type { ScopedMemory } from "../../../../engine/api/scoped-memory.ts";
import { createMemory } from "../../../../memory.ts";

let ana: ScopedMemory;
let now: Date;

beforeEach(async () => {
  now = new Date("2026-03-02T10:00:00Z");
  const memory = await createMemory({ record: createInMemoryStore(), clock: () => now });
  ana = memory.scope({ user: "ana" });
});

async function say(...sentences: readonly string[]): Promise<void> {
  for (const sentence of sentences) {
    now = new Date(now.getTime() + 60_000);
    await ana.remember(sentence);
  }
}

describe("the evidence that answers a question", () => {
  it.each([
    [
      "my oldest friend Piet moved to Graz in March. He has two girls",
      "In which month did Piet move to Graz?",
      /March/,
    ],
    ["My housemate Lior swears I'm nocturnal.", "Who is my housemate?", /Lior/],
    ["Sunil cleans on Fridays.", "Which day does the cleaner come?", /Friday/],
    ["I live here with my two whippets.", "What breed are my dogs?", /whippets/],
    ["We booked a boat tour, 45 euros each", "What does the boat tour cost?", /45/],
  ])("after “%s” tells what “%s” asks", async (told, question, answer) => {
    await say(told);
    expect((await ana.answer(question)).text).toMatch(answer);
  });

  it.each([
    ["The roof leaks, and the roofer can come on the 22nd.", "What is the roofer called?"],
    ["The hives are up at my uncle's farm.", "What does my uncle do?"],
    ["Paula said “I'm allergic to shrimp” when the plates came.", "What am I allergic to?"],
    ["If I lived in Madrid, I'd eat at midnight.", "Where do I live?"],
    ["We meet in the hall at St Jude's.", "What is our hall called?"],
    ["user = {'city': 'Denver', 'allergy': 'nuts'}; print(user['email'])", "Which city do I live in?"],
  ])("after “%s” gives no sure answer to “%s”", async (told, question) => {
    await say(told);
    expect((await ana.answer(question)).abstained).toBe(true);
  });

  it("is quoted with a doubt where it may be of somebody else", async () => {
    await say("Boris in accounts is retiring in July.");
    const { text, abstained } = await ana.answer("Which of my colleagues is about to retire?");
    expect([text, abstained]).toEqual([expect.stringMatching(/^I'm not certain\. .*Boris/), true]);
  });

  it("is quoted without the mark of a part of a list that was erased", async () => {
    await say("I use Shram and Magnet as productivity tools.", "Forget that I ever mentioned Magnet.");
    const { text } = await ana.answer("What did I use before Shram?");
    expect(text).not.toContain("[…]");
  });
});
