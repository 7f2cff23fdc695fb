import { expect } from "vitest";
import { BASE_TIME, makeChangeSet, makeMemory, makeMessage, makeUnit } from "./change-sets.ts";
import { ANN, BOB, type MemoryStoreCases, readContents } from "./record-dump.ts";

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
