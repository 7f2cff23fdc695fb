import type { ModelCall } from "../../../domain/model-usage.ts";
import type { CallFilter, CallSum, Calls, StoredTurns } from "../../../ports/language/model-calls.ts";
import type { SqliteDatabase, SqliteRow } from "../database.ts";
import { checkNames } from "../database.ts";

/** The condition of each bound on a call. The query contains only the bounds that are given; otherwise no index would serve it. */
const CALL_FILTERS: { readonly [name in keyof CallFilter]: string } = {
  project: "project = :project",
  user: "user = :user",
  from: "at >= :from",
  to: "at < :to",
};
/** The same for turns, which are stored by day. */
const TURN_FILTERS: typeof CALL_FILTERS = {
  ...CALL_FILTERS,
  from: "day >= substr(:from, 1, 10)",
  to: "day || 'T00:00:00.000Z' < :to",
};

type RunCallLedgerWork = <Result>(work: () => Result | Promise<Result>) => Promise<Result>;

/** The ledger of model calls, in the database file of the store, over its connection. */
export function createSqliteCallLedger(database: SqliteDatabase, run: RunCallLedgerWork): Calls {
  return {
    note: (calls, turns = []) => run(() => saveCalls(database, calls, turns)),
    sums: (filter) => run(() => sumCalls(database, filter)),
    turns: (filter) => run(() => countTurns(database, filter)),
    list: (filter) => run(() => listCalls(database, filter)),
    unname: ({ project, user }) => run(() => anonymizeCalls(database, project, user)),
    removeBefore: (at) => run(() => removeCallsBefore(database, at)),
  };
}

function saveCalls(
  database: SqliteDatabase,
  calls: readonly ModelCall[],
  turns: readonly StoredTurns[],
): void {
  for (const { project, user } of [...calls, ...turns]) checkNames(project, user ?? "");
  database.transaction(() => {
    for (const call of calls) saveCall(database, call);
    const add = database.statement(
      "INSERT INTO turns (project, user, day, turns) VALUES (:project, :user, :day, :turns) " +
        "ON CONFLICT (project, user, day) DO UPDATE SET turns = turns + excluded.turns",
    );
    for (const { project, user, day, turns: count } of turns) add.run({ project, user, day, turns: count });
  });
}

/** Adds a call; an existing one with its id is kept. */
export function saveCall(database: SqliteDatabase, call: ModelCall): void {
  const { user = null, cost = null, isEstimated = false, ...one } = call;
  database
    .statement(
      "INSERT OR IGNORE INTO calls (id, project, user, at, purpose, model, host, outcome, units, tokens_in, tokens_cached, " +
        "tokens_out, is_estimated, ms, cost) VALUES (:id, :project, :user, :at, :purpose, :model, :host, :outcome, :units, " +
        ":tokensIn, :tokensCached, :tokensOut, :isEstimated, :ms, :cost)",
    )
    .run({ ...toCallColumns(one), user, cost, isEstimated: isEstimated ? 1 : 0 });
}

/** Copies fields by name, so that a field without a column is not passed on. */
function toCallColumns(call: Omit<ModelCall, "user" | "cost" | "isEstimated">): {
  [column: string]: string | number;
} {
  const { id, project, at, purpose, model, host, outcome, units, tokensIn, tokensCached, tokensOut, ms } =
    call;
  return { id, project, at, purpose, model, host, outcome, units, tokensIn, tokensCached, tokensOut, ms };
}

/** The condition and its values. */
function buildCallFilter(
  { project, user, from, to }: CallFilter,
  conditions: typeof CALL_FILTERS,
): { readonly where: string; readonly values: { [name: string]: string } } {
  const given = Object.entries({ project, user, from, to }).filter(
    (bound): bound is [keyof CallFilter, string] => bound[1] !== undefined,
  );
  const where = given.map(([name]) => conditions[name]).join(" AND ");
  return { where: where === "" ? "true" : where, values: Object.fromEntries(given) };
}

