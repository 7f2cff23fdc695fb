import { beforeEach, describe, expect, it } from "vitest";
import { createInMemoryStore } from "../../../adapters/memory/index.ts";
import type { ScopedMemory } from "../../../engine/api/scoped-memory.ts";
import { createMemory } from "../../../memory.ts";

let ana: ScopedMemory;
let now: Date;

beforeEach(async () => {
  now = new Date("2026-03-02T10:00:00Z");
  const memory = await createMemory({ record: createInMemoryStore(), clock: () => now });
  ana = memory.scope({ user: "ana" });
});

async function say(...sentences: readonly string[]): Promise<void> {
  for (const sentence of sentences) {
    now = new Date(now.getTime() + 86_400_000);
    await ana.remember(sentence, { session: `on ${now.toISOString()}` });
  }
}

async function ask(question: string): Promise<string> {
  return (await ana.answer(question)).text;
}

describe("a question for all things of a kind", () => {
  it("is answered with what was told in several sessions by several verbs", async () => {
    await say("I drive a Honda Jazz.", "I bought a Yamaha motorbike in spring.");
    const text = await ask("List the vehicles I own");
    expect(text).toContain("Honda Jazz");
    expect(text).toContain("Yamaha motorbike");
  });

  it("is answered without what was sold, and without what another person has", async () => {
    await say("We have a beagle called Otto.", "I keep two geckos.", "My brother has a parrot.");
    await say("I gave the geckos away.");
    const text = await ask("What pets do I have?");
    expect(text).toContain("Otto");
    expect(text).not.toMatch(/gecko|parrot/);
  });

  it("knows a medicine by the stem of its name", async () => {
    await say(
      "I take ramipril in the morning.",
      "My wife takes losartan.",
      "I also take omeprazole at night.",
    );
    const text = await ask("Can you list my meds?");
    expect(text).toContain("ramipril");
    expect(text).toContain("omeprazole");
    expect(text).not.toContain("losartan");
  });
});

describe("a question for a number of things", () => {
  it("is answered with the number of those that were told one by one", async () => {
    await say("I speak Portuguese and Danish.", "I also speak a bit of Swahili.");
    expect(await ask("How many languages do I speak?")).toBe(
      "Three that I know of: Portuguese, Danish and a bit of Swahili.",
    );
  });

  it("takes the number that was told where there is one", async () => {
    await say("We've got three kids: Ada, Bruno and Cleo.");
    expect(await ask("How many kids do I have?")).toBe("You have three kids.");
  });

  it("is not answered where nothing of the kind was told", async () => {
    await say("I speak Portuguese and Danish.");
    expect((await ana.answer("How many cars do I have?")).abstained).toBe(true);
  });
});

describe("a question whether there are any", () => {
  it("is answered with all of the kind", async () => {
    await say("I have two cats, Tom and Mia.", "My favourite colour is blue.");
    expect(await ask("Do I have any pets?")).toBe(
      "Yes, you have two cats. Your cats are called Tom and Mia.",
    );
  });
});
