import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createInMemoryStore } from "../../adapters/memory/index.ts";
import { prometheusMeter } from "../../adapters/prometheus/index.ts";
import { createMemory } from "../../memory.ts";
import type { MemoryOptions } from "../../memory-options.ts";
import type { MemoryStore } from "../../ports/memory-store.ts";
import { hashEmbedder } from "../../testing/test-doubles.ts";
import {
  createFaultyVectorIndex,
  type FaultyVectorIndex,
  makeEntry,
  readIds,
} from "../../testing/vector-index/index-fixtures.ts";
import type { IndexProgress } from "../api/index-types.ts";
import type { Keepsake } from "../api/keepsake.ts";

const ANN = { project: "default", user: "ann" };
const BOB = { project: "default", user: "bob" };
const SOON = { timeout: 5000, interval: 5 };

let record: MemoryStore;
let index: FaultyVectorIndex;
let opened: Keepsake[] = [];
beforeEach(() => {
  record = createInMemoryStore();
  index = createFaultyVectorIndex();
});
afterEach(async () => {
  index.trouble = "none";
  await Promise.all(opened.map((one) => one.close()));
  opened = [];
});

async function open(options: Partial<MemoryOptions> = {}): Promise<Keepsake> {
  const memory = await createMemory({
    record,
    index,
    embedder: hashEmbedder(64),
    indexSearch: { from: 0, timeoutMs: 40, erasureMs: 500 },
    ...options,
  });
  opened.push(memory);
  return memory;
}

const unitIds = async (scope = ANN): Promise<string[]> =>
  (await record.since(scope, 0)).units.map(({ id }) => id).sort();

/** The index holds what the record does, and no more. */
const caughtUp = async (scope = ANN): Promise<void> => {
  const wanted = await unitIds(scope);
  await expect.poll(async () => readIds(index.inner, scope), SOON).toEqual(wanted);
};

const jobOf = async (memory: Keepsake) =>
  (await memory.jobs()).find(({ name }) => name === "following shaky");

