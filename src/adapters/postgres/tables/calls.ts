import type { ModelCall } from "../../../domain/model-usage.ts";
import type { CallFilter, CallSum, Calls, StoredTurns } from "../../../ports/language/model-calls.ts";
import { compareStrings } from "../../shared/change-rules.ts";
import { checkNames } from "../../shared/stored-rows.ts";
import type { PostgresTransaction, Row, SqlStatement } from "../database/connection.ts";
import { type AccessScope, ALL_PROJECTS, type PostgresDatabase } from "../database/database.ts";
import { decodeNames, decodeText, encodeLongNames, encodeText, toIndexKey } from "../database/user-rows.ts";

/** The ledger of model calls, in the database of the store. */
export function createPostgresCallLedger(database: PostgresDatabase): Calls {
  return {
    note: (calls, turns = []) => storeCalls(database, calls, turns),
    sums: (filter) => sumCalls(database, filter),
    turns: (filter) => countTurns(database, filter),
    list: (filter) => listCalls(database, filter),
    unname: ({ project, user }) => anonymizeCalls(database, project, user),
    removeBefore: (at) => removeCallsBefore(database, at),
  };
}

const INSERT_CALL =
  "INSERT INTO calls (id, project, person, long_names, at, purpose, model, host, outcome, units, tokens_in, tokens_cached, " +
  "tokens_out, is_estimated, ms, cost) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16) " +
  "ON CONFLICT (id) DO NOTHING";
const INSERT_TURNS =
  "INSERT INTO turns (project, person, day, turns) VALUES ($1, $2, $3, $4) " +
  "ON CONFLICT (project, person, day) DO UPDATE SET turns = turns.turns + excluded.turns";

async function storeCalls(
  database: PostgresDatabase,
  calls: readonly ModelCall[],
  turns: readonly StoredTurns[],
): Promise<void> {
  for (const { project, user } of [...calls, ...turns]) checkNames(project, user ?? "");
  if (calls.length === 0 && turns.length === 0) return;
  const [first] = calls;
  const ordered = [...turns].sort((one, other) => compareStrings(toTurnKey(one), toTurnKey(other)));
  await database.write(
    ALL_PROJECTS,
    async (transaction) => {
      for (const call of calls) queueCall(transaction, call);
      for (const { project, user, day, turns: count } of ordered) {
        transaction.queue(INSERT_TURNS, toIndexKey(project), toIndexKey(user), day, count);
      }
    },
    // Turns are added up, so they must not be added twice. They were stored with the first call, or not at all.
    async (transaction) => {
      if (!first) return { was: undefined };
      const found = await transaction.query("SELECT 1 FROM calls WHERE id = $1", toIndexKey(first.id));
      return found.length > 0 ? { was: undefined } : undefined;
    },
  );
}

function toTurnKey({ project, user, day }: StoredTurns): string {
  return JSON.stringify([project, user, day]);
}

export function queueCall(transaction: PostgresTransaction, call: ModelCall): void {
  const { user, cost = null, isEstimated = false } = call;
  transaction.queue(
    INSERT_CALL,
    toIndexKey(call.id),
    toIndexKey(call.project),
    user === undefined ? null : toIndexKey(user),
    encodeLongNames(call.id, call.project, user ?? ""),
    call.at,
    call.purpose,
    encodeText(call.model),
    encodeText(call.host),
    call.outcome,
    call.units,
    call.tokensIn,
    call.tokensCached,
    call.tokensOut,
    isEstimated,
    call.ms,
    cost,
  );
}

type CallFilterSql = { readonly [name in keyof CallFilter]: string };
/** The condition of each bound on a call; `?` is its value. */
const CALL_FILTERS: CallFilterSql = {
  project: "project = ?",
  user: "person = ?",
  from: "at >= ?",
  to: "at < ?",
};
/** The same for turns, which are stored by day. */
const TURN_FILTERS: CallFilterSql = {
  ...CALL_FILTERS,
  from: "day >= left(?, 10)",
  to: "day || 'T00:00:00.000Z' < ?",
};

/** The query contains only the bounds that are given; otherwise no index would serve it. */
function buildCallFilter(
  { project, user, from, to }: CallFilter,
  bounds: CallFilterSql,
): { readonly where: string; readonly values: string[]; readonly reach: AccessScope } {
  const given = Object.entries({
    project: project === undefined ? undefined : toIndexKey(project),
    user: user === undefined ? undefined : toIndexKey(user),
    from,
    to,
  }).filter((bound): bound is [keyof CallFilter, string] => bound[1] !== undefined);
  const where = given.map(([name], i) => (bounds[name] ?? "").replace("?", `$${i + 1}`)).join(" AND ");
  return {
    where: where === "" ? "true" : where,
    values: given.map(([, value]) => value),
    reach: project === undefined ? ALL_PROJECTS : { project: toIndexKey(project) },
  };
}

