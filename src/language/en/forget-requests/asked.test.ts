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

describe("a request that asks as a question does", () => {
  // Numbers with a comma: without one, an id or a time of the export may hold them.
  it.each([
    ["our flat is at 12 Birch Lane", "forget my address", /Birch/],
    ["I'm allergic to cashews", "forget about my allergy", /cashew/],
    ["I'm pregnant, week 20", "delete what I said about the pregnancy", /pregnant/],
    ["I owe the tax office 2,950 euros", "please forget my debts", /2,950/],
    ["I lent my cousin 70 pounds", "forget the money I lent my cousin", /pounds/],
    ["I pay my landlord 1,840 a month", "forget what I pay my landlord", /1,840/],
    ["I'm on 3,100 a month", "forget what I said about my wages", /3,100/],
    ["I ride a Vespa", "forget which scooter I ride", /Vespa/],
    ["I bank with Norisbank", "forget which bank I use", /Norisbank/],
    ["I fancy Ruben from accounts", "ugh forget I said that about Ruben", /Ruben/],
    ["Olga plays the tuba", "wipe that bit about Olga", /tuba/],
    ["my brother Ole lives in Bodø", "forget my whole family", /Bodø/],
  ])("“%s”, “%s”", async (said, request, gone) => {
    await ana.remember("I play the cello and I live in Bergen.");
    await ana.remember(said);
    const { erasures } = await ana.remember(request);
    expect(erasures?.[0]?.erased.memories).toBeGreaterThan(0);
    const lines: unknown[] = [];
    for await (const line of ana.export()) lines.push(line);
    expect(JSON.stringify(lines)).not.toMatch(gone);
    expect((await ana.answer("What do I play?")).text).toMatch(/cello/);
  });

  it("“forget my salary” leaves days of leave and hours of sleep", async () => {
    await ana.remember("I get 27 days of leave. I get 7 hours of sleep. I make 40,000 a year.");
    await ana.remember("Forget my salary.");
    const texts = (await ana.list()).items.map(({ text }) => text).join(" ");
    expect(texts).toMatch(/27 days/);
    expect(texts).toMatch(/7 hours/);
    expect(texts).not.toMatch(/40,000/);
  });

  it.each([
    ["Mr Aldous in bed 9 has c diff", "Take him out of your memory please.", "Aldous"],
    ["I have bought a llama called Clement", "Chuck that llama out of your head, will you.", "llama"],
    ["I owe Gary 900 quid", "take my debt out of there mate, all square now", "Gary"],
    ["Tamsin takes citalopram", "i shouldnt have said what Tamsin takes. can u wipe that please", "Tamsin"],
  ])("“%s”, “%s” is carried out or asked back", async (said, request, named) => {
    await ana.remember(said);
    const { erasures = [], waiting = [] } = await ana.remember(request);
    const preview = JSON.stringify(waiting);
    expect(erasures.length > 0 || preview.includes(named)).toBe(true);
  });

  it("“forget the polite ending”, of a letter that the assistant wrote, erases nothing unasked", async () => {
    const letter = `Dear Sir, ${"my car was clamped although I hold a permit. ".repeat(4)}Yours politely, Rashida`;
    await ana.remember([
      { role: "user", content: "write to the council about my car" },
      { role: "assistant", content: letter },
      { role: "user", content: "drop the name" },
    ]);
    const { erasures = [] } = await ana.remember("forget the polite ending, just put Regards");
    expect(erasures).toEqual([]);
  });

  it.each([
    "just so you know but please don't keep it, I've been to prison",
    "don't hold on to this: I hate my job",
    "don't write this down: I've been fired",
  ])("“%s” keeps nothing of itself", async (said) => {
    await ana.remember(said);
    expect((await ana.list()).items).toEqual([]);
    expect((await ana.recall("prison job fired")).abstained).toBe(true);
  });

  it.each([
    "forget who won, who cares",
    "don't forget which bus I take",
    "I bought a hat but I don't keep it at home",
  ])("“%s” asks for nothing", async (said) => {
    await ana.remember("I take the bus number 12.");
    const { erasures } = await ana.remember(said);
    expect(erasures ?? []).toEqual([]);
  });
});

describe("a request that asks as a question does leaves what else is told with the same verb", () => {
  it.each([
    [
      "forget which productivity tools I use",
      ["I use Shram and Magnet as productivity tools."],
      ["I use a bike."],
    ],
    ["forget how old I am", ["I'm 34."], ["I'm a plumber.", "I'm left-handed."]],
    ["forget where I live", ["I live in Hull."], ["My mum lives in Rome."]],
    ["forget where I work", ["I work at Tesco."], ["I work nights."]],
    ["forget where I was born", ["I was born in Cardiff."], ["I'm a nurse."]],
    ["forget what car I have", ["I have a Golf."], ["I have a boat."]],
    ["forget which instrument I play", ["I play the violin."], ["I play chess."]],
    ["forget how much I earn", ["I earn 40k."], ["I make pots."]],
    ["forget how many kids I have", ["I have two kids."], ["I have a car."]],
    ["forget what I'm allergic to", ["I'm allergic to nuts."], ["I'm a nurse."]],
    ["forget who I was married to", ["I was married to Greg."], ["I'm a plumber.", "I'm tall."]],
  ])("“%s”", async (request, meant, others) => {
    for (const said of [...others, ...meant]) await ana.remember(said);
    const before = (await ana.list()).items.length;
    await ana.remember(request);
    const exported: unknown[] = [];
    for await (const line of ana.export()) exported.push(line);
    const left = JSON.stringify(exported);
    for (const said of others) expect(left).toContain(said);
    for (const said of meant) expect(left).not.toContain(said);
    expect((await ana.list()).items.length).toBeLessThan(before);
  });

  it.each([
    ["forget what illness I have", ["I have a dog.", "I have a sister.", "I have asthma."]],
    ["forget that I was ever married", ["I'm a plumber.", "I'm left-handed.", "I'm single."]],
    ["forget what I like to drink", ["I like tea.", "I like chess."]],
    [
      "Forget the Golf, I'm getting a Tesla.",
      ["My sister drives a Golf.", "I'm thinking of getting a Golf."],
    ],
  ])("“%s” erases nothing unasked where it is not sure what is meant", async (request, told) => {
    for (const said of told) await ana.remember(said);
    const { erasures = [] } = await ana.remember(request);
    expect(erasures).toEqual([]);
    expect((await ana.list()).items.length).toBeGreaterThanOrEqual(told.length);
  });
});

it.each([
  "no, undo that",
  "never mind, keep it",
  "oops, bring it back",
  "wait, don't",
  "jk, don't forget it",
])("“%s”, after an erasure, erases nothing more and says that there is no way back", async (said) => {
  await ana.remember("I have a dog called Rex.");
  await ana.remember("My rent is 900.");
  await ana.remember("forget Rex");
  const { text, receipt } = await ana.converse(said);
  expect(text).toMatch(/cannot be brought back/);
  expect([...(receipt.erasures ?? []), ...(receipt.waiting ?? [])]).toEqual([]);
  expect((await ana.list()).items.map((one) => one.text)).toEqual(["The user's rent is 900."]);
});