describe("an index that is fed from the store", () => {
  it("receives additions, updates and removals", async () => {
    const memory = (await open()).scope({ user: "ann" });
    await memory.remember("I play the cello in an orchestra. I collect old maps.");
    expect(await unitIds()).not.toEqual([]);
    await caughtUp();
    const [first] = (await memory.list()).items;
    await memory.update(first?.id ?? "", { text: "Ann plays the viola." });
    await memory.remember("My sister lives in Ghent.");
    await caughtUp();
    await memory.remove(first?.id ?? "");
    await caughtUp();
  });

  it("receives the metadata for its filters", async () => {
    const memory = (await open()).scope({ user: "ann" });
    await memory.remember("I like sardines.", { session: "monday", at: "2026-02-01T10:00:00Z" });
    await caughtUp();
    const all = await index.inner.nearest(ANN, new Float32Array(64).fill(1 / 8), {
      limit: 10,
      where: { $and: [{ session: "monday" }, { at: Date.parse("2026-02-01T10:00:00Z") }] },
    });
    expect(all.map(({ id }) => id).sort()).toEqual(await unitIds());
  });

  it("is filled with the earlier data of every user", async () => {
    const before = await open({ index: [] });
    await before.scope({ user: "ann" }).remember("I play the cello.");
    await before.scope({ user: "bob" }).remember("I keep bees.");
    await before.close();
    await open();
    await caughtUp(ANN);
    await caughtUp(BOB);
  });

  it("resumes after a restart without repeated puts", async () => {
    const first = await open();
    await first.scope({ user: "ann" }).remember("I play the cello.");
    await caughtUp();
    await first.close();
    index.calls.length = 0;
    const second = await open();
    await expect.poll(async () => (await jobOf(second))?.state, SOON).toBe("scheduled");
    expect(index.calls).not.toContain("put");
    await second.scope({ user: "ann" }).remember("I keep bees.");
    await caughtUp();
  });

  it("delays no write when it is down or hangs, and catches up when it is back", async () => {
    const keepsake = await open();
    const memory = keepsake.scope({ user: "ann" });
    await memory.remember("I play the cello.");
    await caughtUp();
    for (const trouble of ["down", "hung"] as const) {
      index.trouble = trouble;
      const begun = performance.now();
      await memory.remember(`I collect maps of the year ${trouble.length}.`);
      expect(performance.now() - begun).toBeLessThan(1000);
      if (trouble === "down")
        await expect.poll(async () => (await jobOf(keepsake))?.state, SOON).toBe("failing");
      index.trouble = "none";
      if (trouble === "down") await caughtUp();
    }
  });

  it("is filled again when it comes back empty", async () => {
    const memory = (await open()).scope({ user: "ann" });
    await memory.remember("I play the cello.");
    await caughtUp();
    await index.inner.clear();
    index.trouble = "down";
    await memory.remember("I keep bees.");
    await expect.poll(() => index.calls.at(-1), SOON).toBe("put");
    index.trouble = "none";
    await caughtUp();
  });

  it("is filled again for another embedder", async () => {
    const first = await open();
    await first.scope({ user: "ann" }).remember("I play the cello.");
    await caughtUp();
    await first.close();
    const memory = await open({ embedder: hashEmbedder(32) });
    await caughtUp();
    await memory.scope({ user: "ann" }).remember("I keep bees.");
    await caughtUp();
  });

  it("is not shared by two databases: the second one throws an error and leaves it alone", async () => {
    const first = await open();
    await first.scope({ user: "ann" }).remember("I play the cello.");
    await caughtUp();
    const held = await readIds(index.inner, ANN);
    const other = createInMemoryStore();
    const second = await open({ record: other });
    await second.scope({ user: "ann" }).remember("I keep bees.");
    await expect
      .poll(async () => (await jobOf(second))?.problem, SOON)
      .toMatch(/filled from another database/);
    expect(await readIds(index.inner, ANN)).toEqual(held);
  });

  it("is taken over by a rebuild, which reports its progress", async () => {
    const keepsake = await open();
    await keepsake.scope({ user: "ann" }).remember("I play the cello. I keep bees.");
    await keepsake.scope({ user: "bob" }).remember("I collect maps.");
    await caughtUp();
    await index.inner.put(ANN, [makeEntry("stray", new Float32Array(64).fill(1 / 8))]);
    const steps: IndexProgress[] = [];
    for await (const step of keepsake.indexes.rebuild("shaky")) steps.push(step);
    expect(steps.at(-1)).toEqual({
      users: 2,
      of: 2,
      entries: [...(await unitIds(ANN)), ...(await unitIds(BOB))].length,
    });
    await caughtUp(ANN);
    await caughtUp(BOB);
  });

  it("resumes an interrupted rebuild", async () => {
    const first = await open();
    for (const user of ["ann", "bob"]) await first.scope({ user }).remember("I play the cello. I keep bees.");
    await caughtUp(ANN);
    await caughtUp(BOB);
    const stopping = new AbortController();
    await expect(async () => {
      for await (const { entries } of first.indexes.rebuild("shaky", { signal: stopping.signal })) {
        if (entries > 0) stopping.abort(new Error("enough"));
      }
    }).rejects.toThrow("enough");
    await first.close();
    await open();
    await caughtUp(ANN);
    await caughtUp(BOB);
  });

  it("is fed by several processes at once without repeated work", async () => {
    const [one, other] = [await open(), await open()];
    for (let i = 0; i < 5; i += 1) {
      await Promise.all([
        one.scope({ user: "ann" }).remember(`I collect maps of the year ${1900 + i}.`),
        other.scope({ user: "ann" }).remember(`My sister's boat has the number ${i}.`),
        other.scope({ user: "bob" }).remember(`I keep ${i} hives of bees.`),
      ]);
    }
    await one.scope({ user: "ann" }).forget("Forget the boat of my sister.");
    await caughtUp(ANN);
    await caughtUp(BOB);
  });

  it("is not found under another name", async () => {
    const keepsake = await open();
    expect(keepsake.indexes.names).toEqual(["shaky"]);
    expect(() => keepsake.indexes.rebuild("chroma")).toThrow(/no index is called "chroma"/);
    await expect(keepsake.indexes.drift("chroma")).rejects.toMatchObject({ code: "not_found" });
  });
});

