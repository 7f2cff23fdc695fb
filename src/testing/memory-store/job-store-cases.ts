import { expect } from "vitest";
import type { JobRun } from "../../domain/operations/job.ts";
import type { MemoryStore } from "../../ports/memory-store.ts";
import type { LeaseResult } from "../../ports/stores/job-store.ts";
import { makeChangeSet, makeMemory, makeMessage, makeRecallReceipt } from "./change-sets.ts";
import { ANN, BOB, type MemoryStoreCases, readContents } from "./store-contents.ts";

const SAMPLE_RUN: JobRun = {
  name: "expiry",
  at: "2026-01-01T00:00:00.000Z",
  tookMs: 12,
  done: 3,
  found: 1,
  problem: "the store is locked.",
  attempts: 2,
};
const LATER = "2027-01-01T00:00:00.000Z";

/** What background jobs use. */
export const JOB_CASES: MemoryStoreCases = {
  "finds users with pending messages, their number, and by time of storage": async (store) => {
    expect(await store.jobs.usersWithPendingMessages(LATER, 10)).toEqual([]);
    const waiting = { digest: "pending" } as const;
    await store.commit(BOB, makeChangeSet({ messages: [makeMessage("m1"), makeMessage("m2", waiting)] }));
    await store.commit(
      ANN,
      makeChangeSet({ messages: [makeMessage("m1", waiting), makeMessage("m2", waiting)] }),
    );
    await store.commit(
      ANN,
      makeChangeSet({
        base: 1,
        messages: [makeMessage("m3", { digest: "never" }), makeMessage("m4", waiting)],
      }),
    );
    expect(await store.jobs.usersWithPendingMessages(LATER, 10)).toEqual([
      { scope: BOB, messages: 1 },
      { scope: ANN, messages: 3 },
    ]);
    expect(await store.jobs.usersWithPendingMessages(LATER, 1)).toEqual([{ scope: BOB, messages: 1 }]);
    expect(await store.jobs.usersWithPendingMessages(makeMessage("m1").storedAt, 10)).toEqual([]);
    await store.commit(
      ANN,
      makeChangeSet({
        base: 2,
        digests: [
          { id: "m1", digest: "done" },
          { id: "m2", digest: "pending", undone: true },
        ],
      }),
    );
    expect(await store.jobs.usersWithPendingMessages(LATER, 10)).toEqual([
      { scope: BOB, messages: 1 },
      { scope: ANN, messages: 1 },
    ]);
  },

  "lists all users a page at a time, with a job's progress for each": async (store) => {
    expect(await store.jobs.jobProgress("expiry", { limit: 2 })).toEqual({ users: [] });
    for (const user of ["c", "a", "b"]) {
      const scope = { project: user, user };
      await store.jobs.saveProgress("expiry", [{ scope, visit: { revision: 9 } }]);
      await store.commit(scope, makeChangeSet({ messages: [makeMessage("m1")] }));
    }
    const visit = { revision: 1, due: LATER, found: 2 };
    const scope = { project: "a", user: "a" };
    await store.jobs.saveProgress("expiry", [
      { scope, visit: { revision: 1 } },
      { scope, visit },
    ]);
    const first = await store.jobs.jobProgress("expiry", { limit: 2 });
    expect(first.users).toEqual([
      { scope: { project: "c", user: "c" }, revision: 1 },
      { scope, revision: 1, visit },
    ]);
    const { cursor = "" } = first;
    expect(await store.jobs.userProgress("expiry", scope)).toEqual(visit);
    expect(await store.jobs.userProgress("decay", scope)).toBeUndefined();
    expect(await store.jobs.userProgress("expiry", { project: "b", user: "b" })).toBeUndefined();
    await store.jobs.saveProgress("following chroma", [{ scope, visit: { revision: 7 } }]);
    expect(await store.jobs.userProgress("following chroma", scope)).toEqual({ revision: 7 });
    expect(await store.jobs.jobProgress("expiry", { after: cursor, limit: 2 })).toEqual({
      users: [{ scope: { project: "b", user: "b" }, revision: 1 }],
    });
    expect((await store.jobs.jobProgress("decay", { limit: 9 })).users.map((one) => one.visit)).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
  },

  "saves job runs and progress without a change of the store": async (store) => {
    await store.commit(ANN, makeChangeSet({ messages: [makeMessage("m1")] }));
    const before = await readContents(store, ANN);
    await store.jobs.saveProgress("decay", [{ scope: ANN, visit: { revision: 1 } }]);
    await store.jobs.saveJobRun(SAMPLE_RUN);
    expect(await readContents(store, ANN)).toEqual(before);
  },

  "keeps the last run of each job": async (store) => {
    expect(await store.jobs.jobRuns()).toEqual([]);
    await store.jobs.saveJobRun({ ...SAMPLE_RUN, done: 1 });
    await store.jobs.saveJobRun({ name: "decay", at: LATER, tookMs: 1, done: 0, attempts: 0 });
    await store.jobs.saveJobRun(SAMPLE_RUN);
    const notes = (await store.jobs.jobRuns()).toSorted((one, other) => (one.name < other.name ? -1 : 1));
    expect(notes).toEqual([{ name: "decay", at: LATER, tookMs: 1, done: 0, attempts: 0 }, SAMPLE_RUN]);
  },

  "knows the memories that a recall returned as long as its receipt is kept": async (store) => {
    const item = (id: string) =>
      ({ id, type: "memory", score: 1, status: "current", arms: {}, parts: {} }) as const;
    expect(await store.jobs.findRecalled(ANN, ["a"])).toEqual([]);
    await store.commit(ANN, makeChangeSet({ messages: [makeMessage("m1")] }));
    const first = { ...makeRecallReceipt("r1"), items: [item("a"), item("b")] };
    const second = { ...makeRecallReceipt("r2"), items: [item("b")], dropped: [{ ...item("c"), why: "" }] };
    await store.recallReceipts.save([
      { scope: ANN, receipts: [first] },
      { scope: { project: "default", user: "nobody" }, receipts: [first] },
      { scope: ANN, receipts: [second] },
    ]);
    expect((await store.jobs.findRecalled(ANN, ["c", "b", "a", "b", "d"])).toSorted()).toEqual(["a", "b"]);
    expect(await store.jobs.findRecalled(BOB, ["a"])).toEqual([]);
  },

  "reads current memories a page at a time, in the order in which they were first stored": async (store) => {
    expect(await store.jobs.currentMemories(ANN, { limit: 5 })).toEqual({
      revision: 0,
      memories: [],
      more: false,
    });
    await store.commit(ANN, makeChangeSet({ memories: ["d", "b", "a", "c"].map((id) => makeMemory(id)) }));
    await store.commit(
      ANN,
      makeChangeSet({ base: 1, memories: [makeMemory("d", 2), makeMemory("b", 2, { status: "retracted" })] }),
    );
    const first = await store.jobs.currentMemories(ANN, { limit: 2 });
    expect([first.revision, first.more]).toEqual([2, true]);
    expect(first.memories.map(({ id, version }) => [id, version])).toEqual([
      ["d", 2],
      ["a", 1],
    ]);
    const second = await store.jobs.currentMemories(ANN, { after: "a", limit: 2 });
    expect([second.memories.map(({ id }) => id), second.more]).toEqual([["c"], false]);
    expect((await store.jobs.currentMemories(ANN, { after: "nobody", limit: 2 })).memories).toEqual([]);
    expect((await store.jobs.currentMemories(BOB, { after: "d", limit: 2 })).memories).toEqual([]);
  },
};

