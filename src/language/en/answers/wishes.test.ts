import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createInMemoryStore } from "../../../adapters/memory/index.ts";
import type { Keepsake } from "../../../engine/api/keepsake.ts";
import type { ScopedMemory } from "../../../engine/api/scoped-memory.ts";
import { createMemory } from "../../../memory.ts";

let keepsake: Keepsake;
let ana: ScopedMemory;
beforeEach(async () => {
  keepsake = await createMemory({ record: createInMemoryStore() });
  ana = keepsake.scope({ user: "ana" });
});
afterEach(() => keepsake.close());

describe("what the user wants of whoever answers", () => {
  it.each([
    ["please never use slang in your replies", "Should you use slang with me?", /^No, .*slang/],
    ["always quote temperatures in kelvin", "Do I want temperatures in kelvin?", /^Yes, .*kelvin/],
    ["From now on write times in 24 hours.", "How do I want times written?", /24 hours/],
    ["could you write dates the German way from here on?", "How do I want dates written?", /German way/],
    ["no spoilers, please", "Do I want spoilers?", /^No, you do not want spoilers/],
    ["give me prices in francs from now on", "Which currency do I want prices in?", /francs/],
  ])("“%s” answers “%s”", async (said, asked, answer) => {
    await ana.remember(said);
    expect((await ana.answer(asked)).text).toMatch(answer);
  });

  it.each([
    "could you help me with my homework?",
    "can you write me a letter?",
    "would you like some tea?",
    "no onions in my salad please",
  ])("is nothing that lasts in “%s”", async (said) => {
    const { memories } = await ana.remember(said);
    expect(memories.filter(({ text }) => /assistant|does not want/.test(text))).toEqual([]);
  });

  it("is not known where something else is asked for", async () => {
    await ana.remember("please never use slang in your replies");
    expect((await ana.answer("Do I want sugar?")).abstained).toBe(true);
  });
});

describe("advice", () => {
  it.each([
    ["I prefer hostels over hotels.", "Where should I stay in Lisbon?", /hostels/],
    ["I would rather walk than take a taxi.", "How should we get there?", /walk/],
    ["I prefer paperbacks to e-books.", "What book should I buy?", /paperbacks/],
  ])("“%s” has to do with “%s”", async (said, asked, answer) => {
    await ana.remember(said);
    expect((await ana.recall(asked)).abstained).toBe(false);
    expect((await ana.answer(asked)).text).toMatch(answer);
  });

  it("does not bring up a preference of something else", async () => {
    await ana.remember("I prefer hostels over hotels.");
    await ana.remember("I prefer paperbacks to e-books.");
    expect((await ana.answer("When should I train?")).abstained).toBe(true);
    expect((await ana.answer("Where should we eat out?")).abstained).toBe(true);
  });
});