function sumCalls(database: SqliteDatabase, filter: Parameters<Calls["sums"]>[0]): CallSum[] {
  const by = filter.by === "day" ? "substr(at, 1, 10)" : filter.by === "outcome" ? "outcome" : "NULL";
  const { where, values } = buildCallFilter(filter, CALL_FILTERS);
  return database
    .statement(
      `SELECT purpose, model, ${by} AS part, count(*) AS calls, sum(outcome <> 'ok') AS failed, sum(units) AS units, ` +
        "sum(tokens_in) AS tokens_in, sum(tokens_cached) AS tokens_cached, sum(tokens_out) AS tokens_out, " +
        "total(cost) AS cost, sum(cost IS NULL) AS unpriced, total(ms) AS ms " +
        `FROM calls WHERE ${where} GROUP BY 1, 2, 3`,
    )
    .all(values)
    .map((row) => ({
      purpose: String(row.purpose) as CallSum["purpose"],
      model: String(row.model),
      ...(filter.by === undefined ? {} : { [filter.by]: String(row.part) }),
      calls: Number(row.calls),
      failed: Number(row.failed),
      units: Number(row.units),
      tokensIn: Number(row.tokens_in),
      tokensCached: Number(row.tokens_cached),
      tokensOut: Number(row.tokens_out),
      cost: Number(row.cost),
      unpriced: Number(row.unpriced),
      ms: Number(row.ms),
    }));
}

function countTurns(database: SqliteDatabase, filter: CallFilter): number {
  const { where, values } = buildCallFilter(filter, TURN_FILTERS);
  const row = database.statement(`SELECT total(turns) AS found FROM turns WHERE ${where}`).get(values);
  return Number(row?.found);
}

function listCalls(database: SqliteDatabase, filter: CallFilter & { readonly limit: number }): ModelCall[] {
  const { where, values } = buildCallFilter(filter, CALL_FILTERS);
  return database
    .statement(`SELECT * FROM calls WHERE ${where} ORDER BY at DESC, number DESC LIMIT :limit`)
    .all({ ...values, limit: filter.limit })
    .map(toModelCall);
}

export function toModelCall(row: SqliteRow): ModelCall {
  return {
    id: String(row.id),
    project: String(row.project),
    ...(row.user === null ? {} : { user: String(row.user) }),
    at: String(row.at),
    purpose: String(row.purpose) as ModelCall["purpose"],
    model: String(row.model),
    host: String(row.host),
    outcome: String(row.outcome) as ModelCall["outcome"],
    units: Number(row.units),
    tokensIn: Number(row.tokens_in),
    tokensCached: Number(row.tokens_cached),
    tokensOut: Number(row.tokens_out),
    ...(row.is_estimated === 1 ? { isEstimated: true } : {}),
    ms: Number(row.ms),
    ...(row.cost === null ? {} : { cost: Number(row.cost) }),
  };
}

function anonymizeCalls(database: SqliteDatabase, project: string, user: string): void {
  database.transaction(() => {
    const whose = { project, user };
    database.statement("UPDATE calls SET user = NULL WHERE project = :project AND user = :user").run(whose);
    database
      .statement(
        "INSERT INTO turns (project, user, day, turns) SELECT project, '', day, turns FROM turns " +
          "WHERE project = :project AND user = :user " +
          "ON CONFLICT (project, user, day) DO UPDATE SET turns = turns + excluded.turns",
      )
      .run(whose);
    database.statement("DELETE FROM turns WHERE project = :project AND user = :user").run(whose);
  });
}

function removeCallsBefore(database: SqliteDatabase, at: string): number {
  return database.transaction(() => {
    database.statement("DELETE FROM turns WHERE day < substr(:at, 1, 10)").run({ at });
    return Number(database.statement("DELETE FROM calls WHERE at < :at").run({ at }).changes);
  });
}