describe("an index that differs from the store", () => {
  it("is detected and repaired", async () => {
    const keepsake = await open();
    await keepsake.scope({ user: "ann" }).remember("I play the cello. I keep bees. I collect maps.");
    await caughtUp();
    const ids = await unitIds();
    expect(await keepsake.indexes.drift("shaky")).toEqual({
      name: "shaky",
      users: 1,
      units: ids.length,
      missing: 0,
      stray: 0,
      stale: 0,
      isRepaired: true,
    });
    await index.inner.drop(ANN, ids.slice(0, 1));
    await index.inner.put(ANN, [
      makeEntry("stray", new Float32Array(64).fill(1 / 8)),
      makeEntry(ids[1] ?? "", new Float32Array(64).fill(-1 / 8)),
    ]);
    const found = await keepsake.indexes.drift("shaky");
    expect(found).toMatchObject({ missing: 1, stray: 1, stale: 1, isRepaired: true });
    await caughtUp();
    expect(await keepsake.indexes.drift("shaky")).toMatchObject({ missing: 0, stray: 0, stale: 0 });
    await keepsake.close();
    // The same by a program that has not fed it before.
    await index.inner.drop(ANN, ids.slice(0, 2));
    expect(await (await open()).indexes.drift("shaky")).toMatchObject({ missing: 2, isRepaired: true });
    expect(await readIds(index.inner, ANN)).toEqual(ids);
  });
});

describe("a recall with an index", () => {
  const told = ["I play the cello.", "I keep bees.", "I collect maps.", "My sister lives in Ghent."];
  let keepsake: Keepsake;
  const meter = prometheusMeter();
  const counted = async (line: string): Promise<number> =>
    Number(
      (await meter.text())
        .split("\n")
        .find((one) => one.startsWith(line))
        ?.split(" ")
        .at(-1) ?? 0,
    );
  const found = async (): Promise<string[]> =>
    (await keepsake.scope({ user: "ann" }).recall("Where does my sister live?")).items.map(
      ({ text }) => text,
    );

  beforeEach(async () => {
    keepsake = await open({ meter });
    for (const text of told) await keepsake.scope({ user: "ann" }).remember(text);
    await caughtUp();
  });

  it("asks it, and gives the same result as without it", async () => {
    const withIndex = await found();
    expect(index.calls).toContain("nearest");
    expect(await counted('memory_index_searches_total{index="shaky",outcome="answered"}')).toBeGreaterThan(0);
    const plain = await createMemory({ record, embedder: hashEmbedder(64) });
    opened.push(plain);
    const without = await plain.scope({ user: "ann" }).recall("Where does my sister live?");
    expect(withIndex).toEqual(without.items.map(({ text }) => text));
    expect(withIndex[0]).toContain("Ghent");
  });

  it("uses the local search in time when the index hangs, and leaves it alone for a while", async () => {
    const before = await found();
    index.trouble = "hung";
    const begun = performance.now();
    expect(await found()).toEqual(before);
    expect(performance.now() - begun).toBeLessThan(500);
    const asked = index.calls.length;
    expect(await found()).toEqual(before);
    expect(index.calls.length).toBe(asked);
  });

  it("gives the same result when the index is down", async () => {
    const before = await found();
    index.trouble = "down";
    expect(await found()).toEqual(before);
  });

  it("does not ask an index that is behind", async () => {
    index.trouble = "down";
    await keepsake.scope({ user: "ann" }).remember("My brother lives in Porto.");
    index.calls.length = 0;
    await found();
    expect(index.calls).not.toContain("nearest");
  });

  it("drops a hit that the store does not know, and deletes it from the index", async () => {
    const before = await found();
    const vector = (await hashEmbedder(64).embed(["Where does my sister live?"]))[0] ?? new Float32Array(64);
    await index.inner.put(ANN, [makeEntry("stray", vector)]);
    expect(await found()).toEqual(before);
    await caughtUp();
    expect(await counted('memory_index_strays_total{index="shaky"}')).toBe(1);
  });

  it("gives the same result when the index has lost its data, and has it filled again", async () => {
    const before = await found();
    await index.inner.dropUser(ANN);
    expect(await found()).toEqual(before);
    expect(await counted('memory_index_searches_total{index="shaky",outcome="incomplete"}')).toBe(1);
  });

  it("asks no index for a small memory", async () => {
    const plain = await open({ indexSearch: {} });
    index.calls.length = 0;
    await plain.scope({ user: "ann" }).recall("Where does my sister live?");
    expect(index.calls).not.toContain("nearest");
  });

  it("rejects with the reason of the aborted signal", async () => {
    index.trouble = "hung";
    const stopping = new AbortController();
    const reason = new Error("enough");
    setTimeout(() => stopping.abort(reason), 5);
    await expect(
      keepsake.scope({ user: "ann" }).recall("Where does my sister live?", { signal: stopping.signal }),
    ).rejects.toBe(reason);
  });
});

