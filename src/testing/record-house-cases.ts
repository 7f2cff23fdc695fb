import { expect } from "vitest";
import type { JobNote } from "../domain/job.ts";
import { changes, memory, message, recallReceipt } from "./change-sets.ts";
import { ANN, BOB, dump, type RecordCases } from "./record-dump.ts";

const NOTE: JobNote = {
  name: "expiry",
  at: "2026-01-01T00:00:00.000Z",
  tookMs: 12,
  done: 3,
  found: 1,
  problem: "the record is locked.",
  attempts: 2,
};
const LATER = "2027-01-01T00:00:00.000Z";

/** What background work goes by. */
export const HOUSE_CASES: RecordCases = {
  "users whose messages wait are found, with how many, and by when they were stored": async (record) => {
    expect(await record.usersWaiting(LATER, 10)).toEqual([]);
    const waiting = { digest: "pending" } as const;
    await record.commit(BOB, changes({ messages: [message("m1"), message("m2", waiting)] }));
    await record.commit(ANN, changes({ messages: [message("m1", waiting), message("m2", waiting)] }));
    await record.commit(
      ANN,
      changes({ base: 1, messages: [message("m3", { digest: "never" }), message("m4", waiting)] }),
    );
    expect(await record.usersWaiting(LATER, 10)).toEqual([
      { scope: BOB, messages: 1 },
      { scope: ANN, messages: 3 },
    ]);
    expect(await record.usersWaiting(LATER, 1)).toEqual([{ scope: BOB, messages: 1 }]);
    expect(await record.usersWaiting(message("m1").storedAt, 10)).toEqual([]);
    await record.commit(
      ANN,
      changes({
        base: 2,
        digests: [
          { id: "m1", digest: "done" },
          { id: "m2", digest: "pending", undone: true },
        ],
      }),
    );
    expect(await record.usersWaiting(LATER, 10)).toEqual([
      { scope: BOB, messages: 1 },
      { scope: ANN, messages: 1 },
    ]);
  },

  "a job goes through all users a page at a time, and finds what it noted of each": async (record) => {
    expect(await record.visits("expiry", { limit: 2 })).toEqual({ users: [] });
    for (const user of ["c", "a", "b"]) {
      const scope = { project: user, user };
      await record.noteVisits("expiry", [{ scope, visit: { revision: 9 } }]);
      await record.commit(scope, changes({ messages: [message("m1")] }));
    }
    const visit = { revision: 1, due: LATER, found: 2 };
    const scope = { project: "a", user: "a" };
    await record.noteVisits("expiry", [
      { scope, visit: { revision: 1 } },
      { scope, visit },
    ]);
    const first = await record.visits("expiry", { limit: 2 });
    expect(first.users).toEqual([
      { scope: { project: "c", user: "c" }, revision: 1 },
      { scope, revision: 1, visit },
    ]);
    const { cursor = "" } = first;
    expect(await record.visit("expiry", scope)).toEqual(visit);
    expect(await record.visit("decay", scope)).toBeUndefined();
    expect(await record.visit("expiry", { project: "b", user: "b" })).toBeUndefined();
    await record.noteVisits("following chroma", [{ scope, visit: { revision: 7 } }]);
    expect(await record.visit("following chroma", scope)).toEqual({ revision: 7 });
    expect(await record.visits("expiry", { after: cursor, limit: 2 })).toEqual({
      users: [{ scope: { project: "b", user: "b" }, revision: 1 }],
    });
    expect((await record.visits("decay", { limit: 9 })).users.map((one) => one.visit)).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
  },

  "notes of jobs and visits are no change": async (record) => {
    await record.commit(ANN, changes({ messages: [message("m1")] }));
    const before = await dump(record, ANN);
    await record.noteVisits("decay", [{ scope: ANN, visit: { revision: 1 } }]);
    await record.noteJob(NOTE);
    expect(await dump(record, ANN)).toEqual(before);
  },

  "of each job the last note is kept": async (record) => {
    expect(await record.jobs()).toEqual([]);
    await record.noteJob({ ...NOTE, done: 1 });
    await record.noteJob({ name: "decay", at: LATER, tookMs: 1, done: 0, attempts: 0 });
    await record.noteJob(NOTE);
    const notes = (await record.jobs()).toSorted((one, other) => (one.name < other.name ? -1 : 1));
    expect(notes).toEqual([{ name: "decay", at: LATER, tookMs: 1, done: 0, attempts: 0 }, NOTE]);
  },

  "memories that a recall gave are known as long as its receipt is kept": async (record) => {
    const item = (id: string) =>
      ({ id, type: "memory", score: 1, status: "current", arms: {}, parts: {} }) as const;
    expect(await record.recalled(ANN, ["a"])).toEqual([]);
    await record.commit(ANN, changes({ messages: [message("m1")] }));
    const first = { ...recallReceipt("r1"), items: [item("a"), item("b")] };
    const second = { ...recallReceipt("r2"), items: [item("b")], dropped: [{ ...item("c"), why: "" }] };
    await record.keepRecalls([
      { scope: ANN, receipts: [first] },
      { scope: { project: "default", user: "nobody" }, receipts: [first] },
      { scope: ANN, receipts: [second] },
    ]);
    expect((await record.recalled(ANN, ["c", "b", "a", "b", "d"])).toSorted()).toEqual(["a", "b"]);
    expect(await record.recalled(BOB, ["a"])).toEqual([]);
  },

  "memories that are current are read a page at a time, in the order in which they were first stored": async (
    record,
  ) => {
    expect(await record.currentMemories(ANN, { limit: 5 })).toEqual({
      revision: 0,
      memories: [],
      more: false,
    });
    await record.commit(ANN, changes({ memories: ["d", "b", "a", "c"].map((id) => memory(id)) }));
    await record.commit(
      ANN,
      changes({ base: 1, memories: [memory("d", 2), memory("b", 2, { status: "retracted" })] }),
    );
    const first = await record.currentMemories(ANN, { limit: 2 });
    expect([first.revision, first.more]).toEqual([2, true]);
    expect(first.memories.map(({ id, version }) => [id, version])).toEqual([
      ["d", 2],
      ["a", 1],
    ]);
    const second = await record.currentMemories(ANN, { after: "a", limit: 2 });
    expect([second.memories.map(({ id }) => id), second.more]).toEqual([["c"], false]);
    expect((await record.currentMemories(ANN, { after: "nobody", limit: 2 })).memories).toEqual([]);
    expect((await record.currentMemories(BOB, { after: "d", limit: 2 })).memories).toEqual([]);
  },
};
