import { MEMORY_KINDS, type Memory } from "../../domain/memory.ts";
import {
  type CallTotals,
  type ProjectStats,
  USAGE_BY,
  type Usage,
  type UsageBy,
  type UsageRow,
  type UserStats,
} from "../../domain/model-usage.ts";
import type { Scope } from "../../domain/scope.ts";
import { toIsoTime } from "../../domain/time.ts";
import { invalid } from "../../errors.ts";
import type { CallSum } from "../../ports/language/model-calls.ts";
import type { StatsOptions } from "../api/maintenance-types.ts";
import type { Ports } from "../ports.ts";

type StatsPorts = Pick<Ports, "store" | "states" | "costs" | "clock">;

/** Cost of the calls for a project's users, and the state of its budgets. */
export async function projectStats(
  ports: StatsPorts,
  project: string,
  options: StatsOptions = {},
): Promise<ProjectStats> {
  const usage = await computeUsage(ports, { project }, options);
  return { users: (await ports.store.users(project)).length, usage };
}

/** Counts of what is stored for a user, and its cost. */
export async function userStats(
  ports: StatsPorts,
  scope: Scope,
  options: StatsOptions = {},
): Promise<UserStats> {
  const usage = await computeUsage(ports, { project: scope.project, user: scope.user }, options);
  const { memories, current, links, messages, pending, revision } = await ports.states.of(scope);
  const now = ports.clock().toISOString();
  const isThere = ({ expiresAt }: Memory): boolean => expiresAt === undefined || expiresAt > now;
  const statuses = [...memories.values()].filter(isThere).map(({ status }) => status);
  const kinds = [...current.values()].filter(isThere).map(({ kind }) => kind);
  const [newest] = await ports.store.log(scope, { limit: 1 });
  return {
    total: statuses.length,
    current: countEqual(statuses, "current"),
    superseded: countEqual(statuses, "superseded"),
    retracted: countEqual(statuses, "retracted"),
    kinds: Object.fromEntries(
      MEMORY_KINDS.map((kind) => [kind, countEqual(kinds, kind)]),
    ) as UserStats["kinds"],
    review: [...current.values()].filter((memory) => memory.review && isThere(memory)).length,
    links: links.length,
    messages: messages.size,
    pending,
    revision,
    ...(newest ? { changedAt: newest.at } : {}),
    usage,
  };
}

const NO_CALLS: CallTotals = {
  calls: 0,
  failed: 0,
  tokensIn: 0,
  tokensCached: 0,
  tokensOut: 0,
  cost: 0,
  unpriced: 0,
};

async function computeUsage(
  { costs, clock }: StatsPorts,
  whose: { readonly project: string; readonly user?: string },
  { since, until, by }: StatsOptions,
): Promise<Usage> {
  if (by !== undefined && !USAGE_BY.includes(by)) throw invalid(`by must be one of ${USAGE_BY.join(", ")}.`);
  const from = since === undefined ? {} : { from: toIsoTime(since, "since") };
  const to = until === undefined ? {} : { to: toIsoTime(until, "until") };
  const filter = { ...whose, ...from, ...to };
  const holder = whose.user === undefined ? "project" : "user";
  const ledger = await costs?.ledger();
  const sums = (await ledger?.sums({ ...filter, ...(by === "day" ? { by } : {}) })) ?? [];
  const outcomes = (await ledger?.sums({ ...filter, by: "outcome" })) ?? [];
  const turns = (await ledger?.turns(filter)) ?? 0;
  const ownCalls = sums.filter(({ purpose }) => purpose !== "chat").reduce<CallTotals>(addTotals, NO_CALLS);
  const rows = groupUsage(sums, by).toSorted(
    (one, other) => other.cost - one.cost || other.tokensIn - one.tokensIn,
  );
  return {
    ...(since === undefined ? {} : { since: toIsoTime(since, "since") }),
    until: to.to ?? clock().toISOString(),
    turns,
    ...(turns === 0 ? {} : { costPerThousandTurns: (ownCalls.cost / turns) * 1000 }),
    ...ownCalls,
    chat: sums.filter(({ purpose }) => purpose === "chat").reduce<CallTotals>(addTotals, NO_CALLS),
    rows: by === "day" ? rows.toSorted((one, other) => ((one.day ?? "") < (other.day ?? "") ? -1 : 1)) : rows,
    failures: outcomes.flatMap(({ purpose, model, outcome, calls }) =>
      outcome === undefined || outcome === "ok" ? [] : [{ purpose, model, outcome, calls }],
    ),
    // A user may not see what the whole project has spent.
    budgets: ((await costs?.budgets(whose)) ?? []).filter(({ of }) => of === holder),
  };
}

function groupUsage(sums: readonly CallSum[], by: UsageBy | undefined): UsageRow[] {
  const rows = new Map<string, UsageRow>();
  for (const sum of sums) {
    const { purpose, model } = sum;
    const part = by === undefined ? { purpose, model } : { [by]: sum[by] };
    const key = JSON.stringify(part);
    rows.set(key, { ...part, ...addTotals(rows.get(key) ?? NO_CALLS, sum) });
  }
  return [...rows.values()];
}

function addTotals(one: CallTotals, other: CallTotals): CallTotals {
  return {
    calls: one.calls + other.calls,
    failed: one.failed + other.failed,
    tokensIn: one.tokensIn + other.tokensIn,
    tokensCached: one.tokensCached + other.tokensCached,
    tokensOut: one.tokensOut + other.tokensOut,
    cost: one.cost + other.cost,
    unpriced: one.unpriced + other.unpriced,
  };
}

function countEqual<Value>(values: readonly Value[], wanted: Value): number {
  return values.filter((value) => value === wanted).length;
}
