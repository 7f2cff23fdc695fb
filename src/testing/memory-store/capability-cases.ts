import { expect } from "vitest";
import { MAX_RECALL_RECEIPTS } from "../../domain/recall.ts";
import type { Scope } from "../../domain/scope.ts";
import type { MemoryStore, StoredSearchIndex } from "../../ports/memory-store.ts";
import type { MemoryUse } from "../../ports/stores/usage-store.ts";
import {
  BASE_TIME,
  makeChangeSet,
  makeErasureReceipt,
  makeMemory,
  makeMessage,
  makeRecallReceipt,
  makeUnit,
} from "./change-sets.ts";
import { ANN, BOB, type MemoryStoreCases, makeFullChangeSet, requireCapability } from "./store-contents.ts";

/**
 * A saved search index as a caller reads it in parts: the parts since the last `begin`, and the bytes left
 * for the end.
 */
async function readInParts(store: MemoryStore, scope: Scope): Promise<StoredSearchIndex | undefined> {
  let began: { readonly revision: number; readonly size: number } | undefined;
  let taken: number[] = [];
  const saved = await store.searchIndexes.read(scope, {
    begin(revision, size) {
      began = { revision, size };
      taken = [];
    },
    take: (bytes) => void taken.push(...bytes),
  });
  if (!saved) return undefined;
  if (began) expect(began).toEqual({ revision: saved.revision, size: taken.length });
  return { revision: saved.revision, bytes: Uint8Array.from([...taken, ...saved.bytes]) };
}

export const SEARCH_INDEX_CASES: MemoryStoreCases = {
  "returns a saved search index unchanged, to its user only, until an erasure": async (store) => {
    const searchIndex = { revision: 1, bytes: Uint8Array.from([3, 1, 4, 1, 5]) };
    await store.searchIndexes.save(ANN, searchIndex);
    expect(await store.searchIndexes.read(ANN)).toBeUndefined();
    await store.commit(ANN, makeChangeSet({ messages: [makeMessage("m1")] }));
    await store.searchIndexes.save(ANN, searchIndex);
    expect(await store.searchIndexes.read(ANN)).toEqual(searchIndex);
    expect(await readInParts(store, ANN)).toEqual(searchIndex);
    expect(await readInParts(store, BOB)).toBeUndefined();
    expect(await store.searchIndexes.read(BOB)).toBeUndefined();
    expect(await store.revision(ANN)).toBe(1);
    await store.searchIndexes.save(ANN, { revision: 1, bytes: Uint8Array.from([9]) });
    expect((await store.searchIndexes.read(ANN))?.bytes).toEqual(Uint8Array.from([9]));
    await store.commit(ANN, makeChangeSet({ base: 1, messages: [makeMessage("m2")] }));
    expect((await store.searchIndexes.read(ANN))?.revision).toBe(1);
    await store.searchIndexes.save(ANN, { revision: 1, bytes: Uint8Array.from([7]) });
    expect((await store.searchIndexes.read(ANN))?.bytes).toEqual(Uint8Array.from([9]));
    const gone = { messages: [], memories: [], rewrites: [], receipt: makeErasureReceipt("e1") };
    await store.commit(ANN, makeChangeSet({ base: 2, erase: gone }));
    expect(await store.searchIndexes.read(ANN)).toBeUndefined();
  },
};

export const RECALL_RECEIPT_CASES: MemoryStoreCases = {
  "keeps receipts of recalls for their user only, newest first, up to the limit": async (store) => {
    const many = (from: number, count: number) =>
      Array.from({ length: count }, (_, i) => makeRecallReceipt(`recall-${from + i}`));
    await store.recallReceipts.save([{ scope: ANN, receipts: many(0, 1) }]);
    expect(await store.recallReceipts.list(ANN, { limit: 5 })).toEqual([]);
    await store.commit(ANN, makeChangeSet({ messages: [makeMessage("m1")] }));
    await store.recallReceipts.save([{ scope: ANN, receipts: many(0, 3) }]);
    await store.recallReceipts.save([
      { scope: ANN, receipts: [{ ...makeRecallReceipt("recall-0"), used: ["one"] }] },
    ]);
    const receipts = await store.recallReceipts.list(ANN, { limit: 2 });
    expect(receipts).toEqual([
      { ...makeRecallReceipt("recall-0"), used: ["one"] },
      makeRecallReceipt("recall-2"),
    ]);
    expect(await store.recallReceipts.list(ANN, { id: "recall-1", limit: 1 })).toEqual([
      makeRecallReceipt("recall-1"),
    ]);
    expect(await store.recallReceipts.list(BOB, { limit: 5 })).toEqual([]);
    expect(await store.revision(ANN)).toBe(1);
    await store.recallReceipts.save([{ scope: ANN, receipts: many(10, MAX_RECALL_RECEIPTS - 1) }]);
    expect(await store.recallReceipts.list(ANN, { limit: 2 * MAX_RECALL_RECEIPTS })).toHaveLength(
      MAX_RECALL_RECEIPTS,
    );
    expect(await store.recallReceipts.list(ANN, { id: "recall-2", limit: 1 })).toEqual([]);
    expect(await store.recallReceipts.list(ANN, { id: "recall-0", limit: 1 })).toHaveLength(1);
  },

  "deletes the receipts of one user's recalls": async (store) => {
    await store.recallReceipts.clear(ANN);
    for (const scope of [ANN, BOB]) {
      await store.commit(scope, makeChangeSet({ messages: [makeMessage("m1")] }));
      await store.recallReceipts.save([{ scope, receipts: [makeRecallReceipt("recall-1")] }]);
    }
    await store.recallReceipts.clear(ANN);
    expect(await store.recallReceipts.list(ANN, { limit: 5 })).toEqual([]);
    expect(await store.recallReceipts.list(BOB, { limit: 5 })).toHaveLength(1);
    expect(await store.revision(ANN)).toBe(1);
    await store.recallReceipts.save([{ scope: ANN, receipts: [makeRecallReceipt("recall-2")] }]);
    expect(await store.recallReceipts.list(ANN, { limit: 5 })).toHaveLength(1);
  },
};

