import fc from "fast-check";
import { expect, it } from "vitest";
import { createInMemoryStore } from "../../adapters/memory/index.ts";
import type { Scope } from "../../domain/scope.ts";
import { englishPhrases as phrases } from "../../language/en/phrases.ts";
import type { Delta, MemoryStore } from "../../ports/memory-store.ts";
import { makeChangeSet, makeMemory, makeMessage, makeUnit } from "../../testing/memory-store/change-sets.ts";
import { fitChanges, type HistoryStep, historySteps } from "../../testing/memory-store/random-histories.ts";
import {
  applyIndexDelta,
  createSearchIndex,
  isPassage,
  passageIdsOf,
  releaseIndex,
  type SearchIndex,
  scrubIndex,
  unitIdAt,
} from "./search-index.ts";
import { createIndexReader, deserializeIndex, serializeIndex } from "./serialization.ts";

const SPACE = { fingerprint: "test/3", dimensions: 3 };
const ANN: Scope = { project: "default", user: "ann" };
const QUERY = Float32Array.from([0.6, 0.8, 0]);

/** What an index says of each unit, by id; slots and rows may differ between equal indexes. */
function told(searchIndex: SearchIndex): Map<string, object> {
  const { units, memories, turns, words, vectors } = searchIndex;
  const products = new Float32Array(units.count);
  vectors.dot(QUERY, units.count, products);
  const all = new Map<string, object>();
  for (let slot = 0; slot < units.count; slot += 1) {
    if (!words.isAlive(slot)) continue;
    const row = units.columns.row[slot] as number;
    const turn = units.columns.turn[slot] as number;
    all.set(unitIdAt(searchIndex, slot), {
      isPassage: isPassage(searchIndex, slot),
      message: turns.ids.at(turn),
      span: row < 0 ? [units.columns.start[slot], units.columns.end[slot]] : [],
      flags: turn < 0 ? undefined : turns.columns.flags[turn],
      key: units.columns.key[slot],
      length: words.lengths[slot],
      product: Math.round((products[slot] as number) * 1e5),
      memory: row < 0 ? undefined : [memories.columns.status[row], memories.columns.evidence[row]],
    });
  }
  return all;
}

/** Units of what is there alone, as the engine writes them. */
function grounded(drawn: HistoryStep["changes"], held: Delta): HistoryStep["changes"] {
  const messages = [...held.messages, ...(drawn.messages ?? [])].map(({ id }) => id);
  const erased = drawn.erase?.memories ?? [];
  const memories = [...held.memories, ...(drawn.memories ?? [])]
    .map(({ id }) => id)
    .filter((id) => !erased.includes(id));
  const units = (drawn.units ?? []).filter(({ type, owner }) =>
    (type === "memory" ? memories : messages).includes(owner),
  );
  return { ...drawn, units };
}

/** Writes a step of a history, where it can be; gives what was to be written. */
async function lived(
  record: MemoryStore,
  { changes: drawn }: HistoryStep,
  as = (one: HistoryStep["changes"]): HistoryStep["changes"] => one,
): Promise<HistoryStep["changes"]> {
  const before = await record.since(ANN, 0);
  const written = as(grounded(fitChanges(drawn, before), before));
  await record
    .commit(ANN, makeChangeSet({ ...written, base: before.revision }))
    .catch((error: { code?: string }) => expect(error.code).toBe("conflict"));
  return written;
}

/** As a record that is far away gives them, each part in memory that serves again for the next. */
function inParts(bytes: Uint8Array, length: number): SearchIndex | undefined {
  const parts = createIndexReader(SPACE);
  const part = new Uint8Array(length);
  parts.begin(1, 7);
  parts.take(part);
  // Kept anew meanwhile, it comes from its beginning.
  parts.begin(1, bytes.length);
  for (let at = 0; at < bytes.length; at += length) {
    const next = bytes.subarray(at, at + length);
    part.set(next);
    parts.take(part.subarray(0, next.length));
  }
  return parts.index();
}

