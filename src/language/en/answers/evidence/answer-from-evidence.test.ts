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
    ["we've got eleven hens at the moment, mostly Marans", "How many eggs do I get a week?"],
    ["My husband Modou runs a fish restaurant on the corniche", "What's my husband's restaurant called?"],
    ["Two rescue greyhounds and a one eyed cat, that's the household.", "What are the dogs called?"],
    ["Our choir sings the Fauré requiem on Palm Sunday", "What did my choir sing at Christmas?"],
    ["Paula said “I'm allergic to shrimp” when the plates came.", "What am I allergic to?"],
    ["If I lived in Madrid, I'd eat at midnight.", "Where do I live?"],
    ["We meet in the hall at St Jude's.", "What is our hall called?"],
    ["I don't like okra soup.", "Which soup do I like?"],
    ["Tamsin has a snake called Noodle", "What pet do I own?"],
    ["My husband Kerem cooks dinner on weekdays.", "Who cooks on weekends?"],
    ["I got a new job in a dental clinic, mornings only.", "What pets do we have?"],
    ["I get seasick. I live with my brother Anders.", "What pets do I have?"],
    ["user = {'city': 'Denver', 'allergy': 'nuts'}; print(user['email'])", "Which city do I live in?"],
  ])("after “%s” gives no sure answer to “%s”", async (told, question) => {
    await say(told);
    expect((await ana.answer(question)).abstained).toBe(true);
  });

  it.each([
    ["I run a kennel with thirty dogs and two volunteers", "How many volunteers do I have?"],
    ["we named the baby Juno", "What is the baby called?"],
    ["we're off to Crete in June", "Where are we going in June?"],
    ["My mum takes a size 37", "What shoe size is my mum?"],
  ])("after “%s” surely answers “%s”", async (told, question) => {
    await say(told);
    expect((await ana.answer(question)).abstained).toBe(false);
  });

  it("gives the number that was told of several things, and does not count them as one", async () => {
    await say("it's the vet's list for our alpacas, 17 of them");
    expect((await ana.answer("How many alpacas do we have?")).text).toContain("17");
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

describe("what a later statement ended", () => {
  it.each([
    [
      "I work at the bakery on Mill Street",
      "Crumb & Co let me go, so I'm at the primary school now",
      "Where do I work?",
      "bakery",
      "school",
    ],
    [
      "I take warfarin for my heart",
      "it's not warfarin I'm on any more, they changed me to apixaban",
      "What blood thinner am I on?",
      "^You take warfarin",
      "apixaban",
    ],
    [
      "We live in Rotterdam",
      "we've moved, the new place is great",
      "Where do I live?",
      "^You live in Rotterdam",
      "moved",
    ],
  ])("%s, then %s: does not answer %s", async (earlier, later, question, wrong, shown) => {
    await say(earlier, "the weather is dreadful today", later);
    const { text } = await ana.answer(question);
    expect(text).not.toMatch(new RegExp(wrong));
    expect(text).toContain(shown);
  });

  it("is not what a plan, somebody else's change or another member of a list tells of", async () => {
    await say("I drive a Saab", "my sister swapped her Volvo for a bike", "we nearly sold the caravan");
    expect((await ana.answer("What car do I drive?")).text).toContain("Saab");
    await say("I play the cello and the banjo", "sadly I gave up the banjo");
    expect((await ana.answer("Which instruments do I play?")).text).toBe("You play the cello.");
  });

  it("is followed from change to change", async () => {
    await say("I take warfarin for my heart", "they changed me from warfarin to apixaban");
    await say("my sister rang", "they took me off apixaban, it's rivaroxaban that I'm on");
    const { text } = await ana.answer("What blood thinner am I on?");
    expect(text).not.toMatch(/^(?:I'm not certain\. )?You take warfarin/);
    expect(text).toContain("rivaroxaban");
  });

  it("answers what was before", async () => {
    await say("I live in Bonn", "the weather is dreadful today", "I moved to Lyon");
    expect((await ana.answer("Where did I live before?")).text).toContain("Bonn");
  });
});
