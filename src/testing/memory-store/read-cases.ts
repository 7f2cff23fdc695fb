import { expect } from "vitest";
import { MAX_RECALL_RECEIPTS } from "../../domain/recall.ts";
import type { Scope } from "../../domain/scope.ts";
import type { MemoryStore, StoredSearchIndex } from "../../ports/memory-store.ts";
import {
  makeChangeSet,
  makeErasureReceipt,
  makeMemory,
  makeMessage,
  makeRecallReceipt,
  makeUnit,
} from "./change-sets.ts";
import {
  ANN,
  BOB,
  EMPTY_DELTA,
  type MemoryStoreCases,
  makeFullChangeSet,
  readContents,
} from "./store-contents.ts";

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

/** Guarantees of reads, and the separation of scopes. */
export const READ_CASES: MemoryStoreCases = {
  "reads a scope that was never written as empty, at revision 0": async (store) => {
    expect(await store.revision(ANN)).toBe(0);
    expect(await store.since(ANN, 0)).toEqual(EMPTY_DELTA);
    expect(await store.versions(ANN)).toEqual([]);
    expect(await store.log(ANN, { limit: 10 })).toEqual([]);
    expect(await store.receipt(ANN, "k")).toBeUndefined();
    expect(await store.erasures.list(ANN)).toEqual([]);
  },

  "returns changes with since, and none at the newest revision": async (store) => {
    await store.commit(
      ANN,
      makeChangeSet({
        messages: [makeMessage("m1", { digest: "pending" })],
        units: [makeUnit("m1#0", "passage", "m1")],
      }),
    );
    await store.commit(ANN, makeChangeSet({ base: 1, messages: [makeMessage("m2")] }));
    await store.commit(
      ANN,
      makeChangeSet({ base: 2, digests: [{ id: "m1", digest: "done" }], dropUnits: ["m1#0", "nobody"] }),
    );
    const delta = await store.since(ANN, 2);
    expect(delta.messages.map(({ id, digest }) => [id, digest])).toEqual([["m1", "done"]]);
    expect(delta.gone).toEqual({ units: ["m1#0"], memories: [] });
    expect((await store.since(ANN, 3)).messages).toEqual([]);
    await store.commit(
      ANN,
      makeChangeSet({ base: 3, units: [makeUnit("m1#0", "passage", "m1", "new terms")] }),
    );
    const last = await store.since(ANN, 2);
    expect(last.gone.units).toEqual([]);
    expect((await store.since(ANN, 0)).gone).toEqual({ units: [], memories: [] });
    expect(last.units[0]).toEqual(makeUnit("m1#0", "passage", "m1", "new terms"));
  },

  "returns everything but units with since without units": async (store) => {
    await store.commit(ANN, makeFullChangeSet("kiwi"));
    const delta = await store.since(ANN, 0);
    expect(await store.since(ANN, 0, { units: false })).toEqual({ ...delta, units: [] });
    expect(delta.units.length).toBeGreaterThan(0);
  },

  "reads messages and memories by id, in the requested order": async (store) => {
    await store.commit(ANN, makeFullChangeSet("kiwi"));
    const { messages, memories } = await store.since(ANN, 0);
    const ids = { messages: ["nobody", "message-kiwi"], memories: ["other-kiwi", "nobody", "memory-kiwi"] };
    expect(await store.read(ANN, ids)).toEqual({
      messages,
      memories: ["other-kiwi", "memory-kiwi"].map((id) => memories.find((one) => one.id === id)),
    });
    expect(await store.read(BOB, ids)).toEqual({ messages: [], memories: [] });
  },

  "reads vectors by unit and space": async (store) => {
    await store.commit(ANN, makeFullChangeSet("kiwi"));
    const { units } = await store.since(ANN, 0);
    const [first] = units;
    const ids = [first?.id ?? "", "nobody"];
    const space = first?.space ?? "";
    expect(await store.vectors(ANN, ids, space)).toEqual([first?.vector, undefined]);
    expect(await store.vectors(ANN, ids, "another space")).toEqual([undefined, undefined]);
    expect(await store.vectors(BOB, ids, space)).toEqual([undefined, undefined]);
  },

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

  "separates scopes, however their names are composed": async (store) => {
    const pairs: Scope[] = [
      { project: "a", user: "b:c" },
      { project: "a:b", user: "c" },
      { project: "a", user: 'b","c' },
      { project: 'a","b', user: "c" },
      { project: "a", user: "B:C" },
    ];
    const marks = ["kiwi", "mango", "guava", "plum", "lychee"];
    for (const [i, scope] of pairs.entries()) {
      await store.commit(scope, makeFullChangeSet(marks[i] ?? ""));
      expect(await store.revision(scope)).toBe(1);
    }
    for (const [i, scope] of pairs.entries()) {
      const contents = JSON.stringify(await readContents(store, scope));
      expect(marks.filter((mark) => contents.includes(mark))).toEqual([marks[i]]);
    }
    const [first, second] = pairs as [Scope, Scope];
    const before = await readContents(store, second);
    await store.commit(
      first,
      makeChangeSet({
        base: 1,
        dropUnits: ["memory-mango"],
        liftTombstones: ["tombstone-mango"],
        erase: { messages: [], memories: ["memory-mango"], rewrites: [], receipt: makeErasureReceipt("e2") },
      }),
    );
    expect(await readContents(store, second)).toEqual(before);
  },

  "lists users by project": async (store) => {
    await store.commit({ project: "p", user: "b" }, makeChangeSet());
    await store.commit({ project: "p", user: "a" }, makeChangeSet());
    await store.commit({ project: "q", user: "c" }, makeChangeSet());
    await store.commit({ project: "p", user: "d" }, makeChangeSet({ base: 7 })).catch(() => undefined);
    expect(await store.users("p")).toEqual(["a", "b"]);
    expect(await store.users("nobody")).toEqual([]);
  },

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

  "returns ids of 64 KB and texts of every script unchanged": async (store) => {
    const id = "ключ👩‍👩‍👧".repeat(2521).slice(0, 25_210);
    const content = 'naïve 漢字 مرحبا 🦄\u2028 "quoted" \\ back\n'.repeat(3000);
    await store.commit(
      ANN,
      makeChangeSet({
        messages: [makeMessage(id, { content })],
        memories: [makeMemory(id, 1, { text: content })],
      }),
    );
    const { messages, memories } = await store.since(ANN, 0);
    expect(messages[0]).toMatchObject({ id, content });
    expect(memories[0]).toMatchObject({ id, text: content });
    expect(await store.versions(ANN, id)).toHaveLength(1);
  },

  "rejects a scope whose name has half a surrogate pair": async (store) => {
    for (const half of ["\ud83e", "\udd8a"]) {
      const scope = { project: "default", user: half };
      await expect(store.commit(scope, makeChangeSet())).rejects.toMatchObject({ code: "invalid_input" });
      await expect(store.since(scope, 0)).rejects.toMatchObject({ code: "invalid_input" });
    }
    expect(await store.users("default")).toEqual([]);
  },

  "passes its own check": async (store) => {
    await store.commit(ANN, makeFullChangeSet("0"));
    expect(await store.check()).toEqual([]);
  },

  "is unavailable after it was closed": async (store) => {
    await store.commit(ANN, makeFullChangeSet("0"));
    await store.close();
    await expect(store.revision(ANN)).rejects.toMatchObject({ code: "unavailable" });
    await expect(store.commit(ANN, makeChangeSet({ base: 1 }))).rejects.toMatchObject({
      code: "unavailable",
    });
    await store.close();
  },
};