it("gives the same results when updated step by step, built at once, or loaded from bytes", async () => {
  await fc.assert(
    fc.asyncProperty(historySteps, async (history) => {
      const record = createInMemoryStore();
      const following = createSearchIndex(SPACE);
      for (const step of history) {
        await lived(record, step);
        const delta = await record.since(ANN, following.revision);
        applyIndexDelta(following, delta, phrases);
        // Taken in twice, it changes nothing.
        applyIndexDelta(following, delta, phrases);
      }
      const atOnce = createSearchIndex(SPACE);
      applyIndexDelta(atOnce, await record.since(ANN, 0), phrases);
      expect(told(following)).toEqual(told(atOnce));
      expect(following.words.size).toBe(told(atOnce).size);
      const packed = await serializeIndex(following);
      if (!packed) return;
      for (const length of [packed.length, 1 + (packed.length % 97)]) {
        const taken = inParts(packed, length);
        expect(taken && told(taken)).toEqual(told(following));
        expect(taken?.revision).toBe(following.revision);
      }
    }),
  );
});

/** The same memories, each about somebody of its own. */
function named({ memories = [], ...drawn }: HistoryStep["changes"]): HistoryStep["changes"] {
  const claim = { relation: "like", value: "tea" };
  return {
    ...drawn,
    memories: memories.map((one) => ({
      ...one,
      session: `of ${one.id}`,
      claim: { ...claim, subject: `Friend ${one.id} ${one.version % 2}` },
    })),
  };
}

/** All content of an index, without positions. */
function held(searchIndex: SearchIndex, said: ReadonlySet<string>): object {
  const { names, memoryIds, memories, units, words, relations, speakers, subjects, newest } = searchIndex;
  const namesOf = (numbers: Iterable<number>): unknown[] =>
    [...numbers].map((number) => names.all[number]).sort();
  const terms = [...said].filter((term) => words.postings(term).length > 0).sort();
  const { hashes, counts, lengths } = words.pack(units.count);
  const some = (column: ArrayLike<number>, count: number): number[] =>
    Array.from({ length: count }, (_, i) => column[i] as number)
      .filter((number) => number > 0)
      .sort((one, other) => one - other);
  return {
    names: names.all.filter((name) => name !== "").sort(),
    speakers: namesOf(speakers),
    subjects: namesOf(subjects),
    relations: namesOf([...relations].flatMap(([relation, rows]) => rows.map(() => relation))),
    ids: memoryIds
      .all()
      .filter((id) => id !== "")
      .sort(),
    terms,
    hashes: [...hashes],
    counts: some(counts, counts.length),
    lengths: some(lengths, lengths.length),
    keys: some(units.columns.key, units.count),
    spans: [units.columns.start, units.columns.end].map((column) => some(column, units.count)),
    times: [memories.columns.at, memories.columns.validFrom].map((column) => some(column, memories.count)),
    newest,
  };
}

it("gives the same results after scrubbing or packing, and contains the same as an index that never had the deleted data", async () => {
  let gone = 0;
  await fc.assert(
    fc.asyncProperty(historySteps, async (history) => {
      const record = createInMemoryStore();
      const [following, packing] = [createSearchIndex(SPACE), createSearchIndex(SPACE)];
      const said = new Set<string>();
      for (const step of history) {
        const { units = [] } = await lived(record, step, named);
        for (const term of units.flatMap(({ terms }) => terms.split(" "))) said.add(term);
        const delta = await record.since(ANN, following.revision);
        for (const searchIndex of [following, packing]) applyIndexDelta(searchIndex, delta, phrases);
      }
      gone += following.deadSlots.length;
      const atOnce = createSearchIndex(SPACE);
      applyIndexDelta(atOnce, await record.since(ANN, 0), phrases);
      scrubIndex(following);
      expect(told(following)).toEqual(told(atOnce));
      expect(held(following, said)).toEqual(held(atOnce, said));
      const taken = deserializeIndex((await serializeIndex(packing)) ?? new Uint8Array(), SPACE);
      if (taken) {
        expect(told(taken)).toEqual(told(atOnce));
        expect(held(taken, said)).toEqual(held(atOnce, said));
      }
      // And goes on following.
      await record.commit(
        ANN,
        makeChangeSet({ base: following.revision, memories: [makeMemory("new")], units: [] }),
      );
      const delta = await record.since(ANN, following.revision);
      for (const searchIndex of [following, atOnce]) applyIndexDelta(searchIndex, delta, phrases);
      expect(held(following, said)).toEqual(held(atOnce, said));
    }),
  );
  expect(gone).toBeGreaterThan(0);
});

