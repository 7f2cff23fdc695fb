import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createInMemoryStore } from "../../adapters/memory/index.ts";
import { createMemory } from "../../memory.ts";
import type { Keepsake } from "../api/keepsake.ts";
import type { ScopedMemory } from "../api/scoped-memory.ts";
import { nameClusters } from "./cluster-names.ts";

let memory: Keepsake;
let ann: ScopedMemory;

beforeEach(async () => {
  memory = await createMemory({ record: createInMemoryStore() });
  ann = memory.scope({ user: "ann" });
});
afterEach(() => memory.close());

const FOOD = ["pizza", "lasagne", "risotto", "gnocchi", "ravioli", "pasta", "focaccia", "minestrone"];
const SPORT = [
  "tennis",
  "badminton",
  "squash",
  "table tennis",
  "volleyball",
  "handball",
  "hockey",
  "football",
];

async function addTopics(): Promise<void> {
  for (const food of FOOD) await ann.add({ text: `The user cooks ${food} for dinner.` });
  for (const sport of SPORT) await ann.add({ text: `The user plays ${sport} with friends in a club.` });
}

describe("clusters of memories", () => {
  it("have names that tell them apart, and contain memories about one topic each", async () => {
    await addTopics();
    const { items, total, left } = await ann.clusters({ memories: 100 });
    expect([items.length, total, left]).toEqual([2, 16, 0]);
    const found = items.map(({ words, memories }) => ({
      words,
      isFood: memories.every(({ text }) => text.includes("dinner")),
      isSport: memories.every(({ text }) => text.includes("plays")),
    }));
    expect(found.find(({ isFood }) => isFood)?.words).toEqual(expect.arrayContaining(["cooks", "dinner"]));
    expect(found.find(({ isSport }) => isSport)?.words).toEqual(expect.arrayContaining(["plays"]));
    expect(items.map(({ name, words }) => name === words.join(", "))).toEqual([true, true]);
  });

  it("are the same at each call, and contain nothing that was ended, erased, or is another user's", async () => {
    await addTopics();
    await memory.scope({ user: "bob" }).add({ text: "The user cooks zucchini for dinner." });
    expect(await ann.clusters()).toEqual(await ann.clusters());
    await ann.forget("gnocchi");
    await ann.remove((await ann.list({ limit: 1 })).items[0]?.id ?? "");
    const found = JSON.stringify(await ann.clusters({ memories: 100 }));
    for (const gone of ["gnocchi", "football", "zucchini"]) expect(found).not.toContain(gone);
    expect(found).toContain("lasagne");
  });

  it("are limited in number and in the memories shown, and chosen by kind", async () => {
    await addTopics();
    await ann.add({ text: "The user prefers tea.", kind: "preference" });
    const one = await ann.clusters({ limit: 1, memories: 0 });
    expect(one.items.map(({ size, memories }) => [size, memories.length])).toEqual([[17, 0]]);
    expect((await ann.clusters({ kind: "preference" })).items.map(({ size }) => size)).toEqual([1]);
  });

  it("each have a name, also if no word tells them apart: then that of the most typical memory", async () => {
    await ann.add({ text: "The user prefers tea." });
    expect((await ann.clusters()).items).toMatchObject([{ name: "The user prefers tea.", words: [] }]);
    await ann.forget({ everything: true });
    const text = `The user  ${"waters the plants and ".repeat(6)}sleeps.`;
    await ann.add({ text });
    const [{ name = "", size } = {}] = (await ann.clusters()).items;
    expect([name, size]).toEqual(["The user waters the plants and waters the plants and waters…", 1]);
  });

  it("are none without memories; a wrong option is refused", async () => {
    expect(await ann.clusters()).toEqual({ items: [], total: 0, left: 0 });
    for (const options of [{ limit: 0 }, { memories: 101 }, { kind: "mood" as never }])
      await expect(ann.clusters(options)).rejects.toMatchObject({ code: "invalid_input" });
  });
});

describe("the names of clusters", () => {
  it("are words that several texts have, if there is one cluster", () => {
    expect(nameClusters([["The cat is big", "The cat is old", "The dog is", "The owl", "The fox"]])).toEqual([
      ["cat"],
    ]);
  });

  it("leave out words that all have, show the usual form of a word, and no number", () => {
    expect(
      nameClusters([
        ["A cat of 2019", "Cats sleep", "A cat"],
        ["A boat of 2019", "Boats sail"],
      ]),
    ).toEqual([
      ["cat", "sleep"],
      ["boat", "sail"],
    ]);
  });
});