async function fetchCallRows(
  database: PostgresDatabase,
  reach: AccessScope,
  statement: SqlStatement,
): Promise<readonly Row[]> {
  const [rows = []] = await database.query(reach, statement);
  return rows;
}

async function sumCalls(
  database: PostgresDatabase,
  filter: Parameters<Calls["sums"]>[0],
): Promise<CallSum[]> {
  const by = filter.by === "day" ? "left(at, 10)" : filter.by === "outcome" ? "outcome" : "NULL::text";
  const { where, values, reach } = buildCallFilter(filter, CALL_FILTERS);
  const sql =
    `SELECT purpose, model, ${by} AS part, count(*) AS calls, count(*) FILTER (WHERE outcome <> 'ok') AS failed, ` +
    "sum(units) AS units, sum(tokens_in) AS tokens_in, sum(tokens_cached) AS tokens_cached, sum(tokens_out) AS tokens_out, " +
    "coalesce(sum(cost), 0) AS cost, count(*) FILTER (WHERE cost IS NULL) AS unpriced, sum(ms) AS ms " +
    `FROM calls WHERE ${where} GROUP BY 1, 2, 3`;
  return (await fetchCallRows(database, reach, { sql, values })).map((row) => ({
    purpose: row.purpose as CallSum["purpose"],
    model: decodeText(row.model),
    ...(filter.by === undefined ? {} : { [filter.by]: row.part ?? "" }),
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

async function countTurns(database: PostgresDatabase, filter: CallFilter): Promise<number> {
  const { where, values, reach } = buildCallFilter(filter, TURN_FILTERS);
  const sql = `SELECT coalesce(sum(turns), 0) AS found FROM turns WHERE ${where}`;
  return Number((await fetchCallRows(database, reach, { sql, values }))[0]?.found);
}

async function listCalls(
  database: PostgresDatabase,
  filter: CallFilter & { readonly limit: number },
): Promise<ModelCall[]> {
  const { where, values, reach } = buildCallFilter(filter, CALL_FILTERS);
  const sql =
    "SELECT id, project, person, long_names, at, purpose, model, host, outcome, units, tokens_in, tokens_cached, tokens_out, " +
    `is_estimated, ms, cost FROM calls WHERE ${where} ORDER BY at DESC, number DESC LIMIT $${values.length + 1}`;
  return (await fetchCallRows(database, reach, { sql, values: [...values, filter.limit] })).map(
    parseModelCall,
  );
}

/** Parses a row as a model call. */
export function parseModelCall(row: Row): ModelCall {
  const [id = "", project = "", user = ""] = decodeNames(row.long_names, row.id, row.project, row.person);
  return {
    id,
    project,
    ...(row.person === null ? {} : { user }),
    at: row.at ?? "",
    purpose: row.purpose as ModelCall["purpose"],
    model: decodeText(row.model),
    host: decodeText(row.host),
    outcome: row.outcome as ModelCall["outcome"],
    units: Number(row.units),
    tokensIn: Number(row.tokens_in),
    tokensCached: Number(row.tokens_cached),
    tokensOut: Number(row.tokens_out),
    ...(row.is_estimated === "t" ? { isEstimated: true } : {}),
    ms: Number(row.ms),
    ...(row.cost === null ? {} : { cost: Number(row.cost) }),
  };
}

const ANONYMIZE_TURNS =
  "WITH taken AS (DELETE FROM turns WHERE project = $1 AND person = $2 RETURNING day, turns) " +
  "INSERT INTO turns (project, person, day, turns) SELECT $1, '', day, turns FROM taken " +
  "ON CONFLICT (project, person, day) DO UPDATE SET turns = turns.turns + excluded.turns";

async function anonymizeCalls(database: PostgresDatabase, project: string, user: string): Promise<void> {
  const keys = [toIndexKey(project), toIndexKey(user)];
  await database.write({ project: toIndexKey(project) }, async (transaction) => {
    transaction.queue(
      "UPDATE calls SET person = NULL, long_names = NULL WHERE project = $1 AND person = $2",
      ...keys,
    );
    transaction.queue(ANONYMIZE_TURNS, ...keys);
  });
}

function removeCallsBefore(database: PostgresDatabase, at: string): Promise<number> {
  return database.write(ALL_PROJECTS, async (transaction) => {
    transaction.queue("DELETE FROM turns WHERE day < left($1, 10)", at);
    const sql =
      "WITH removed AS (DELETE FROM calls WHERE at < $1 RETURNING 1) SELECT count(*) AS found FROM removed";
    return Number((await transaction.query(sql, at))[0]?.found);
  });
}
