import { expect } from "vitest";
import { AT, changes, memory, message, unit } from "./change-sets.ts";
import { ANN, BOB, dump, type RecordCases } from "./record-dump.ts";

/** What `commit` promises. */
export const WRITE_CASES: RecordCases = {
  "each commit raises the revision by one, and the log names what it did by id, newest first": async (
    record,
  ) => {
    expect(await record.commit(ANN, changes({ messages: [message("m1")] }))).toBe(1);
    const second = changes({ base: 1, cause: "undo", undoes: 1, memories: [memory("a")] });
    expect(await record.commit(ANN, second)).toBe(2);
    expect(await record.revision(ANN)).toBe(2);
    expect(await record.log(ANN, { limit: 10 })).toEqual([
      {
        revision: 2,
        at: AT,
        cause: "undo",
        undoes: 1,
        messages: [],
        memories: [{ id: "a", version: 1, action: "added" }],
        erased: [],
      },
      { revision: 1, at: AT, cause: "remember", messages: ["m1"], memories: [], erased: [] },
    ]);
    expect((await record.log(ANN, { limit: 1, before: 2 })).map(({ revision }) => revision)).toEqual([1]);
  },

  "a change-set thought out on another revision is refused and changes nothing": async (record) => {
    await record.commit(ANN, changes({ messages: [message("m1")] }));
    const before = await dump(record, ANN);
    for (const base of [0, 2]) {
      await expect(record.commit(ANN, changes({ base, messages: [message("m2")] }))).rejects.toMatchObject({
        code: "conflict",
      });
    }
    expect(await dump(record, ANN)).toEqual(before);
  },

  "a change-set is all or nothing": async (record) => {
    await record.commit(ANN, changes({ messages: [message("m1")], memories: [memory("a")] }));
    const before = await dump(record, ANN);
    const wrong = [
      changes({ base: 1, memories: [memory("b")], messages: [message("m2"), message("m1")] }),
      changes({ base: 1, messages: [message("m2"), message("m2")] }),
      changes({ base: 1, messages: [message("m2")], memories: [memory("b"), memory("a", 3)] }),
      changes({ base: 1, tombstones: [{ hash: "t", of: "claim", at: AT }], memories: [memory("a", 1)] }),
      changes({ base: 1, messages: [message("m2")], digests: [{ id: "nobody", digest: "done" }] }),
      changes({
        base: 1,
        messages: [message("m2")],
        links: [{ from: "a", type: "extends", to: "nobody", strength: 1 }],
      }),
    ];
    for (const one of wrong)
      await expect(record.commit(ANN, one)).rejects.toMatchObject({ code: "conflict" });
    expect(await dump(record, ANN)).toEqual(before);
  },

  "messages get their turns in order, over several commits": async (record) => {
    await record.commit(ANN, changes({ messages: [message("z"), message("a")] }));
    await record.commit(ANN, changes({ base: 1, messages: [message("m")] }));
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
    await record.commit(ANN, changes({ memories: [memory("a", 1), memory("b", 1), memory("a", 2)] }));
    await record.commit(ANN, changes({ base: 1, memories: [memory("a", 3)] }));
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
      changes({
        tombstones: [
          { hash: "b", of: "words", at: AT },
          { hash: "a", of: "claim", at: AT },
        ],
      }),
    );
    expect((await record.since(ANN, 1)).tombstones.map(({ hash }) => hash)).toEqual(["a", "b"]);
    await record.commit(ANN, changes({ base: 1, liftTombstones: ["a", "nobody"] }));
    expect((await record.since(ANN, 2)).tombstones).toEqual([{ hash: "b", of: "words", at: AT }]);
  },

  "a receipt is found again under its key, with its revision": async (record) => {
    const kept = {
      key: "k",
      body: "b",
      messages: ["m1"],
      memories: [{ id: "a", action: "added" as const, version: 1 }],
      pending: 0,
    };
    await record.commit(ANN, changes({ receipt: kept }));
    expect(await record.receipt(ANN, "k")).toEqual({ ...kept, revision: 1 });
    expect(await record.receipt(BOB, "k")).toBeUndefined();
  },

  "what a call gives is the caller's to keep": async (record) => {
    const given = message("m1", { metadata: { tag: "x" } });
    await record.commit(ANN, changes({ messages: [given], units: [unit("m1#0", "passage", "m1")] }));
    const [held] = (await record.since(ANN, 0)).units;
    held?.vector.fill(9);
    Object.assign(given.metadata ?? {}, { tag: "y" });
    const again = await record.since(ANN, 0);
    expect(again.units[0]?.vector[0]).toBe(0.5);
    expect(again.messages[0]?.metadata).toEqual({ tag: "x" });
  },

  "a message that was taken back is marked, and can be put back": async (record) => {
    await record.commit(ANN, changes({ messages: [message("m1", { digest: "pending" })] }));
    await record.commit(ANN, changes({ base: 1, digests: [{ id: "m1", digest: "done", undone: true }] }));
    expect((await record.since(ANN, 1)).messages[0]).toMatchObject({ digest: "done", undone: true });
    await record.commit(ANN, changes({ base: 2, digests: [{ id: "m1", digest: "never" }] }));
    expect((await record.since(ANN, 2)).messages[0]).toMatchObject({ digest: "never", undone: true });
    await record.commit(ANN, changes({ base: 3, digests: [{ id: "m1", digest: "done", undone: false }] }));
    expect((await record.since(ANN, 3)).messages[0]).not.toHaveProperty("undone");
  },

  "a message that waits for a model is marked as heard until it is done": async (record) => {
    const waiting = message("m1", { digest: "pending", heard: true });
    await record.commit(ANN, changes({ messages: [waiting, message("m2", { digest: "pending" })] }));
    expect((await record.since(ANN, 0)).messages.map(({ heard }) => heard)).toEqual([true, undefined]);
    const heard = { id: "m2", digest: "pending", heard: true } as const;
    await record.commit(ANN, changes({ base: 1, digests: [heard, { id: "m1", digest: "pending" }] }));
    expect((await record.since(ANN, 0)).messages.map(({ heard: is }) => is)).toEqual([true, true]);
    await record.commit(ANN, changes({ base: 2, digests: [{ id: "m1", digest: "done" }] }));
    expect((await record.since(ANN, 2)).messages[0]).not.toHaveProperty("heard");
  },

  "what a change-set drops and puts again is there": async (record) => {
    const [old, fresh] = [unit("m1#0", "passage", "m1", "old"), unit("m1#0", "passage", "m1", "fresh")];
    await record.commit(ANN, changes({ messages: [message("m1")], units: [old] }));
    await record.commit(ANN, changes({ base: 1, dropUnits: ["m1#0"], units: [fresh] }));
    expect(await record.since(ANN, 1)).toMatchObject({ units: [fresh], gone: { units: [] } });
  },
};
