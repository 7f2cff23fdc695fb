import { expect } from "vitest";
import type { LeaseResult } from "../ports/leases.ts";
import type { MemoryStore } from "../ports/record.ts";
import { makeChangeSet, makeMessage } from "./change-sets.ts";
import { ANN, BOB, type MemoryStoreCases } from "./record-dump.ts";

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