it("can be updated after it is loaded from bytes", async () => {
  const record = createInMemoryStore();
  const first = createSearchIndex(SPACE);
  await record.commit(
    ANN,
    makeChangeSet({ messages: [makeMessage("m1")], units: [makeUnit("m1#0", "passage", "m1")] }),
  );
  applyIndexDelta(first, await record.since(ANN, 0), phrases);
  const taken = deserializeIndex((await serializeIndex(first)) ?? new Uint8Array(), SPACE);
  if (!taken) throw new Error("the search index was not loaded");
  await record.commit(
    ANN,
    makeChangeSet({
      base: 1,
      messages: [makeMessage("m2")],
      units: [makeUnit("m2#0", "passage", "m2")],
      dropUnits: ["m1#0"],
    }),
  );
  applyIndexDelta(taken, await record.since(ANN, 1), phrases);
  expect([...told(taken).keys()]).toEqual(["m2#0"]);
  expect(passageIdsOf(taken, "m2")).toEqual(["m2#0"]);
  expect(passageIdsOf(taken, "m1")).toEqual([]);
  releaseIndex(taken);
  expect(taken.isReleased).toBe(true);
});

it.each([
  ["nothing", new Uint8Array(0)],
  ["another file", new Uint8Array(Buffer.from("SQLite format 3".repeat(20)))],
])("does not load an index of %s", (_what, bytes) => {
  expect(deserializeIndex(bytes, SPACE)).toBeUndefined();
});

async function ofOneMessage(): Promise<{ searchIndex: SearchIndex; packed: Uint8Array }> {
  const record = createInMemoryStore();
  const searchIndex = createSearchIndex(SPACE);
  await record.commit(
    ANN,
    makeChangeSet({ messages: [makeMessage("m1")], units: [makeUnit("m1#0", "passage", "m1")] }),
  );
  applyIndexDelta(searchIndex, await record.since(ANN, 0), phrases);
  return { searchIndex, packed: (await serializeIndex(searchIndex)) ?? new Uint8Array() };
}

it("does not load an index that is cut off or has another space", async () => {
  const { packed } = await ofOneMessage();
  for (let length = 0; length < packed.length; length += 1) {
    expect(deserializeIndex(packed.subarray(0, length), SPACE)).toBeUndefined();
  }
  expect(deserializeIndex(Buffer.concat([packed, Buffer.alloc(8)]), SPACE)).toBeUndefined();
  expect(deserializeIndex(packed, { ...SPACE, fingerprint: "other/3" })).toBeUndefined();
});

it("gives nothing for damaged bytes, and reads no memory of other users", async () => {
  const { searchIndex, packed } = await ofOneMessage();
  const other = inParts(packed, packed.length);
  fc.assert(
    fc.property(fc.nat(packed.length - 1), fc.integer({ min: 1, max: 255 }), (at, by) => {
      const damaged = packed.slice();
      damaged[at] = (damaged[at] as number) ^ by;
      const taken = deserializeIndex(damaged, SPACE);
      if (taken) releaseIndex(taken);
    }),
  );
  expect(other && told(other)).toEqual(told(searchIndex));
});