describe("an erasure", () => {
  const told = "I use Shram and Magnet as productivity tools. I keep bees.";
  const erasedOf = async (keepsake: Keepsake) =>
    (await keepsake.scope({ user: "ann" }).erasures())
      .at(-1)
      ?.verified.find(({ place }) => place.startsWith("index"));
  /** Everything that an index holds of Ann, by how near it is to some words. */
  const nearestTo = async (words: string) => {
    const [vector = new Float32Array(64)] = await hashEmbedder(64).embed([words]);
    return index.inner.nearest(ANN, vector, { limit: 100 });
  };

  it("reaches and verifies the index before its receipt is returned", async () => {
    const keepsake = await open();
    const ann = keepsake.scope({ user: "ann" });
    await ann.remember(told);
    await caughtUp();
    const before = new Set(await readIds(index.inner, ANN));
    const receipt = await ann.forget("Forget that I ever mentioned Magnet.");
    expect(receipt.verified).toContainEqual({ place: "index: shaky", found: 0 });
    expect(receipt.complete).toBe(true);
    const gone = [...before].filter((id) => receipt.ids.includes(id));
    expect(gone.length).toBeGreaterThan(0);
    expect(await index.inner.held(ANN, gone)).toEqual([]);
    await caughtUp();
    // What is left of the message stands there with the words that it has now.
    for (const { id, vector } of (await record.since(ANN, 0)).units) {
      const [hit] = await index.inner.nearest(ANN, vector, { limit: 1 });
      expect({ id, near: (hit?.score ?? 0) > 0.99 }).toEqual({ id, near: true });
    }
    expect((await nearestTo(told))[0]?.score).toBeLessThan(0.99);
  });

  it("is completed when an unavailable index comes back, and is listed as open until then", async () => {
    const keepsake = await open();
    const ann = keepsake.scope({ user: "ann" });
    await ann.remember(told);
    await caughtUp();
    index.trouble = "down";
    const receipt = await ann.forget("Forget that I ever mentioned Magnet.");
    expect(receipt.complete).toBe(false);
    expect(receipt.verified).toContainEqual(
      expect.objectContaining({ place: "index: shaky", why: "not reached" }),
    );
    expect((await keepsake.audit()).broken).toEqual([
      { id: receipt.id, problem: "it was not verified to the end" },
    ]);
    index.trouble = "none";
    await expect.poll(() => erasedOf(keepsake), SOON).toEqual({ place: "index: shaky", found: 0 });
    await caughtUp();
    expect(await index.inner.held(ANN, [...receipt.ids])).toEqual([]);
    expect((await nearestTo(told))[0]?.score).toBeLessThan(0.99);
    const [sealed] = await ann.erasures();
    expect(sealed?.complete).toBe(true);
    expect((await keepsake.audit()).broken).toEqual([]);
  });

  it("does not wait for an index that hangs", async () => {
    const keepsake = await open();
    const ann = keepsake.scope({ user: "ann" });
    await ann.remember(told);
    await caughtUp();
    index.trouble = "hung";
    const begun = performance.now();
    const receipt = await ann.forget("Forget that I ever mentioned Magnet.");
    expect(performance.now() - begun).toBeLessThan(4000);
    expect(receipt.complete).toBe(false);
  });

  it("of everything leaves nothing in the index", async () => {
    const keepsake = await open();
    const ann = keepsake.scope({ user: "ann" });
    await ann.remember(told);
    await keepsake.scope({ user: "bob" }).remember(told);
    await caughtUp(ANN);
    await caughtUp(BOB);
    const receipt = await ann.forget({ everything: true });
    expect(receipt.complete).toBe(true);
    expect(await readIds(index.inner, ANN)).toEqual([]);
    await caughtUp(BOB);
  });
});
