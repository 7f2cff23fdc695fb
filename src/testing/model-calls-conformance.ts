import { beforeEach, describe, expect, it } from "vitest";
import type { ModelCall } from "../domain/model-usage.ts";
import type { CallSum, Calls } from "../ports/language/model-calls.ts";

/** What the suite needs of a log of model calls. */
export interface CallsHarness {
  /** Shown in the test output: "memory", "sqlite". */
  readonly name: string;
  /** An empty ledger. */
  open(): Promise<Calls>;
  /** Closes a ledger and opens it again, if it keeps its entries. */
  reopen?(calls: Calls): Promise<Calls>;
}

/**
 * Runs the whole contract of `ports/language/model-calls.ts` against one adapter. Call it at the top level of
 * a test file.
 */
export function callsConformance(harness: CallsHarness): void {
  describe(`Calls: ${harness.name}`, () => {
    let calls: Calls;
    beforeEach(async () => {
      calls = await harness.open();
    });
    for (const [title, run] of Object.entries(CALLS_CASES)) it(title, () => run(calls));

    if (harness.reopen) {
      it("still has its entries after a restart", async () => {
        await calls.note(
          [makeModelCall({ id: "1" })],
          [{ project: "p", user: "ana", day: "2026-11-21", turns: 2 }],
        );
        const again = await harness.reopen?.(calls);
        expect(await again?.list({ limit: 10 })).toEqual([makeModelCall({ id: "1" })]);
        expect(await again?.turns({})).toBe(2);
      });
    }
  });
}

/** A model call with the given fields, and defaults for the others. */
export function makeModelCall(more: Partial<ModelCall> & { readonly id: string }): ModelCall {
  return {
    project: "p",
    user: "ana",
    at: "2026-11-21T10:00:00.000Z",
    purpose: "understand",
    model: "gpt-4o-mini",
    host: "api.openai.com",
    outcome: "ok",
    units: 8,
    tokensIn: 1000,
    tokensCached: 400,
    tokensOut: 100,
    ms: 250.5,
    cost: 0.00018,
    ...more,
  };
}

const makeTurns = (user: string, day: string, count: number, project = "p") => ({
  project,
  user,
  day,
  turns: count,
});

/** Sorts sums and rounds their costs, because sums of fractions depend on the order. */
function sortSums(sums: readonly CallSum[]): CallSum[] {
  return sums
    .map((sum) => ({ ...sum, cost: Number(sum.cost.toFixed(9)), ms: Number(sum.ms.toFixed(6)) }))
    .sort((one, other) => (JSON.stringify(one) < JSON.stringify(other) ? -1 : 1));
}

const readTotal = async (calls: Calls, asked: Parameters<Calls["sums"]>[0]): Promise<number> =>
  (await calls.sums(asked)).reduce((sum, one) => sum + one.calls, 0);