const EARLIER = "2024-01-01T00:00:00.000Z";
const LATER = "2025-01-01T00:00:00.000Z";

const byId = (one: MemoryUse, other: MemoryUse): number => (one.id < other.id ? -1 : 1);

export const USAGE_CASES: MemoryStoreCases = {
  "adds up the uses of memories, for their user only, without a revision": async (store) => {
    const usage = requireCapability(store, "usage");
    await store.commit(ANN, makeChangeSet({ memories: [makeMemory("a"), makeMemory("b"), makeMemory("c")] }));
    await store.commit(BOB, makeChangeSet({ memories: [makeMemory("a")] }));
    await usage.add([
      {
        scope: ANN,
        uses: [
          { id: "a", count: 2, lastAt: LATER },
          { id: "b", count: 1, lastAt: EARLIER },
        ],
      },
      { scope: BOB, uses: [{ id: "a", count: 7, lastAt: EARLIER }] },
    ]);
    await usage.add([{ scope: ANN, uses: [{ id: "a", count: 3, lastAt: EARLIER }] }]);
    const a = { id: "a", count: 5, lastAt: LATER };
    const b = { id: "b", count: 1, lastAt: EARLIER };
    expect([...(await usage.read(ANN))].sort(byId)).toEqual([a, b]);
    expect(await usage.read(ANN, ["b", "c", "nothing"])).toEqual([b]);
    expect(await usage.read(ANN, [])).toEqual([]);
    expect(await usage.read(BOB)).toEqual([{ id: "a", count: 7, lastAt: EARLIER }]);
    expect(await usage.read({ project: "other", user: "ann" })).toEqual([]);
    expect([await store.revision(ANN), (await store.log(ANN, { limit: 9 })).length]).toEqual([1, 1]);
  },

  "keeps no use of a memory that does not exist or was erased, even if it is stored again": async (store) => {
    const usage = requireCapability(store, "usage");
    const id = `${"a long id ".repeat(200)}Ünï`;
    const use = { scope: ANN, uses: [{ id, count: 1, lastAt: LATER }] };
    await usage.add([use]);
    expect(await usage.read(ANN)).toEqual([]);
    await store.commit(ANN, makeChangeSet({ memories: [makeMemory(id), makeMemory("b")] }));
    await usage.add([use, { scope: ANN, uses: [{ id: "b", count: 1, lastAt: LATER }] }]);
    expect((await usage.read(ANN)).map((one) => one.id).sort()).toEqual([id, "b"]);
    const erase = { messages: [], memories: [id], rewrites: [], receipt: makeErasureReceipt("e1") };
    await store.commit(ANN, makeChangeSet({ base: 1, erase }));
    await usage.add([use]);
    expect((await usage.read(ANN)).map((one) => one.id)).toEqual(["b"]);
    await store.commit(ANN, makeChangeSet({ base: 2, memories: [makeMemory(id)] }));
    expect(await usage.read(ANN, [id])).toEqual([]);
    expect((await store.check()).filter(({ place }) => place === "uses")).toEqual([]);
  },
};