const LONG = { forMs: 60_000 };
/** A duration that expires within a case. */
const SHORT_MS = 30;

const getToken = (answer: LeaseResult): string => answer.token ?? "refused";

async function takeToken(store: MemoryStore, name: string, forMs = LONG.forMs): Promise<string> {
  return getToken(await store.jobs.takeLease(name, { forMs }));
}

const wait = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Leases, and the store of failed work. */
export const LEASE_CASES: MemoryStoreCases = {
  "gives a lease to one holder at a time, and to the next after its release": async (store) => {
    const first = await takeToken(store, "decay");
    const refused = await store.jobs.takeLease("decay", LONG);
    expect(refused).toMatchObject({ refused: "held" });
    expect(refused.token === undefined && refused.waitMs).toSatisfy((ms: number) => ms > 0 && ms <= 60_000);
    expect(await store.jobs.takeLease("decay", { ...LONG, isUrgent: true })).toMatchObject({
      refused: "held",
    });
    expect(await takeToken(store, "expiry")).not.toBe("refused");
    expect(await store.jobs.releaseLease("decay", first)).toBe(true);
    expect(await takeToken(store, "decay")).not.toBe(first);
  },

  "gives a lease to one of many simultaneous callers": async (store) => {
    const answers = await Promise.all(Array.from({ length: 8 }, () => store.jobs.takeLease("decay", LONG)));
    expect(answers.filter((answer) => answer.token !== undefined)).toHaveLength(1);
  },

  "lets a lease expire by itself": async (store) => {
    const first = await takeToken(store, "decay", SHORT_MS);
    await wait(SHORT_MS * 2);
    expect(await store.jobs.renewLease("decay", first, 60_000)).toBe(false);
    expect(await takeToken(store, "decay")).not.toBe("refused");
    expect(await store.jobs.releaseLease("decay", first)).toBe(false);
    expect(await store.jobs.takeLease("decay", LONG)).toMatchObject({ refused: "held" });
  },

  "extends a lease from the time of its renewal": async (store) => {
    const first = await takeToken(store, "decay", 20_000);
    const waitMs = async (): Promise<number> => {
      const answer = await store.jobs.takeLease("decay", LONG);
      return answer.token === undefined ? answer.waitMs : 0;
    };
    expect(await waitMs()).toBeLessThanOrEqual(20_000);
    expect(await store.jobs.renewLease("decay", "another", 60_000)).toBe(false);
    expect(await waitMs()).toBeLessThanOrEqual(20_000);
    expect(await store.jobs.renewLease("decay", first, 60_000)).toBe(true);
    expect(await waitMs()).toBeGreaterThan(40_000);
    expect(await store.jobs.releaseLease("decay", first)).toBe(true);
  },

  "gives a resting lease to no one except an urgent caller": async (store) => {
    const first = await takeToken(store, "decay");
    expect(await store.jobs.releaseLease("decay", "another", 0)).toBe(false);
    await store.jobs.releaseLease("decay", first, 60_000);
    expect(await store.jobs.releaseLease("decay", first)).toBe(false);
    const refused = await store.jobs.takeLease("decay", LONG);
    expect(refused).toMatchObject({ refused: "resting" });
    expect(refused.token === undefined && refused.waitMs).toSatisfy((ms: number) => ms > 50_000);
    const urgent = getToken(await store.jobs.takeLease("decay", { ...LONG, isUrgent: true }));
    expect(await store.jobs.releaseLease("decay", urgent, SHORT_MS)).toBe(true);
    await wait(SHORT_MS * 2);
    expect(await takeToken(store, "decay")).not.toBe("refused");
  },

  "lists failed progress, the latest first, until it is saved again": async (store) => {
    for (const scope of [BOB, ANN])
      await store.commit(scope, makeChangeSet({ messages: [makeMessage("m1")] }));
    const failed = (attempts: number, day: number) => ({
      revision: 1,
      failed: { attempts, problem: "internal", at: `2026-01-0${day}T00:00:00.000Z` },
    });
    await store.jobs.saveProgress("expiry", [
      { scope: BOB, visit: failed(5, 1) },
      { scope: ANN, visit: { revision: 1 } },
    ]);
    await store.jobs.saveProgress("decay", [
      { scope: BOB, visit: failed(2, 3) },
      { scope: ANN, visit: { ...failed(7, 2), due: "2026-02-01T00:00:00.000Z", found: 1 } },
    ]);
    await store.commit(ANN, makeChangeSet({ base: 1, messages: [makeMessage("m2")] }));
    const found = await store.jobs.failedProgress({ attempts: 5, limit: 10 });
    expect(found).toEqual([
      {
        scope: ANN,
        job: "decay",
        revision: 2,
        visit: { ...failed(7, 2), due: "2026-02-01T00:00:00.000Z", found: 1 },
      },
      { scope: BOB, job: "expiry", revision: 1, visit: failed(5, 1) },
    ]);
    expect(await store.jobs.failedProgress({ attempts: 1, limit: 1 })).toMatchObject([
      { job: "decay", scope: BOB },
    ]);
    const page = await store.jobs.jobProgress("decay", { limit: 10 });
    expect(page.users[0]?.visit).toEqual(failed(2, 3));
    await store.jobs.saveProgress("decay", [{ scope: ANN, visit: { revision: 2 } }]);
    expect(await store.jobs.failedProgress({ attempts: 5, limit: 10 })).toMatchObject([{ job: "expiry" }]);
  },
};
