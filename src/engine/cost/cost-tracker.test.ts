import { randomUUID } from "node:crypto";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { memoryCalls } from "../../adapters/memory/index.ts";
import type { Budgets, CallReport } from "../../domain/model-usage.ts";
import { isMemoryError } from "../../errors.ts";
import type { Calls } from "../../ports/language/model-calls.ts";
import { type CostOptions, type CostTracker, createCostTracker } from "./cost-tracker.ts";

const ANA = { project: "p", user: "ana" };
const BEA = { project: "p", user: "bea" };

/** 1,000 tokens at $1 a million: a tenth of a cent. */
const REPORT: CallReport = {
  purpose: "understand",
  model: "m",
  host: "h",
  outcome: "ok",
  units: 4,
  tokensIn: 1000,
  tokensCached: 0,
  tokensOut: 0,
  ms: 20,
};
const PRICES = [{ model: "m", in: 1 }];
const SIZE = { model: "m", tokensIn: 1000, tokensOut: 0 };

function keeper(more: CostOptions & { calls?: Calls; at?: string } = {}) {
  const { calls = memoryCalls(), at = "2026-11-21T10:00:00.000Z", ...options } = more;
  let now = new Date(at);
  const costs = createCostTracker(
    { calls, clock: () => now, ids: randomUUID },
    { prices: PRICES, ...options },
  );
  return { costs, calls, setTime: (to: string) => (now = new Date(to)) };
}

/** Asks and makes a call, as an adapter does; whether it was let through. */
async function call(costs: CostTracker, scope = ANA, report: Partial<CallReport> = {}): Promise<boolean> {
  try {
    await costs.mayCall(report.purpose ?? "understand", scope, SIZE);
  } catch (error) {
    if (isMemoryError(error) && error.code === "over_quota") return false;
    throw error;
  }
  costs.onCall({ ...REPORT, ...report }, scope);
  return true;
}

const spent = async (costs: CostTracker): Promise<number> =>
  (await (await costs.ledger()).sums({})).reduce((sum, { cost }) => sum + cost, 0);

describe("the ledger", () => {
  it("has every call with its price, user and time, and no other field", async () => {
    const { costs } = keeper();
    costs.onCall(
      { ...REPORT, prompt: "I live in Porto." } as CallReport,
      { ...ANA, session: "s" } as typeof ANA,
    );
    costs.onCall({ ...REPORT, model: "unpriced" });
    const [nobodys, anas] = await (await costs.ledger()).list({ limit: 9 });
    expect(anas).toEqual({
      ...REPORT,
      ...ANA,
      id: expect.any(String),
      at: "2026-11-21T10:00:00.000Z",
      cost: 0.001,
    });
    expect(nobodys).toEqual({
      ...REPORT,
      project: "",
      model: "unpriced",
      id: expect.any(String),
      at: anas?.at,
    });
  });

  it("has calls of a project without a user, and counts them against its budget", async () => {
    const { costs } = keeper({ budgets: { project: { day: { usd: 0.001 } }, user: { day: { usd: 0 } } } });
    await costs.mayCall("understand", { project: "p" }, SIZE);
    costs.onCall(REPORT, { project: "p" });
    expect(await (await costs.ledger()).list({ project: "p", limit: 9 })).toHaveLength(1);
    await expect(costs.mayCall("understand", { project: "p" })).rejects.toMatchObject({ code: "over_quota" });
  });

  it("has valid model names only, whatever a client sends", async () => {
    const { costs } = keeper();
    costs.onCall({ ...REPORT, purpose: "chat", model: "I live in Porto." }, ANA);
    costs.onCall({ ...REPORT, purpose: "chat", model: "meta-llama/Llama-3.1-8B:free" }, ANA);
    const models = (await (await costs.ledger()).list({ limit: 9 })).map(({ model }) => model);
    expect(models).toEqual(["meta-llama/Llama-3.1-8B:free", "other"]);
  });

  it("does not have calls that never left this machine", async () => {
    const { costs } = keeper();
    for (const outcome of ["over_budget", "not_tried", "timeout"] as const)
      costs.onCall({ ...REPORT, outcome }, ANA);
    expect((await (await costs.ledger()).list({ limit: 9 })).map(({ outcome }) => outcome)).toEqual([
      "timeout",
    ]);
  });

  it("is written when it closes", async () => {
    const { costs, calls } = keeper();
    costs.onCall(REPORT, ANA);
    costs.recordTurns(ANA, 3);
    expect(await calls.list({ limit: 9 })).toEqual([]);
    await costs.close();
    expect([(await calls.list({ limit: 9 })).length, await calls.turns({})]).toEqual([1, 3]);
  });

  it("fails no call when it is not writable, and catches up later", async () => {
    const inner = memoryCalls();
    let isDown = true;
    const note: Calls["note"] = async (...all) => {
      if (isDown) throw new Error("the disk is full");
      return inner.note(...all);
    };
    const { costs } = keeper({ calls: { ...inner, note }, budgets: { project: { day: { usd: 1 } } } });
    expect(await call(costs)).toBe(true);
    costs.recordTurns(ANA, 2);
    await costs.ledger();
    expect(await call(costs)).toBe(true);
    isDown = false;
    expect(await spent(costs)).toBeCloseTo(0.002, 9);
    expect(await inner.turns({})).toBe(2);
  });

  it("removes a user's name from written and pending calls", async () => {
    const { costs } = keeper();
    costs.onCall(REPORT, ANA);
    await costs.ledger();
    costs.onCall(REPORT, ANA);
    costs.onCall(REPORT, BEA);
    await costs.anonymizeUser(ANA);
    const held = await (await costs.ledger()).list({ limit: 9 });
    expect(held.map(({ user }) => user).sort()).toEqual(["bea", undefined, undefined]);
  });

  it("keeps calls for the configured time", async () => {
    const { costs, setTime } = keeper({ keepDays: 30 });
    costs.onCall(REPORT, ANA);
    await costs.ledger();
    setTime("2026-12-21T09:00:00.000Z");
    expect(await costs.cleanUp()).toBe(0);
    setTime("2026-12-21T11:00:00.000Z");
    expect(await costs.cleanUp()).toBe(1);
  });
});