/** The behaviour of every ledger of calls, one rule per case. */
export const CALLS_CASES: { readonly [title: string]: (calls: Calls) => Promise<void> } = {
  "returns the noted calls, newest first": async (calls) => {
    const first = makeModelCall({ id: "1" });
    const {
      user: _user,
      cost: _cost,
      ...nobodys
    } = makeModelCall({ id: "2", at: "2026-11-21T11:00:00.000Z", isEstimated: true });
    const third = makeModelCall({
      id: "3",
      at: "2026-11-21T11:00:00.000Z",
      outcome: "rate_limited",
      cost: 0,
    });
    await calls.note([first]);
    await calls.note([nobodys, third]);
    expect(await calls.list({ limit: 10 })).toEqual([third, nobodys, first]);
    expect(await calls.list({ limit: 1 })).toEqual([third]);
    expect(await calls.list({ limit: 10, project: "p", user: "ana" })).toEqual([third, first]);
  },

  "is empty at first": async (calls) => {
    expect([await calls.list({ limit: 10 }), await calls.sums({}), await calls.turns({})]).toEqual([
      [],
      [],
      0,
    ]);
    await calls.note([]);
    await calls.unname({ project: "p", user: "ana" });
    expect(await calls.removeBefore("2026-11-21T00:00:00.000Z")).toBe(0);
  },

  "notes a call once, however often it is reported": async (calls) => {
    await calls.note([makeModelCall({ id: "1" }), makeModelCall({ id: "1" })]);
    await calls.note([makeModelCall({ id: "1" }), makeModelCall({ id: "2" })]);
    expect(await readTotal(calls, {})).toBe(2);
  },

  "sums by purpose and model": async (calls) => {
    const { cost: _cost, ...unpriced } = makeModelCall({ id: "3", model: "qwen3", tokensIn: 7 });
    await calls.note([
      makeModelCall({ id: "1" }),
      makeModelCall({
        id: "2",
        outcome: "timeout",
        tokensIn: 0,
        tokensCached: 0,
        tokensOut: 0,
        cost: 0,
        ms: 1000,
      }),
      unpriced,
      makeModelCall({ id: "4", purpose: "answer", user: "bea" }),
    ]);
    const mini = { model: "gpt-4o-mini", tokensCached: 400, tokensOut: 100, unpriced: 0 };
    expect(sortSums(await calls.sums({}))).toEqual(
      sortSums([
        {
          ...mini,
          purpose: "understand",
          calls: 2,
          failed: 1,
          units: 16,
          tokensIn: 1000,
          cost: 0.00018,
          ms: 1250.5,
        },
        {
          ...mini,
          purpose: "understand",
          model: "qwen3",
          calls: 1,
          failed: 0,
          units: 8,
          tokensIn: 7,
          cost: 0,
          unpriced: 1,
          ms: 250.5,
        },
        {
          ...mini,
          purpose: "answer",
          calls: 1,
          failed: 0,
          units: 8,
          tokensIn: 1000,
          cost: 0.00018,
          ms: 250.5,
        },
      ]),
    );
  },

  "sums by day, in UTC": async (calls) => {
    await calls.note([
      makeModelCall({ id: "1", at: "2026-11-20T23:59:59.999Z" }),
      makeModelCall({ id: "2", at: "2026-11-21T00:00:00.000Z" }),
      makeModelCall({ id: "3", at: "2026-11-21T23:00:00.000Z" }),
    ]);
    const days = (await calls.sums({ by: "day" })).map(({ day, calls: count }) => [day, count]);
    expect(days.sort()).toEqual([
      ["2026-11-20", 1],
      ["2026-11-21", 2],
    ]);
    expect((await calls.sums({})).map(({ day }) => day)).toEqual([undefined]);
  },

  "sums by outcome": async (calls) => {
    await calls.note([
      makeModelCall({ id: "1" }),
      makeModelCall({ id: "2", outcome: "rate_limited" }),
      makeModelCall({ id: "3", outcome: "rate_limited" }),
    ]);
    const outcomes = await calls.sums({ by: "outcome", project: "p" });
    expect(outcomes.map(({ outcome, calls: count, failed }) => [outcome, count, failed]).sort()).toEqual([
      ["ok", 1, 0],
      ["rate_limited", 2, 2],
    ]);
  },

  "includes the start of a period and excludes its end": async (calls) => {
    await calls.note([
      makeModelCall({ id: "1", at: "2026-11-20T12:00:00.000Z" }),
      makeModelCall({ id: "2", at: "2026-11-21T12:00:00.000Z" }),
    ]);
    const from = "2026-11-20T12:00:00.000Z";
    const to = "2026-11-21T12:00:00.000Z";
    expect(await readTotal(calls, { from, to })).toBe(1);
    expect((await calls.list({ from, to, limit: 9 })).map(({ id }) => id)).toEqual(["1"]);
    expect(await readTotal(calls, { from: to })).toBe(1);
  },

  "keeps projects and users apart": async (calls) => {
    await calls.note(
      [
        makeModelCall({ id: "1" }),
        makeModelCall({ id: "2", project: "q" }),
        makeModelCall({ id: "3", user: "bea" }),
        makeModelCall({ id: "4", project: "pa", user: "na" }),
      ],
      [
        makeTurns("ana", "2026-11-21", 3),
        makeTurns("bea", "2026-11-21", 5),
        makeTurns("ana", "2026-11-21", 7, "q"),
      ],
    );
    expect(await readTotal(calls, { project: "p" })).toBe(2);
    expect(await readTotal(calls, { project: "p", user: "ana" })).toBe(1);
    expect(await readTotal(calls, { project: "q", user: "bea" })).toBe(0);
    expect(await calls.turns({ project: "p" })).toBe(8);
    expect(await calls.turns({ project: "p", user: "ana" })).toBe(3);
    expect(await calls.turns({ project: "q" })).toBe(7);
  },

  "adds up turns by day": async (calls) => {
    await calls.note([], [makeTurns("ana", "2026-11-20", 3), makeTurns("ana", "2026-11-21", 5)]);
    await calls.note([], [makeTurns("ana", "2026-11-21", 1)]);
    expect(await calls.turns({})).toBe(9);
    expect(await calls.turns({ from: "2026-11-21T15:00:00.000Z" })).toBe(6);
    expect(await calls.turns({ to: "2026-11-21T00:00:00.000Z" })).toBe(3);
    expect(await calls.turns({ to: "2026-11-21T00:00:00.001Z" })).toBe(9);
  },

  "removes a user's name and keeps the sums": async (calls) => {
    const noted = [makeModelCall({ id: "1" }), makeModelCall({ id: "2", user: "bea" })];
    await calls.note(noted, [makeTurns("ana", "2026-11-21", 3), makeTurns("bea", "2026-11-21", 4)]);
    const before = sortSums(await calls.sums({ project: "p" }));
    await calls.unname({ project: "p", user: "ana" });
    // Twice: a user may say something again and have it erased again.
    await calls.note([], [makeTurns("ana", "2026-11-21", 2)]);
    await calls.unname({ project: "p", user: "ana" });
    expect(sortSums(await calls.sums({ project: "p" }))).toEqual(before);
    expect(await calls.turns({ project: "p" })).toBe(9);
    expect([
      await readTotal(calls, { project: "p", user: "ana" }),
      await calls.turns({ project: "p", user: "ana" }),
    ]).toEqual([0, 0]);
    expect(JSON.stringify(await calls.list({ limit: 10 }))).not.toContain("ana");
    expect(await readTotal(calls, { project: "p", user: "bea" })).toBe(1);
  },

  "removes older calls": async (calls) => {
    await calls.note(
      [makeModelCall({ id: "1", at: "2025-10-01T00:00:00.000Z" }), makeModelCall({ id: "2" })],
      [makeTurns("ana", "2025-10-01", 3), makeTurns("ana", "2026-11-21", 4)],
    );
    expect(await calls.removeBefore("2025-10-17T00:00:00.000Z")).toBe(1);
    expect((await calls.list({ limit: 10 })).map(({ id }) => id)).toEqual(["2"]);
    expect(await calls.turns({})).toBe(4);
  },

  "returns copies that the caller may change": async (calls) => {
    const given = makeModelCall({ id: "1" });
    await calls.note([given]);
    Object.assign(given, { cost: 100 });
    const [held] = await calls.list({ limit: 1 });
    Object.assign(held ?? {}, { cost: 100 });
    expect((await calls.list({ limit: 1 }))[0]?.cost).toBe(0.00018);
  },
};
