import type { ModelCall } from "../../../domain/model-usage.ts";
import type { CallFilter, CallSum, Calls, StoredTurns } from "../../../ports/language/model-calls.ts";
import { compareStrings } from "../../shared/change-rules.ts";
import { checkNames } from "../../shared/stored-rows.ts";
import type { MariadbDatabase, MariadbRow, MariadbTransaction } from "../database.ts";
import { insertMariadbRows } from "../database.ts";
import { parseNames, toLongNames, toMariadbKey } from "../keys.ts";

/** The ledger of model calls, in the database of the store. */
export function createMariadbCallLedger(database: MariadbDatabase): Calls {
  return {
    note: (calls, turns = []) => storeCalls(database, calls, turns),
    sums: (filter) => sumCalls(database, filter),
    async turns(filter) {
      const { where, values } = buildCallFilter(filter, TURN_FILTERS);
      const sql = `SELECT COALESCE(SUM(turns), 0) AS found FROM turns WHERE ${where}`;
      return Number((await database.query(sql, ...values))[0]?.found);
    },
    async list(filter) {
      const { where, values } = buildCallFilter(filter, CALL_FILTERS);
      const sql = `SELECT * FROM calls WHERE ${where} ORDER BY at DESC, number DESC LIMIT ?`;
      return (await database.query(sql, ...values, filter.limit)).map(parseMariadbCall);
    },
    unname: ({ project, user }) =>
      database.write(async (transaction) => {
        const keys = [toMariadbKey(project), toMariadbKey(user)];
        await transaction.run(
          "UPDATE calls SET person = NULL, long_names = NULL WHERE project = ? AND person = ?",
          ...keys,
        );
        const sql = "SELECT day, turns FROM turns WHERE project = ? AND person = ? FOR UPDATE";
        const rows = await transaction.query(sql, ...keys);
        await transaction.run("DELETE FROM turns WHERE project = ? AND person = ?", ...keys);
        const unnamed = rows.map(({ day, turns }) => ({ project: keys[0], person: "", day, turns }));
        await insertMariadbRows(transaction, "turns", unnamed, ADD_TURNS);
      }),
    removeBefore: (at) =>
      database.write(async (transaction) => {
        await transaction.run("DELETE FROM turns WHERE day < LEFT(?, 10)", at);
        return transaction.run("DELETE FROM calls WHERE at < ?", at);
      }),
  };
}

const ADD_TURNS = "ON DUPLICATE KEY UPDATE turns = turns + VALUES(turns)";
const KEEP_CALL = "ON DUPLICATE KEY UPDATE number = number";

async function storeCalls(
  database: MariadbDatabase,
  calls: readonly ModelCall[],
  turns: readonly StoredTurns[],
): Promise<void> {
  for (const { project, user } of [...calls, ...turns]) checkNames(project, user ?? "");
  if (calls.length === 0 && turns.length === 0) return;
  const [first] = calls;
  const ordered = [...turns].sort((one, other) => compareStrings(toTurnOrder(one), toTurnOrder(other)));
  await database.write<void>(
    async (transaction) => {
      await insertMariadbCalls(transaction, calls);
      await insertMariadbRows(transaction, "turns", ordered.map(toTurnsRow), ADD_TURNS);
    },
    // Turns are added up, so they must not be added twice. They were stored with the first call, or not at all.
    async (transaction) => {
      if (!first) return { was: undefined };
      const sql = "SELECT 1 AS found FROM calls WHERE id = ? FOR UPDATE";
      const found = await transaction.query(sql, toMariadbKey(first.id));
      return found.length > 0 ? { was: undefined } : undefined;
    },
  );
}

function toTurnOrder({ project, user, day }: StoredTurns): string {
  return JSON.stringify([project, user, day]);
}

/** The columns of counted turns. */
export function toTurnsRow({ project, user, day, turns }: StoredTurns): MariadbRow {
  return { project: toMariadbKey(project), person: toMariadbKey(user), day, turns };
}

