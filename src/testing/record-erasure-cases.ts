import { expect } from "vitest";
import {
  BASE_TIME,
  makeChangeSet,
  makeErasureReceipt,
  makeMemory,
  makeMessage,
  makeTrace,
  makeUnit,
} from "./change-sets.ts";
import { ANN, BOB, type MemoryStoreCases, readContents } from "./record-dump.ts";

/** What an erasure promises. */
export const ERASURE_CASES: MemoryStoreCases = {
  "an erasure takes memories with all versions, units and links, and the words of messages; the log stays":
    async (record) => {
      const first = makeChangeSet({
        messages: [
          makeMessage("m1", {
            content: "zebra and lion",
            metadata: { tag: "zebra" },
            parts: [{ type: "text", text: "zebra and lion" }],
          }),
        ],
        memories: [
          makeMemory("a", 1, { text: "zebra" }),
          makeMemory("a", 2, { text: "zebras" }),
          makeMemory("b", 1, { text: "lion" }),
        ],
        units: [
          makeUnit("a", "memory", "a", "zebra"),
          makeUnit("m1#0", "passage", "m1", "zebra lion"),
          makeUnit("b", "memory", "b"),
        ],
        links: [{ from: "b", type: "extends", to: "a", strength: 1 }],
      });
      await record.commit(ANN, first);
      const log = await record.log(ANN, { limit: 10 });
      await record.commit(
        ANN,
        makeChangeSet({
          base: 1,
          cause: "forget",
          dropUnits: ["m1#0"],
          units: [makeUnit("m1#0", "passage", "m1", "lion")],
          erase: {
            messages: [{ id: "m1", content: "lion", keepMetadata: false }],
            memories: ["a"],
            rewrites: [
              makeMemory("b", 1, {
                text: "lion",
                sources: [{ message: "m1", start: 0, end: 4, quote: "lion" }],
                revision: 1,
              }),
            ],
            receipt: makeErasureReceipt("e1"),
          },
        }),
      );
      const left = await readContents(record, ANN);
      expect(JSON.stringify(left)).not.toContain("zebra");
      expect(left.all.links).toEqual([]);
      expect(left.all.memories.map(({ id, sources }) => [id, sources.length])).toEqual([["b", 1]]);
      expect((await record.since(ANN, 1)).gone.memories).toEqual(["a"]);
      expect((await record.since(ANN, 1)).memories.map(({ id }) => id)).toEqual(["b"]);
      expect((await record.log(ANN, { limit: 10 })).slice(1)).toEqual(log);
      expect((await record.log(ANN, { limit: 1 }))[0]?.erased).toEqual(["m1", "a"]);
      expect((await record.scrub(ANN, ["zebra"])).every(({ found }) => found === 0)).toBe(true);
      expect((await record.scrub(ANN, ["LION"])).some(({ found }) => found === 1)).toBe(true);
    },

  "receipts of erasures come in the order in which they were made, and can be sealed once more": async (
    record,
  ) => {
    const erase = (id: string) => ({
      messages: [],
      memories: [],
      rewrites: [],
      receipt: makeErasureReceipt(id),
    });
    await record.commit(ANN, makeChangeSet({ erase: erase("z") }));
    await record.commit(BOB, makeChangeSet({ erase: erase("b") }));
    await record.commit(ANN, makeChangeSet({ base: 1, erase: erase("a") }));
    await record.seal(ANN, makeErasureReceipt("z", { complete: true }));
    expect((await record.erasures()).map(({ id }) => id)).toEqual(["z", "b", "a"]);
    expect((await record.erasures(ANN)).map(({ id, complete }) => [id, complete])).toEqual([
      ["z", true],
      ["a", false],
    ]);
    await expect(record.seal(ANN, makeErasureReceipt("b"))).rejects.toMatchObject({ code: "not_found" });
  },

  "the condition of the storage, where one is told, counts erasures whose check has not come to its end":
    async (record) => {
      if (!record.condition) return;
      const erase = (id: string) => ({
        messages: [],
        memories: [],
        rewrites: [],
        receipt: makeErasureReceipt(id),
      });
      await record.commit(ANN, makeChangeSet({ erase: erase("z") }));
      await record.commit(BOB, makeChangeSet({ erase: erase("b") }));
      expect(await record.condition()).toMatchObject({ unverified: 2, erasing: 0, isReadOnly: false });
      await record.seal(ANN, makeErasureReceipt("z", { complete: true }));
      const { unverified, durability, reducedBy } = await record.condition();
      expect(unverified).toBe(1);
      expect(durability === "reduced").toBe(reducedBy.length > 0);
    },

  "what erasures took comes by ids and places in the order in which they were made, and is no more changed":
    async (record) => {
      const erase = (id: string, user: string) => ({
        messages: [],
        memories: [],
        rewrites: [],
        receipt: makeErasureReceipt(id),
        trace: makeTrace(id, user),
      });
      await record.commit(ANN, makeChangeSet({ erase: erase("z", "ann") }));
      await record.commit(BOB, makeChangeSet({ erase: erase("b", "bob") }));
      const { trace: _none, ...bare } = erase("old", "ann");
      await record.commit(ANN, makeChangeSet({ base: 1, erase: bare }));
      await record.commit(ANN, makeChangeSet({ base: 2, erase: erase("a", "ann") }));
      await record.seal(ANN, makeErasureReceipt("z", { complete: true }));
      expect(await record.traces()).toEqual([
        makeTrace("z", "ann"),
        makeTrace("b", "bob"),
        makeTrace("a", "ann"),
      ]);
      expect(await record.traces(BOB)).toEqual([makeTrace("b", "bob")]);
      const mark = { project: "default", user: "ann", hasTrace: true, isVerified: false, isComplete: false };
      expect(await record.erasureSummaries()).toEqual([
        { ...mark, receipt: "z", isComplete: true },
        { ...mark, receipt: "b", user: "bob" },
        { ...mark, receipt: "old", hasTrace: false },
        { ...mark, receipt: "a" },
      ]);
      const again = { verified: [{ place: "x", found: 1 }], replays: "z" };
      await record.seal(ANN, makeErasureReceipt("a", again));
      expect((await record.erasureSummaries()).at(-1)).toEqual({
        ...mark,
        receipt: "a",
        replays: "z",
        isVerified: true,
      });
      await expect(
        record.commit(ANN, makeChangeSet({ base: 1, erase: erase("c", "ann") })),
      ).rejects.toThrow();
      expect(await record.traces()).toHaveLength(3);
    },

  "what hangs on memories is counted in its own scope, each thing once": async (record) => {
    const receipt = (key: string, ...ids: string[]) => ({
      key,
      body: "b",
      messages: [],
      memories: ids.map((id) => ({ id, action: "added" as const, version: 1 })),
      pending: 0,
    });
    const memories = ["a", "b", "c"].map((id) => makeMemory(id));
    const link = (from: string, to: string) => ({ from, type: "extends" as const, to, strength: 1 });
    for (const scope of [ANN, BOB]) {
      await record.commit(
        scope,
        makeChangeSet({
          memories,
          links: [link("a", "b"), link("b", "c")],
          receipt: receipt("k1", "a", "b"),
        }),
      );
      await record.commit(scope, makeChangeSet({ base: 1, receipt: receipt("k2", "c") }));
    }
    await record.saveSearchIndex(ANN, { revision: 2, bytes: Uint8Array.of(1) });
    expect(await record.countDependents(ANN, ["a", "b"])).toEqual({ links: 2, blocks: 1, answers: 1 });
    expect(await record.countDependents(BOB, ["a"])).toEqual({ links: 1, blocks: 0, answers: 1 });
    expect(await record.countDependents(ANN, ["nobody"])).toEqual({ links: 0, blocks: 1, answers: 0 });
    expect(await record.countDependents({ project: "default", user: "nobody" }, ["a"])).toEqual({
      links: 0,
      blocks: 0,
      answers: 0,
    });
  },

  "a record bears a name of its own, which no commit changes": async (record) => {
    const name = await record.identity();
    expect(name).toMatch(/^[0-9a-f]{32}$/);
    await record.commit(ANN, makeChangeSet({ messages: [makeMessage("m1")] }));
    expect(await record.identity()).toBe(name);
  },

  "copies are noted in order, the newest under its name, and change no revision": async (record) => {
    const note = (name: string, bytes: number) => ({ name, at: BASE_TIME, bytes, digest: "d" });
    await record.commit(ANN, makeChangeSet({ messages: [makeMessage("m1")] }));
    expect(await record.backups()).toEqual([]);
    await record.saveBackupNote(note("z.db", 1));
    await record.saveBackupNote({ ...note("a.db", 2), until: BASE_TIME });
    await record.saveBackupNote(note("z.db", 3));
    expect(await record.backups()).toEqual([note("z.db", 3), { ...note("a.db", 2), until: BASE_TIME }]);
    expect(await record.revision(ANN)).toBe(1);
  },
};