describe("a budget", () => {
  const day = (usd: number): { budgets: Budgets } => ({ budgets: { project: { day: { usd } } } });

  it("stops calls once it is used up, says which and until when, and names no one", async () => {
    const { costs } = keeper(day(0.003));
    const through = [];
    for (let i = 0; i < 5; i += 1) through.push(await call(costs));
    expect(through).toEqual([true, true, true, false, false]);
    await expect(costs.mayCall("answer", ANA)).rejects.toMatchObject({
      code: "over_quota",
      message:
        "the budget of this project for the day ($0.003) is used up. Models are asked again from " +
        "2026-11-22T00:00:00.000Z on; KEEPSAKE_BUDGET_PROJECT_DAY_USD sets it.",
    });
  });

  it("never stops a passed-on chat, and does not count it", async () => {
    const { costs } = keeper(day(0.001));
    for (let i = 0; i < 5; i += 1) expect(await call(costs, ANA, { purpose: "chat" })).toBe(true);
    expect(await call(costs)).toBe(true);
    expect(await call(costs)).toBe(false);
    expect(await call(costs, ANA, { purpose: "chat" })).toBe(true);
  });

  it("is exceeded by many concurrent calls by at most the size of one", async () => {
    const { costs } = keeper(day(0.0105));
    const through = await Promise.all(
      Array.from({ length: 100 }, async () => {
        try {
          await costs.mayCall("understand", ANA, SIZE);
        } catch {
          return false;
        }
        await new Promise((resolve) => setTimeout(resolve, 5));
        costs.onCall(REPORT, ANA);
        return true;
      }),
    );
    expect(through.filter(Boolean)).toHaveLength(11);
    expect(await spent(costs)).toBeCloseTo(0.011, 9);
  });

  it("is exceeded by at most the largest call in progress, whatever the sizes and order", async () => {
    const sizes = fc.array(fc.integer({ min: 1, max: 5000 }), { minLength: 1, maxLength: 40 });
    await fc.assert(
      fc.asyncProperty(sizes, fc.integer({ min: 1, max: 20_000 }), async (tokens, limit) => {
        const { costs } = keeper({ budgets: { user: { day: { tokens: limit } } } });
        await Promise.all(
          tokens.map(async (tokensIn) => {
            const size = { model: "m", tokensIn, tokensOut: 0 };
            const isThrough = await costs.mayCall("answer", ANA, size).then(
              () => true,
              () => false,
            );
            await new Promise((resolve) => setImmediate(resolve));
            if (isThrough) costs.onCall({ ...REPORT, purpose: "answer", tokensIn }, ANA);
          }),
        );
        const [sum] = await (await costs.ledger()).sums({});
        expect(sum?.tokensIn ?? 0).toBeLessThan(limit + Math.max(...tokens));
      }),
      { numRuns: 60 },
    );
  });

  it("reserves the size of earlier calls when no size is given", async () => {
    const { costs } = keeper(day(0.0105));
    await call(costs);
    const through = await Promise.allSettled(
      Array.from({ length: 50 }, () => costs.mayCall("understand", ANA)),
    );
    expect(through.filter(({ status }) => status === "fulfilled")).toHaveLength(10);
  });

  it("frees the reservation of a call that was never made or reported", async () => {
    const { costs, setTime } = keeper(day(0.001));
    await costs.mayCall("understand", ANA, SIZE);
    expect(await call(costs)).toBe(false);
    costs.onCall({ ...REPORT, outcome: "not_tried", tokensIn: 0 }, ANA);
    await costs.mayCall("understand", ANA, SIZE);
    setTime("2026-11-21T10:09:00.000Z");
    expect(await call(costs)).toBe(false);
    setTime("2026-11-21T10:11:00.000Z");
    expect(await call(costs)).toBe(true);
  });

  it("resets each day and each month", async () => {
    const { costs, setTime } = keeper({
      budgets: { project: { day: { usd: 0.001 }, month: { usd: 0.003 } } },
    });
    const days = ["11-21", "11-22", "11-23", "11-24", "12-01", "12-02"];
    const through = [];
    for (const each of days) {
      setTime(`2026-${each}T23:59:59.000Z`);
      through.push([await call(costs), await call(costs)]);
    }
    const [once, never] = [
      [true, false],
      [false, false],
    ];
    expect(through).toEqual([once, once, once, never, once, once]);
  });

  it("counts each user separately, and tokens when dollars are unknown", async () => {
    const { costs } = keeper({ budgets: { user: { day: { tokens: 1500 } } } });
    const free = { model: "nobody priced this" };
    expect([
      await call(costs, ANA, free),
      await call(costs, ANA, free),
      await call(costs, ANA, free),
    ]).toEqual([true, true, false]);
    expect(await call(costs, BEA, free)).toBe(true);
    expect(await call(costs, { project: "q", user: "ana" }, free)).toBe(true);
  });

  it("counts spending from before a restart", async () => {
    const calls = memoryCalls();
    const before = keeper({ ...day(0.002), calls });
    expect([await call(before.costs), await call(before.costs)]).toEqual([true, true]);
    await before.costs.close();
    expect(await call(keeper({ ...day(0.002), calls }).costs)).toBe(false);
  });

  it("sees within ten seconds what another process has spent", async () => {
    const calls = memoryCalls();
    const [one, other] = [
      keeper({ ...day(0.002), calls }),
      keeper({ ...day(0.002), calls, at: "2026-11-21T10:00:00.001Z" }),
    ];
    expect(await call(one.costs)).toBe(true);
    expect([await call(other.costs), await call(other.costs)]).toEqual([true, true]);
    await other.costs.close();
    one.setTime("2026-11-21T10:00:11.000Z");
    expect(await call(one.costs)).toBe(false);
  });

  it("counts a call once while the ledger is read and written at the same time", async () => {
    const { costs, setTime } = keeper(day(1000));
    for (let i = 0; i < 50; i += 1) {
      setTime(new Date(Date.parse("2026-11-21T10:00:00Z") + i * 11_000).toISOString());
      const reading = costs.budgets(ANA);
      const writing = costs.ledger();
      costs.onCall({ ...REPORT, model: `m` }, ANA);
      await Promise.all([reading, writing]);
    }
    expect((await costs.budgets(ANA))[0]?.spent).toBeCloseTo(0.05, 9);
    setTime("2026-11-21T12:00:00.000Z");
    expect((await costs.budgets(ANA))[0]).toMatchObject({
      of: "project",
      per: "day",
      unit: "usd",
      limit: 1000,
    });
    expect((await costs.budgets(ANA))[0]?.spent).toBeCloseTo(0.05, 9);
  });

  it("is refused when it is not a number", () => {
    for (const usd of [-1, Number.NaN, "5" as never]) expect(() => keeper(day(usd))).toThrow(/budgets/);
  });

  it("of zero stops the first call", async () => {
    expect(await call(keeper(day(0)).costs)).toBe(false);
  });
});
