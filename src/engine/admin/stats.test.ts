import { expect, it } from "vitest";
import type { CallReport } from "../../domain/model-usage.ts";
import { createMemory } from "../../memory.ts";
import type { MemoryOptions } from "../../memory-options.ts";
import type { OnCall } from "../../ports/language/model-calls.ts";
import { hashEmbedder } from "../../testing/test-doubles.ts";

const REPORT: CallReport = {
  purpose: "understand",
  model: "gpt-4o-mini-2024-07-18",
  host: "api.openai.com",
  outcome: "ok",
  units: 8,
  tokensIn: 1_000_000,
  tokensCached: 0,
  tokensOut: 0,
  ms: 900,
};

/** Tells of a call of the memory's own, as its adapters do. */
let called: OnCall;

const open = (options: MemoryOptions = {}) =>
  createMemory({
    path: ":memory:",
    clock: () => new Date("2026-11-21T10:00:00Z"),
    embedder: ({ onCall = () => {} }) => {
      called = onCall;
      return hashEmbedder();
    },
    ...options,
  });

it("reports the cost of a project and a user, per 1,000 turns, and the chat separately", async () => {
  await using memory = await open({
    costs: { budgets: { project: { day: { usd: 1 } }, user: { month: { tokens: 5e6 } } } },
  });
  const ana = memory.scope({ user: "ana" });
  for (const text of ["I live in Porto.", "I use Shram."]) await ana.remember(text);
  await memory.scope({ user: "bea" }).remember("I live in Ghent.");
  const scope = { project: "default", user: "ana" };
  called(REPORT, scope);
  called({ ...REPORT, purpose: "embed", model: "text-embedding-3-small", outcome: "timeout" }, scope);
  memory.onCall({ ...REPORT, tokensOut: 1_000_000 }, scope);
  called({ ...REPORT, model: "qwen3" }, { project: "default", user: "bea" });
  called(REPORT, { project: "other", user: "ana" });

  const { users, usage } = await memory.stats();
  expect(users).toBe(2);
  expect(usage).toMatchObject({ turns: 3, calls: 3, failed: 1, tokensIn: 3_000_000, unpriced: 1 });
  expect(usage.until).toBe("2026-11-21T10:00:00.000Z");
  expect(usage.cost).toBeCloseTo(0.17, 9);
  expect(usage.costPerThousandTurns).toBeCloseTo((0.17 / 3) * 1000, 9);
  expect(usage.chat).toMatchObject({ calls: 1, cost: 0.75 });
  expect(usage.rows.map(({ purpose, model }) => [purpose, model])).toEqual([
    ["chat", "gpt-4o-mini-2024-07-18"],
    ["understand", "gpt-4o-mini-2024-07-18"],
    ["embed", "text-embedding-3-small"],
    ["understand", "qwen3"],
  ]);
  expect(usage.failures).toEqual([
    { purpose: "embed", model: "text-embedding-3-small", outcome: "timeout", calls: 1 },
  ]);
  expect(usage.budgets).toEqual([
    {
      of: "project",
      per: "day",
      unit: "usd",
      limit: 1,
      spent: expect.closeTo(0.17, 9),
      left: expect.closeTo(0.83, 9),
      until: "2026-11-22T00:00:00.000Z",
    },
  ]);

  const own = await ana.stats({ by: "purpose" });
  expect(own).toMatchObject({ total: 2, current: 2, messages: 2, pending: 0, usage: { turns: 2, calls: 2 } });
  expect(own.kinds.fact + own.kinds.preference).toBe(2);
  expect(own.usage.rows.map(({ purpose, calls }) => [purpose, calls])).toEqual([
    ["chat", 1],
    ["understand", 1],
    ["embed", 1],
  ]);
  expect(own.usage.budgets.map(({ of, unit }) => [of, unit])).toEqual([["user", "tokens"]]);
});

it("reports the cost of a period by day, oldest first", async () => {
  let now = new Date("2026-11-19T10:00:00Z");
  await using memory = await open({ clock: () => now });
  for (const day of ["19", "20", "21"]) {
    now = new Date(`2026-11-${day}T10:00:00Z`);
    await memory.scope({ user: "ana" }).remember(`I bought ${day} apples.`);
    called(REPORT, { project: "default", user: "ana" });
  }
  const { usage } = await memory.stats({ since: "2026-11-20T00:00:00Z", by: "day" });
  expect(usage.rows.map(({ day, calls }) => [day, calls])).toEqual([
    ["2026-11-20", 1],
    ["2026-11-21", 1],
  ]);
  expect([usage.turns, usage.calls]).toEqual([2, 2]);
  expect((await memory.stats({ until: "2026-11-20T00:00:00Z" })).usage).toMatchObject({ turns: 1, calls: 1 });
  await expect(memory.stats({ since: "soon" })).rejects.toMatchObject({ code: "invalid_input" });
  await expect(memory.stats({ by: "user" as never })).rejects.toMatchObject({ code: "invalid_input" });
});

it("reports no cost when no model was called", async () => {
  await using memory = await open();
  const { usage } = await memory.stats();
  expect(usage).toMatchObject({ turns: 0, calls: 0, cost: 0, rows: [], failures: [], budgets: [] });
  expect(usage).not.toHaveProperty("costPerThousandTurns");
});

it("counts a repeated message once", async () => {
  await using memory = await open();
  const ana = memory.scope({ user: "ana" });
  for (let i = 0; i < 2; i += 1) await ana.remember({ id: "m1", role: "user", content: "I live in Porto." });
  expect((await ana.stats()).usage.turns).toBe(1);
});

it("removes the name of a user whose whole memory was erased, and keeps the totals", async () => {
  await using memory = await open();
  const ana = memory.scope({ user: "ana" });
  await ana.remember("I live in Porto. I use Shram and Magnet.");
  called(REPORT, { project: "default", user: "ana" });
  await ana.forget("Magnet");
  expect((await ana.stats()).usage.calls).toBe(1);
  await ana.forget({ everything: true });
  expect((await ana.stats()).usage).toMatchObject({ calls: 0, turns: 0 });
  expect((await memory.stats()).usage).toMatchObject({ calls: 1, turns: 1 });
});
