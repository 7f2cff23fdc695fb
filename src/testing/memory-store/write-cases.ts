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
import { ANN, BOB, type MemoryStoreCases, readContents } from "./store-contents.ts";

/** What `commit` promises. */
export const WRITE_CASES: MemoryStoreCases = {
  "each commit raises the revision by one, and the log names what it did by id, newest first": async (
    record,
  ) => {
    expect(await record.commit(ANN, makeChangeSet({ messages: [makeMessage("m1")] }))).toBe(1);
    const second = makeChangeSet({ base: 1, cause: "undo", undoes: 1, memories: [makeMemory("a")] });
    expect(await record.commit(ANN, second)).toBe(2);
    expect(await record.revision(ANN)).toBe(2);
    expect(await record.log(ANN, { limit: 10 })).toEqual([
      {
        revision: 2,
        at: BASE_TIME,
        cause: "undo",
        undoes: 1,
        messages: [],
        memories: [{ id: "a", version: 1, action: "added" }],
        erased: [],
      },
      { revision: 1, at: BASE_TIME, cause: "remember", messages: ["m1"], memories: [], erased: [] },
    ]);
    expect((await record.log(ANN, { limit: 1, before: 2 })).map(({ revision }) => revision)).toEqual([1]);
  },

  "a change-set thought out on another revision is refused and changes nothing": async (record) => {
    await record.commit(ANN, makeChangeSet({ messages: [makeMessage("m1")] }));
    const before = await readContents(record, ANN);
    for (const base of [0, 2]) {
      await expect(
        record.commit(ANN, makeChangeSet({ base, messages: [makeMessage("m2")] })),
      ).rejects.toMatchObject({
        code: "conflict",
      });
    }
    expect(await readContents(record, ANN)).toEqual(before);
  },

  "a change-set is all or nothing": async (record) => {
    await record.commit(ANN, makeChangeSet({ messages: [makeMessage("m1")], memories: [makeMemory("a")] }));
    const before = await readContents(record, ANN);
    const wrong = [
      makeChangeSet({
        base: 1,
        memories: [makeMemory("b")],
        messages: [makeMessage("m2"), makeMessage("m1")],
      }),
      makeChangeSet({ base: 1, messages: [makeMessage("m2"), makeMessage("m2")] }),
      makeChangeSet({
        base: 1,
        messages: [makeMessage("m2")],
        memories: [makeMemory("b"), makeMemory("a", 3)],
      }),
      makeChangeSet({
        base: 1,
        tombstones: [{ hash: "t", of: "claim", at: BASE_TIME }],
        memories: [makeMemory("a", 1)],
      }),
      makeChangeSet({ base: 1, messages: [makeMessage("m2")], digests: [{ id: "nobody", digest: "done" }] }),
      makeChangeSet({
        base: 1,
        messages: [makeMessage("m2")],
        links: [{ from: "a", type: "extends", to: "nobody", strength: 1 }],
      }),
    ];
    for (const one of wrong)
      await expect(record.commit(ANN, one)).rejects.toMatchObject({ code: "conflict" });
    expect(await readContents(record, ANN)).toEqual(before);
  },

  "messages get their turns in order, over several commits": async (record) => {
    await record.commit(ANN, makeChangeSet({ messages: [makeMessage("z"), makeMessage("a")] }));
    await record.commit(ANN, makeChangeSet({ base: 1, messages: [makeMessage("m")] }));
    const { messages } = await record.since(ANN, 0);
    expect(messages.map(({ id, turn }) => [id, turn])).toEqual([
      ["z", 1],
      ["a", 2],
      ["m", 3],
    ]);
  },

  "versions of a memory follow each other, several in one change-set too, and the newest is its head": async (
    record,
  ) => {
    await record.commit(
      ANN,
      makeChangeSet({ memories: [makeMemory("a", 1), makeMemory("b", 1), makeMemory("a", 2)] }),
    );
    await record.commit(ANN, makeChangeSet({ base: 1, memories: [makeMemory("a", 3)] }));
    expect((await record.versions(ANN, "a")).map(({ version, revision }) => [version, revision])).toEqual([
      [1, 1],
      [2, 1],
      [3, 2],
    ]);
    expect((await record.since(ANN, 0)).memories.map(({ id, version }) => [id, version])).toEqual([
      ["a", 3],
      ["b", 1],
    ]);
    expect((await record.since(ANN, 1)).memories.map(({ id }) => id)).toEqual(["a"]);
  },

  "tombstones stand until they are lifted": async (record) => {
    await record.commit(
      ANN,
      makeChangeSet({
        tombstones: [
          { hash: "b", of: "words", at: BASE_TIME },
          { hash: "a", of: "claim", at: BASE_TIME },
        ],
      }),
    );
    expect((await record.since(ANN, 1)).tombstones.map(({ hash }) => hash)).toEqual(["a", "b"]);
    await record.commit(ANN, makeChangeSet({ base: 1, liftTombstones: ["a", "nobody"] }));
    expect((await record.since(ANN, 2)).tombstones).toEqual([{ hash: "b", of: "words", at: BASE_TIME }]);
  },

  "a receipt is found again under its key, with its revision": async (record) => {
    const kept = {
      key: "k",
      body: "b",
      messages: ["m1"],
      memories: [{ id: "a", action: "added" as const, version: 1 }],
      pending: 0,
    };
    await record.commit(ANN, makeChangeSet({ receipt: kept }));
    expect(await record.receipt(ANN, "k")).toEqual({ ...kept, revision: 1 });
    expect(await record.receipt(BOB, "k")).toBeUndefined();
  },

  "what a call gives is the caller's to keep": async (record) => {
    const given = makeMessage("m1", { metadata: { tag: "x" } });
    await record.commit(
      ANN,
      makeChangeSet({ messages: [given], units: [makeUnit("m1#0", "passage", "m1")] }),
    );
    const [held] = (await record.since(ANN, 0)).units;
    held?.vector.fill(9);
    Object.assign(given.metadata ?? {}, { tag: "y" });
    const again = await record.since(ANN, 0);
    expect(again.units[0]?.vector[0]).toBe(0.5);
    expect(again.messages[0]?.metadata).toEqual({ tag: "x" });
  },

  "a message that was taken back is marked, and can be put back": async (record) => {
    await record.commit(ANN, makeChangeSet({ messages: [makeMessage("m1", { digest: "pending" })] }));
    await record.commit(
      ANN,
      makeChangeSet({ base: 1, digests: [{ id: "m1", digest: "done", undone: true }] }),
    );
    expect((await record.since(ANN, 1)).messages[0]).toMatchObject({ digest: "done", undone: true });
    await record.commit(ANN, makeChangeSet({ base: 2, digests: [{ id: "m1", digest: "never" }] }));
    expect((await record.since(ANN, 2)).messages[0]).toMatchObject({ digest: "never", undone: true });
    await record.commit(
      ANN,
      makeChangeSet({ base: 3, digests: [{ id: "m1", digest: "done", undone: false }] }),
    );
    expect((await record.since(ANN, 3)).messages[0]).not.toHaveProperty("undone");
  },

  "a message that waits for a model is marked as heard until it is done": async (record) => {
    const waiting = makeMessage("m1", { digest: "pending", heard: true });
    await record.commit(
      ANN,
      makeChangeSet({ messages: [waiting, makeMessage("m2", { digest: "pending" })] }),
    );
    expect((await record.since(ANN, 0)).messages.map(({ heard }) => heard)).toEqual([true, undefined]);
    const heard = { id: "m2", digest: "pending", heard: true } as const;
    await record.commit(ANN, makeChangeSet({ base: 1, digests: [heard, { id: "m1", digest: "pending" }] }));
    expect((await record.since(ANN, 0)).messages.map(({ heard: is }) => is)).toEqual([true, true]);
    await record.commit(ANN, makeChangeSet({ base: 2, digests: [{ id: "m1", digest: "done" }] }));
    expect((await record.since(ANN, 2)).messages[0]).not.toHaveProperty("heard");
  },

  "what a change-set drops and puts again is there": async (record) => {
    const [old, fresh] = [
      makeUnit("m1#0", "passage", "m1", "old"),
      makeUnit("m1#0", "passage", "m1", "fresh"),
    ];
    await record.commit(ANN, makeChangeSet({ messages: [makeMessage("m1")], units: [old] }));
    await record.commit(ANN, makeChangeSet({ base: 1, dropUnits: ["m1#0"], units: [fresh] }));
    expect(await record.since(ANN, 1)).toMatchObject({ units: [fresh], gone: { units: [] } });
  },
};

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

  "a complete receipt stays as it is when it is sealed again": async (record) => {
    const erase = { messages: [], memories: [], rewrites: [], receipt: makeErasureReceipt("z") };
    await record.commit(ANN, makeChangeSet({ erase }));
    const verified = [{ place: "x", found: 0 }];
    await record.seal(ANN, makeErasureReceipt("z", { verified: [{ place: "x", found: 1 }] }));
    await record.seal(ANN, makeErasureReceipt("z", { verified, complete: true }));
    await record.seal(ANN, makeErasureReceipt("z", { verified: [{ place: "late", found: 0 }] }));
    expect(await record.erasures(ANN)).toMatchObject([{ id: "z", verified, complete: true }]);
    await record.seal(ANN, makeErasureReceipt("z", { verified: [], complete: true }));
    expect(await record.erasures(ANN)).toMatchObject([{ id: "z", verified, complete: true }]);
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