export const STALE_EMBEDDING_CASES: MemoryStoreCases = {
  "finds users and units outside a space with their source texts, and none inside": async (store) => {
    const within = { space: "new/3" };
    const none = { space: "", vector: new Float32Array(0) };
    await store.commit({ project: "q", user: "bob" }, makeFullChangeSet("bob"));
    await store.commit(
      ANN,
      makeChangeSet({
        messages: [makeMessage("m1"), makeMessage("m2")],
        memories: [makeMemory("a"), makeMemory("b"), makeMemory("b", 2)],
        units: [
          makeUnit("m1#0", "passage", "m1"),
          { ...makeUnit("m1#1", "passage", "m1"), ...none },
          { ...makeUnit("m2#0", "passage", "m2"), ...within },
          { ...makeUnit("a", "memory", "a"), ...within },
          makeUnit("b", "memory", "b"),
        ],
      }),
    );
    expect(await store.staleEmbeddings.users("new/3", 10)).toEqual([
      { scope: { project: "q", user: "bob" }, units: 3 },
      { scope: ANN, units: 3 },
    ]);
    expect(await store.staleEmbeddings.users("new/3", 1)).toHaveLength(1);
    expect(await store.staleEmbeddings.users("test/3", 10)).toEqual([{ scope: ANN, units: 3 }]);
    const { revision, units, messages, memories } = await store.staleEmbeddings.units(ANN, "new/3", 10);
    expect(revision).toBe(1);
    expect([...units].sort((one, other) => (one.id < other.id ? -1 : 1))).toEqual(
      [
        makeUnit("b", "memory", "b"),
        makeUnit("m1#0", "passage", "m1"),
        { ...makeUnit("m1#1", "passage", "m1"), ...none },
      ].map(({ vector: _vector, ...rest }) => rest),
    );
    expect(messages.map(({ id, content }) => [id, content])).toEqual([["m1", "Words of m1."]]);
    expect(memories.map(({ id, version }) => [id, version])).toEqual([["b", 2]]);
    expect((await store.staleEmbeddings.units(ANN, "new/3", 2)).units).toHaveLength(2);
    const count = (scope: Scope, space: string) => store.staleEmbeddings.count(scope, space);
    expect(await count(ANN, "new/3")).toEqual({ total: 5, stale: 3 });
    expect(await count(ANN, "test/3")).toEqual({ total: 5, stale: 3 });
    expect(await count({ project: "q", user: "bob" }, "test/3")).toEqual({ total: 3, stale: 0 });
    expect(await count({ project: "q", user: "ann" }, "new/3")).toEqual({ total: 0, stale: 0 });
    expect(await store.staleEmbeddings.units({ project: "q", user: "ann" }, "new/3", 10)).toEqual({
      revision: 0,
      units: [],
      messages: [],
      memories: [],
    });
    await store.commit(
      ANN,
      makeChangeSet({
        base: 1,
        units: [units[0], units[1], units[2]].flatMap((one) =>
          one ? [{ ...one, ...within, vector: Float32Array.of(1, 0, 0) }] : [],
        ),
      }),
    );
    expect(await store.staleEmbeddings.users("new/3", 10)).toEqual([
      { scope: { project: "q", user: "bob" }, units: 3 },
    ]);
    expect((await store.staleEmbeddings.units(ANN, "new/3", 10)).units).toEqual([]);
  },
};

export const BACKUP_NOTE_CASES: MemoryStoreCases = {
  "notes backups in order, the newest under its name, without a change of revision": async (store) => {
    const note = (name: string, bytes: number) => ({ name, at: BASE_TIME, bytes, digest: "d" });
    await store.commit(ANN, makeChangeSet({ messages: [makeMessage("m1")] }));
    expect(await store.backups.list()).toEqual([]);
    await store.backups.save(note("z.db", 1));
    await store.backups.save({ ...note("a.db", 2), until: BASE_TIME });
    await store.backups.save(note("z.db", 3));
    expect(await store.backups.list()).toEqual([note("z.db", 3), { ...note("a.db", 2), until: BASE_TIME }]);
    expect(await store.revision(ANN)).toBe(1);
  },
};

export const MAINTENANCE_CASES: MemoryStoreCases = {
  "counts unverified erasures in the storage condition": async (store) => {
    const maintenance = requireCapability(store, "maintenance");
    const erase = (id: string) => ({
      messages: [],
      memories: [],
      rewrites: [],
      receipt: makeErasureReceipt(id),
    });
    await store.commit(ANN, makeChangeSet({ erase: erase("z") }));
    await store.commit(BOB, makeChangeSet({ erase: erase("b") }));
    expect(await maintenance.condition()).toMatchObject({
      unverified: 2,
      erasing: 0,
      isReadOnly: false,
    });
    await store.erasures.seal(ANN, makeErasureReceipt("z", { complete: true }));
    const { unverified, durability, reducedBy } = await maintenance.condition();
    expect(unverified).toBe(1);
    expect(durability === "reduced").toBe(reducedBy.length > 0);
  },
};