/** Adds calls; existing ones are kept. */
export function insertMariadbCalls(
  transaction: MariadbTransaction,
  calls: readonly ModelCall[],
): Promise<void> {
  const rows = calls.map((call) => ({
    id: toMariadbKey(call.id),
    project: toMariadbKey(call.project),
    person: call.user === undefined ? null : toMariadbKey(call.user),
    long_names: toLongNames(call.id, call.project, call.user ?? ""),
    at: call.at,
    purpose: call.purpose,
    model: call.model.toWellFormed(),
    host: call.host.toWellFormed(),
    outcome: call.outcome,
    units: call.units,
    tokens_in: call.tokensIn,
    tokens_cached: call.tokensCached,
    tokens_out: call.tokensOut,
    is_estimated: call.isEstimated ? 1 : 0,
    ms: call.ms,
    cost: call.cost ?? null,
  }));
  return insertMariadbRows(transaction, "calls", rows, KEEP_CALL);
}

type CallConditions = { readonly [name in keyof CallFilter]: string };
const CALL_FILTERS: CallConditions = {
  project: "project = ?",
  user: "person = ?",
  from: "at >= ?",
  to: "at < ?",
};
/** The same for turns, which are stored by day. */
const TURN_FILTERS: CallConditions = {
  ...CALL_FILTERS,
  from: "day >= LEFT(?, 10)",
  to: "CONCAT(day, 'T00:00:00.000Z') < ?",
};

/** The query contains only the bounds that are given; otherwise no index would serve it. */
function buildCallFilter(
  { project, user, from, to }: CallFilter,
  conditions: CallConditions,
): { readonly where: string; readonly values: string[] } {
  const given = Object.entries({
    project: project === undefined ? undefined : toMariadbKey(project),
    user: user === undefined ? undefined : toMariadbKey(user),
    from,
    to,
  }).filter((bound): bound is [keyof CallFilter, string] => bound[1] !== undefined);
  const where = given.map(([name]) => conditions[name]).join(" AND ");
  return { where: where === "" ? "TRUE" : where, values: given.map(([, value]) => value) };
}

async function sumCalls(database: MariadbDatabase, filter: Parameters<Calls["sums"]>[0]): Promise<CallSum[]> {
  const by = filter.by === "day" ? "LEFT(at, 10)" : filter.by === "outcome" ? "outcome" : "NULL";
  const { where, values } = buildCallFilter(filter, CALL_FILTERS);
  const rows = await database.query(
    `SELECT purpose, model, ${by} AS part, COUNT(*) AS calls, SUM(outcome <> 'ok') AS failed, SUM(units) AS units, ` +
      "SUM(tokens_in) AS tokens_in, SUM(tokens_cached) AS tokens_cached, SUM(tokens_out) AS tokens_out, " +
      "COALESCE(SUM(cost), 0) AS cost, SUM(cost IS NULL) AS unpriced, SUM(ms) AS ms " +
      `FROM calls WHERE ${where} GROUP BY purpose, model, part`,
    ...values,
  );
  return rows.map((row) => ({
    purpose: row.purpose as CallSum["purpose"],
    model: String(row.model),
    ...(filter.by === undefined ? {} : { [filter.by]: String(row.part ?? "") }),
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

/** Parses a row as a model call. */
export function parseMariadbCall(row: MariadbRow): ModelCall {
  const [id = "", project = "", user = ""] = parseNames(row.long_names, row.id, row.project, row.person);
  return {
    id,
    project,
    ...(row.person === null ? {} : { user }),
    at: String(row.at),
    purpose: row.purpose as ModelCall["purpose"],
    model: String(row.model),
    host: String(row.host),
    outcome: row.outcome as ModelCall["outcome"],
    units: Number(row.units),
    tokensIn: Number(row.tokens_in),
    tokensCached: Number(row.tokens_cached),
    tokensOut: Number(row.tokens_out),
    ...(Number(row.is_estimated) === 1 ? { isEstimated: true } : {}),
    ms: Number(row.ms),
    ...(row.cost === null ? {} : { cost: Number(row.cost) }),
  };
}
