import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createInMemoryStore } from "../../../adapters/memory/index.ts";
import type { Keepsake, ScopedMemory } from "../../../engine/api.ts";
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
