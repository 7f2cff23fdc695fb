import { describe, expect, it } from "vitest";
import { createInMemoryStore } from "../../../../adapters/memory/index.ts";
import { createMemory } from "../../../../memory.ts";
import { besideHoles, closeHoles } from "./holes.ts";

async function learnt(said: string): Promise<string[]> {
  const keepsake = await createMemory({ record: createInMemoryStore() });
  const memory = keepsake.scope({ user: "home" });
  await memory.remember(said);
  const found: string[] = [];
  for await (const { claim } of memory.list()) {
    if (claim) found.push([claim.relation, claim.value, claim.qualifier].filter(Boolean).join(" "));
  }
  return found;
}

describe("a message that lost words", () => {
  it.each([
    ["I use Asana and […] for planning.", ["use Asana for planning"]],
    ["I have […] and I take salbutamol.", ["take salbutamol"]],
    ["My rival is called […].", []],
    ["I live in […].", []],
    ["I speak […], Czech and Welsh.", ["speak Welsh", "speak Czech"]],
    ["I speak Czech, […] and Welsh.", ["speak Welsh", "speak Czech"]],
  ])("%s teaches what is left, never the mark", async (said, expected) => {
    expect((await learnt(said)).sort()).toEqual([...expected].sort());
  });

  it("keeps every place where it was", () => {
    const text = "I like […], tea and […].";
    expect(closeHoles(text)).toHaveLength(text.length);
  });
});

describe("beside erased words", () => {
  const whole = (text: string): string[] =>
    besideHoles(text, { start: 0, end: text.length }).map(({ start, end }) => text.slice(start, end));

  it.each([
    ["locker at the gym is 3318, bike lock […]", ["locker at the gym is 3318"]],
    ["Dad's PIN is […], I take out money for him", ["I take out money for him"]],
    ["I sail on Fridays", ["I sail on Fridays"]],
    ["Ann plays chess; the club is […] and we meet in Camden", ["Ann plays chess"]],
    ["the code is […]", []],
  ])("clauses that lost nothing are told: %s", (text, told) => {
    expect(whole(text)).toEqual(told);
  });

  it("a sentence that continues what was erased is not told", () => {
    const content = "[…]. and we meet in Camden";
    expect(besideHoles(content, { start: 5, end: content.length })).toEqual([]);
  });

  it("a sentence of many spaces is read in no time", () => {
    expect(whole(`a, […]${" ".repeat(100_000)}b c d`)).toEqual([]);
  });
});

describe("what stands in brackets", () => {
  it.each([
    [
      "My wife can't have gluten (coeliac, properly diagnosed) and I don't like fish.",
      /^The user's wife cannot have gluten\.$/,
    ],
    ["I work (part time, alas) at the library.", /^The user works at the library\.$/],
    ["My brother (the younger one) plays hockey.", /^The user's brother plays hockey\.$/],
    ["I'm allergic to penicillin (a rash", /^The user is allergic to penicillin\.$/],
    ["We have two cats (Miso and Tofu).", /^The user has two cats\.$/],
    ["My son (4) loves trains.", /^The user's son loves trains\.$/],
    ["I take metformin (500 mg) twice a day.", /^The user takes metformin \(500 mg\) twice a day\.$/],
  ])("%s leaves no half of it in a memory", async (said, expected) => {
    const keepsake = await createMemory({ record: createInMemoryStore() });
    const memory = keepsake.scope({ user: "home" });
    await memory.remember(said);
    const texts = (await memory.list()).items.map(({ text }) => text);
    expect(texts.some((text) => expected.test(text))).toBe(true);
    for (const text of texts) expect(text.split("(")).toHaveLength(text.split(")").length);
  });
});
