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

/** A kept block as whoever takes it in parts sees it: of what was begun last, and of what is left to be given at the end. */
async function readInParts(record: MemoryStore, scope: Scope): Promise<StoredSearchIndex | undefined> {
  let began: { readonly revision: number; readonly size: number } | undefined;
  let taken: number[] = [];
  const kept = await record.searchIndex(scope, {
    begin(revision, size) {
      began = { revision, size };
      taken = [];
    },
    take: (bytes) => void taken.push(...bytes),
  });
  if (!kept) return undefined;
  if (began) expect(began).toEqual({ revision: kept.revision, size: taken.length });
  return { revision: kept.revision, bytes: Uint8Array.from([...taken, ...kept.bytes]) };
}

/** What the reads promise, and the walls between scopes. */
export const READ_CASES: MemoryStoreCases = {
  "a scope that was never written is empty, at revision 0": async (record) => {
    expect(await record.revision(ANN)).toBe(0);
    expect(await record.since(ANN, 0)).toEqual(EMPTY_DELTA);
    expect(await record.versions(ANN)).toEqual([]);
    expect(await record.log(ANN, { limit: 10 })).toEqual([]);
    expect(await record.receipt(ANN, "k")).toBeUndefined();
    expect(await record.erasures(ANN)).toEqual([]);
  },

  "since gives what is different, and nothing at the newest revision": async (record) => {
    await record.commit(
      ANN,
      makeChangeSet({
        messages: [makeMessage("m1", { digest: "pending" })],
        units: [makeUnit("m1#0", "passage", "m1")],
      }),
    );
    await record.commit(ANN, makeChangeSet({ base: 1, messages: [makeMessage("m2")] }));
    await record.commit(
      ANN,
      makeChangeSet({ base: 2, digests: [{ id: "m1", digest: "done" }], dropUnits: ["m1#0", "nobody"] }),
    );
    const delta = await record.since(ANN, 2);
    expect(delta.messages.map(({ id, digest }) => [id, digest])).toEqual([["m1", "done"]]);
    expect(delta.gone).toEqual({ units: ["m1#0"], memories: [] });
    expect((await record.since(ANN, 3)).messages).toEqual([]);
    await record.commit(
      ANN,
      makeChangeSet({ base: 3, units: [makeUnit("m1#0", "passage", "m1", "new terms")] }),
    );
    const last = await record.since(ANN, 2);
    expect(last.gone.units).toEqual([]);
    expect((await record.since(ANN, 0)).gone).toEqual({ units: [], memories: [] });
    expect(last.units[0]).toEqual(makeUnit("m1#0", "passage", "m1", "new terms"));
  },

  "since without units gives everything else": async (record) => {
    await record.commit(ANN, makeFullChangeSet("kiwi"));
    const whole = await record.since(ANN, 0);
    expect(await record.since(ANN, 0, { units: false })).toEqual({ ...whole, units: [] });
    expect(whole.units.length).toBeGreaterThan(0);
  },

  "messages and memories are read by id, in the order asked for": async (record) => {
    await record.commit(ANN, makeFullChangeSet("kiwi"));
    const { messages, memories } = await record.since(ANN, 0);
    const ids = { messages: ["nobody", "message-kiwi"], memories: ["other-kiwi", "nobody", "memory-kiwi"] };
    expect(await record.read(ANN, ids)).toEqual({
      messages,
      memories: ["other-kiwi", "memory-kiwi"].map((id) => memories.find((one) => one.id === id)),
    });
    expect(await record.read(BOB, ids)).toEqual({ messages: [], memories: [] });
  },

  "vectors are read by unit and space": async (record) => {
    await record.commit(ANN, makeFullChangeSet("kiwi"));
    const { units } = await record.since(ANN, 0);
    const [first] = units;
    const ids = [first?.id ?? "", "nobody"];
    const space = first?.space ?? "";
    expect(await record.vectors(ANN, ids, space)).toEqual([first?.vector, undefined]);
    expect(await record.vectors(ANN, ids, "another space")).toEqual([undefined, undefined]);
    expect(await record.vectors(BOB, ids, space)).toEqual([undefined, undefined]);
  },

  "a block is kept as it came, for its user alone, until something is erased": async (record) => {
    const block = { revision: 1, bytes: Uint8Array.from([3, 1, 4, 1, 5]) };
    await record.saveSearchIndex(ANN, block);
    expect(await record.searchIndex(ANN)).toBeUndefined();
    await record.commit(ANN, makeChangeSet({ messages: [makeMessage("m1")] }));
    await record.saveSearchIndex(ANN, block);
    expect(await record.searchIndex(ANN)).toEqual(block);
    expect(await readInParts(record, ANN)).toEqual(block);
    expect(await readInParts(record, BOB)).toBeUndefined();
    expect(await record.searchIndex(BOB)).toBeUndefined();
    expect(await record.revision(ANN)).toBe(1);
    await record.saveSearchIndex(ANN, { revision: 1, bytes: Uint8Array.from([9]) });
    expect((await record.searchIndex(ANN))?.bytes).toEqual(Uint8Array.from([9]));
    await record.commit(ANN, makeChangeSet({ base: 1, messages: [makeMessage("m2")] }));
    expect((await record.searchIndex(ANN))?.revision).toBe(1);
    await record.saveSearchIndex(ANN, { revision: 1, bytes: Uint8Array.from([7]) });
    expect((await record.searchIndex(ANN))?.bytes).toEqual(Uint8Array.from([9]));
    const gone = { messages: [], memories: [], rewrites: [], receipt: makeErasureReceipt("e1") };
    await record.commit(ANN, makeChangeSet({ base: 2, erase: gone }));
    expect(await record.searchIndex(ANN)).toBeUndefined();
  },

  "receipts of recalls are kept for their user alone, the newest first, and no more than there may be":
    async (record) => {
      const many = (from: number, count: number) =>
        Array.from({ length: count }, (_, i) => makeRecallReceipt(`recall-${from + i}`));
      await record.saveRecallReceipts([{ scope: ANN, receipts: many(0, 1) }]);
      expect(await record.recallReceipts(ANN, { limit: 5 })).toEqual([]);
      await record.commit(ANN, makeChangeSet({ messages: [makeMessage("m1")] }));
      await record.saveRecallReceipts([{ scope: ANN, receipts: many(0, 3) }]);
      await record.saveRecallReceipts([
        { scope: ANN, receipts: [{ ...makeRecallReceipt("recall-0"), used: ["one"] }] },
      ]);
      const kept = await record.recallReceipts(ANN, { limit: 2 });
      expect(kept).toEqual([
        { ...makeRecallReceipt("recall-0"), used: ["one"] },
        makeRecallReceipt("recall-2"),
      ]);
      expect(await record.recallReceipts(ANN, { id: "recall-1", limit: 1 })).toEqual([
        makeRecallReceipt("recall-1"),
      ]);
      expect(await record.recallReceipts(BOB, { limit: 5 })).toEqual([]);
      expect(await record.revision(ANN)).toBe(1);
      await record.saveRecallReceipts([{ scope: ANN, receipts: many(10, MAX_RECALL_RECEIPTS - 1) }]);
      expect(await record.recallReceipts(ANN, { limit: 2 * MAX_RECALL_RECEIPTS })).toHaveLength(
        MAX_RECALL_RECEIPTS,
      );
      expect(await record.recallReceipts(ANN, { id: "recall-2", limit: 1 })).toEqual([]);
      expect(await record.recallReceipts(ANN, { id: "recall-0", limit: 1 })).toHaveLength(1);
    },

  "a scope cannot see or change what is in another, however its names are put together": async (record) => {
    const pairs: Scope[] = [
      { project: "a", user: "b:c" },
      { project: "a:b", user: "c" },
      { project: "a", user: 'b","c' },
      { project: 'a","b', user: "c" },
      { project: "a", user: "B:C" },
    ];
    const marks = ["kiwi", "mango", "guava", "plum", "lychee"];
    for (const [i, scope] of pairs.entries()) {
      await record.commit(scope, makeFullChangeSet(marks[i] ?? ""));
      expect(await record.revision(scope)).toBe(1);
    }
    for (const [i, scope] of pairs.entries()) {
      const held = JSON.stringify(await readContents(record, scope));
      expect(marks.filter((mark) => held.includes(mark))).toEqual([marks[i]]);
    }
    const [first, second] = pairs as [Scope, Scope];
    const before = await readContents(record, second);
    await record.commit(
      first,
      makeChangeSet({
        base: 1,
        dropUnits: ["memory-mango"],
        liftTombstones: ["tombstone-mango"],
        erase: { messages: [], memories: ["memory-mango"], rewrites: [], receipt: makeErasureReceipt("e2") },
      }),
    );
    expect(await readContents(record, second)).toEqual(before);
  },

  "users are listed by project": async (record) => {
    await record.commit({ project: "p", user: "b" }, makeChangeSet());
    await record.commit({ project: "p", user: "a" }, makeChangeSet());
    await record.commit({ project: "q", user: "c" }, makeChangeSet());
    await record.commit({ project: "p", user: "d" }, makeChangeSet({ base: 7 })).catch(() => undefined);
    expect(await record.users("p")).toEqual(["a", "b"]);
    expect(await record.users("nobody")).toEqual([]);
  },

  "users and units outside a space are found with what they were made of, and those inside are not": async (
    record,
  ) => {
    const within = { space: "new/3" };
    const none = { space: "", vector: new Float32Array(0) };
    await record.commit({ project: "q", user: "bob" }, makeFullChangeSet("bob"));
    await record.commit(
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
    expect(await record.usersWithStaleEmbeddings("new/3", 10)).toEqual([
      { scope: { project: "q", user: "bob" }, units: 3 },
      { scope: ANN, units: 3 },
    ]);
    expect(await record.usersWithStaleEmbeddings("new/3", 1)).toHaveLength(1);
    expect(await record.usersWithStaleEmbeddings("test/3", 10)).toEqual([{ scope: ANN, units: 3 }]);
    const { revision, units, messages, memories } = await record.unitsWithStaleEmbeddings(ANN, "new/3", 10);
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
    expect((await record.unitsWithStaleEmbeddings(ANN, "new/3", 2)).units).toHaveLength(2);
    expect(await record.unitsWithStaleEmbeddings({ project: "q", user: "ann" }, "new/3", 10)).toEqual({
      revision: 0,
      units: [],
      messages: [],
      memories: [],
    });
    await record.commit(
      ANN,
      makeChangeSet({
        base: 1,
        units: [units[0], units[1], units[2]].flatMap((one) =>
          one ? [{ ...one, ...within, vector: Float32Array.of(1, 0, 0) }] : [],
        ),
      }),
    );
    expect(await record.usersWithStaleEmbeddings("new/3", 10)).toEqual([
      { scope: { project: "q", user: "bob" }, units: 3 },
    ]);
    expect((await record.unitsWithStaleEmbeddings(ANN, "new/3", 10)).units).toEqual([]);
  },

  "ids of 64 KB and texts of every script come back as they were": async (record) => {
    const id = "ключ👩‍👩‍👧".repeat(2521).slice(0, 25_210);
    const content = 'naïve 漢字 مرحبا 🦄\u2028 "quoted" \\ back\n'.repeat(3000);
    await record.commit(
      ANN,
      makeChangeSet({
        messages: [makeMessage(id, { content })],
        memories: [makeMemory(id, 1, { text: content })],
      }),
    );
    const { messages, memories } = await record.since(ANN, 0);
    expect(messages[0]).toMatchObject({ id, content });
    expect(memories[0]).toMatchObject({ id, text: content });
    expect(await record.versions(ANN, id)).toHaveLength(1);
  },

  "a scope whose name is half a character is refused, and never taken for another": async (record) => {
    for (const half of ["\ud83e", "\udd8a"]) {
      const scope = { project: "default", user: half };
      await expect(record.commit(scope, makeChangeSet())).rejects.toMatchObject({ code: "invalid_input" });
      await expect(record.since(scope, 0)).rejects.toMatchObject({ code: "invalid_input" });
    }
    expect(await record.users("default")).toEqual([]);
  },

  "its own check finds nothing wrong": async (record) => {
    await record.commit(ANN, makeFullChangeSet("0"));
    expect(await record.check()).toEqual([]);
  },

  "a closed record is unavailable": async (record) => {
    await record.commit(ANN, makeFullChangeSet("0"));
    await record.close();
    await expect(record.revision(ANN)).rejects.toMatchObject({ code: "unavailable" });
    await expect(record.commit(ANN, makeChangeSet({ base: 1 }))).rejects.toMatchObject({
      code: "unavailable",
    });
    await record.close();
  },
};
