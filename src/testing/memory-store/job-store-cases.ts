import { expect } from "vitest";
import type { JobRun } from "../../domain/job.ts";
import type { LeaseResult } from "../../ports/job-store.ts";
import type { MemoryStore } from "../../ports/memory-store.ts";
import { makeChangeSet, makeMemory, makeMessage, makeRecallReceipt } from "./change-sets.ts";
import { ANN, BOB, type MemoryStoreCases, readContents } from "./store-contents.ts";

const SAMPLE_RUN: JobRun = {
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
export const JOB_CASES: MemoryStoreCases = {
  "users whose messages wait are found, with how many, and by when they were stored": async (record) => {
    expect(await record.usersWithPendingMessages(LATER, 10)).toEqual([]);
    const waiting = { digest: "pending" } as const;
    await record.commit(BOB, makeChangeSet({ messages: [makeMessage("m1"), makeMessage("m2", waiting)] }));
    await record.commit(
      ANN,
      makeChangeSet({ messages: [makeMessage("m1", waiting), makeMessage("m2", waiting)] }),
    );
    await record.commit(
      ANN,
      makeChangeSet({
        base: 1,
        messages: [makeMessage("m3", { digest: "never" }), makeMessage("m4", waiting)],
      }),
    );
    expect(await record.usersWithPendingMessages(LATER, 10)).toEqual([
      { scope: BOB, messages: 1 },
      { scope: ANN, messages: 3 },
    ]);
    expect(await record.usersWithPendingMessages(LATER, 1)).toEqual([{ scope: BOB, messages: 1 }]);
    expect(await record.usersWithPendingMessages(makeMessage("m1").storedAt, 10)).toEqual([]);
    await record.commit(
      ANN,
      makeChangeSet({
        base: 2,
        digests: [
          { id: "m1", digest: "done" },
          { id: "m2", digest: "pending", undone: true },
        ],
      }),
    );
    expect(await record.usersWithPendingMessages(LATER, 10)).toEqual([
      { scope: BOB, messages: 1 },
      { scope: ANN, messages: 1 },
    ]);
  },

  "a job goes through all users a page at a time, and finds what it noted of each": async (record) => {
    expect(await record.jobProgress("expiry", { limit: 2 })).toEqual({ users: [] });
    for (const user of ["c", "a", "b"]) {
      const scope = { project: user, user };
      await record.saveProgress("expiry", [{ scope, visit: { revision: 9 } }]);
      await record.commit(scope, makeChangeSet({ messages: [makeMessage("m1")] }));
    }
    const visit = { revision: 1, due: LATER, found: 2 };
    const scope = { project: "a", user: "a" };
    await record.saveProgress("expiry", [
      { scope, visit: { revision: 1 } },
      { scope, visit },
    ]);
    const first = await record.jobProgress("expiry", { limit: 2 });
    expect(first.users).toEqual([
      { scope: { project: "c", user: "c" }, revision: 1 },
      { scope, revision: 1, visit },
    ]);
    const { cursor = "" } = first;
    expect(await record.userProgress("expiry", scope)).toEqual(visit);
    expect(await record.userProgress("decay", scope)).toBeUndefined();
    expect(await record.userProgress("expiry", { project: "b", user: "b" })).toBeUndefined();
    await record.saveProgress("following chroma", [{ scope, visit: { revision: 7 } }]);
    expect(await record.userProgress("following chroma", scope)).toEqual({ revision: 7 });
    expect(await record.jobProgress("expiry", { after: cursor, limit: 2 })).toEqual({
      users: [{ scope: { project: "b", user: "b" }, revision: 1 }],
    });
    expect((await record.jobProgress("decay", { limit: 9 })).users.map((one) => one.visit)).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
  },

  "notes of jobs and visits are no change": async (record) => {
    await record.commit(ANN, makeChangeSet({ messages: [makeMessage("m1")] }));
    const before = await readContents(record, ANN);
    await record.saveProgress("decay", [{ scope: ANN, visit: { revision: 1 } }]);
    await record.saveJobRun(SAMPLE_RUN);
    expect(await readContents(record, ANN)).toEqual(before);
  },

  "of each job the last note is kept": async (record) => {
    expect(await record.jobRuns()).toEqual([]);
    await record.saveJobRun({ ...SAMPLE_RUN, done: 1 });
    await record.saveJobRun({ name: "decay", at: LATER, tookMs: 1, done: 0, attempts: 0 });
    await record.saveJobRun(SAMPLE_RUN);
    const notes = (await record.jobRuns()).toSorted((one, other) => (one.name < other.name ? -1 : 1));
    expect(notes).toEqual([{ name: "decay", at: LATER, tookMs: 1, done: 0, attempts: 0 }, SAMPLE_RUN]);
  },

  "memories that a recall gave are known as long as its receipt is kept": async (record) => {
    const item = (id: string) =>
      ({ id, type: "memory", score: 1, status: "current", arms: {}, parts: {} }) as const;
    expect(await record.findRecalled(ANN, ["a"])).toEqual([]);
    await record.commit(ANN, makeChangeSet({ messages: [makeMessage("m1")] }));
    const first = { ...makeRecallReceipt("r1"), items: [item("a"), item("b")] };
    const second = { ...makeRecallReceipt("r2"), items: [item("b")], dropped: [{ ...item("c"), why: "" }] };
    await record.saveRecallReceipts([
      { scope: ANN, receipts: [first] },
      { scope: { project: "default", user: "nobody" }, receipts: [first] },
      { scope: ANN, receipts: [second] },
    ]);
    expect((await record.findRecalled(ANN, ["c", "b", "a", "b", "d"])).toSorted()).toEqual(["a", "b"]);
    expect(await record.findRecalled(BOB, ["a"])).toEqual([]);
  },

  "memories that are current are read a page at a time, in the order in which they were first stored": async (
    record,
  ) => {
    expect(await record.currentMemories(ANN, { limit: 5 })).toEqual({
      revision: 0,
      memories: [],
      more: false,
    });
    await record.commit(ANN, makeChangeSet({ memories: ["d", "b", "a", "c"].map((id) => makeMemory(id)) }));
    await record.commit(
      ANN,
      makeChangeSet({ base: 1, memories: [makeMemory("d", 2), makeMemory("b", 2, { status: "retracted" })] }),
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

const LONG = { forMs: 60_000 };
/** Of what is to run out within a case. */
const SHORT_MS = 30;

const getToken = (answer: LeaseResult): string => answer.token ?? "refused";

async function takeToken(record: MemoryStore, name: string, forMs = LONG.forMs): Promise<string> {
  return getToken(await record.takeLease(name, { forMs }));
}

const wait = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Who may do now what only one may do at a time; and what is known of what broke off. */
export const LEASE_CASES: MemoryStoreCases = {
  "a lease is given to one at a time, and to the next once it is given back": async (record) => {
    const first = await takeToken(record, "decay");
    const refused = await record.takeLease("decay", LONG);
    expect(refused).toMatchObject({ refused: "held" });
    expect(refused.token === undefined && refused.waitMs).toSatisfy((ms: number) => ms > 0 && ms <= 60_000);
    expect(await record.takeLease("decay", { ...LONG, isUrgent: true })).toMatchObject({ refused: "held" });
    expect(await takeToken(record, "expiry")).not.toBe("refused");
    expect(await record.releaseLease("decay", first)).toBe(true);
    expect(await takeToken(record, "decay")).not.toBe(first);
  },

  "of many who ask for a lease at once, one gets it": async (record) => {
    const answers = await Promise.all(Array.from({ length: 8 }, () => record.takeLease("decay", LONG)));
    expect(answers.filter((answer) => answer.token !== undefined)).toHaveLength(1);
  },

  "a lease runs out by itself, and is nobody's then": async (record) => {
    const first = await takeToken(record, "decay", SHORT_MS);
    await wait(SHORT_MS * 2);
    expect(await record.renewLease("decay", first, 60_000)).toBe(false);
    expect(await takeToken(record, "decay")).not.toBe("refused");
    expect(await record.releaseLease("decay", first)).toBe(false);
    expect(await record.takeLease("decay", LONG)).toMatchObject({ refused: "held" });
  },

  "a lease that is renewed lasts from then on": async (record) => {
    const first = await takeToken(record, "decay", 20_000);
    const waitMs = async (): Promise<number> => {
      const answer = await record.takeLease("decay", LONG);
      return answer.token === undefined ? answer.waitMs : 0;
    };
    expect(await waitMs()).toBeLessThanOrEqual(20_000);
    expect(await record.renewLease("decay", "another", 60_000)).toBe(false);
    expect(await waitMs()).toBeLessThanOrEqual(20_000);
    expect(await record.renewLease("decay", first, 60_000)).toBe(true);
    expect(await waitMs()).toBeGreaterThan(40_000);
    expect(await record.releaseLease("decay", first)).toBe(true);
  },

  "a lease that rests is given to nobody, but for what is urgent": async (record) => {
    const first = await takeToken(record, "decay");
    expect(await record.releaseLease("decay", "another", 0)).toBe(false);
    await record.releaseLease("decay", first, 60_000);
    expect(await record.releaseLease("decay", first)).toBe(false);
    const refused = await record.takeLease("decay", LONG);
    expect(refused).toMatchObject({ refused: "resting" });
    expect(refused.token === undefined && refused.waitMs).toSatisfy((ms: number) => ms > 50_000);
    const urgent = getToken(await record.takeLease("decay", { ...LONG, isUrgent: true }));
    expect(await record.releaseLease("decay", urgent, SHORT_MS)).toBe(true);
    await wait(SHORT_MS * 2);
    expect(await takeToken(record, "decay")).not.toBe("refused");
  },

  "visits that broke off are found, the last one first, until they are noted anew": async (record) => {
    for (const scope of [BOB, ANN])
      await record.commit(scope, makeChangeSet({ messages: [makeMessage("m1")] }));
    const failed = (attempts: number, day: number) => ({
      revision: 1,
      failed: { attempts, problem: "internal", at: `2026-01-0${day}T00:00:00.000Z` },
    });
    await record.saveProgress("expiry", [
      { scope: BOB, visit: failed(5, 1) },
      { scope: ANN, visit: { revision: 1 } },
    ]);
    await record.saveProgress("decay", [
      { scope: BOB, visit: failed(2, 3) },
      { scope: ANN, visit: { ...failed(7, 2), due: "2026-02-01T00:00:00.000Z", found: 1 } },
    ]);
    await record.commit(ANN, makeChangeSet({ base: 1, messages: [makeMessage("m2")] }));
    const found = await record.failedProgress({ attempts: 5, limit: 10 });
    expect(found).toEqual([
      {
        scope: ANN,
        job: "decay",
        revision: 2,
        visit: { ...failed(7, 2), due: "2026-02-01T00:00:00.000Z", found: 1 },
      },
      { scope: BOB, job: "expiry", revision: 1, visit: failed(5, 1) },
    ]);
    expect(await record.failedProgress({ attempts: 1, limit: 1 })).toMatchObject([
      { job: "decay", scope: BOB },
    ]);
    const page = await record.jobProgress("decay", { limit: 10 });
    expect(page.users[0]?.visit).toEqual(failed(2, 3));
    await record.saveProgress("decay", [{ scope: ANN, visit: { revision: 2 } }]);
    expect(await record.failedProgress({ attempts: 5, limit: 10 })).toMatchObject([{ job: "expiry" }]);
  },
};
