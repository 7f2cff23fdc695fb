import type { ModelCall } from "../../domain/model-call.ts";
import type { CallSum, Calls, CallsAsked, StoredTurns } from "../../ports/calls.ts";
import { checkNames } from "../shared/stored-body.ts";
import { type Database, EVERYBODY, type Reach } from "./database.ts";
import { keyOf, longNames, namesOf, readText, textOf } from "./names.ts";
import type { Row } from "./pool.ts";
import type { Statement, Transaction } from "./statement.ts";

/** The ledger of calls in the record's own database. */
export function postgresCalls(database: Database): Calls {
  return {
    note: (calls, turns = []) => note(database, calls, turns),
    sums: (asked) => sums(database, asked),
    turns: (asked) => turnsOf(database, asked),
    list: (asked) => list(database, asked),
    unname: ({ project, user }) => unname(database, project, user),
    removeBefore: (at) => removeBefore(database, at),
  };
}

const ADD =
  "INSERT INTO calls (id, project, person, long_names, at, purpose, model, host, outcome, units, tokens_in, tokens_cached, " +
  "tokens_out, is_estimated, ms, cost) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16) " +
  "ON CONFLICT (id) DO NOTHING";
const ADD_TURNS =
  "INSERT INTO turns (project, person, day, turns) VALUES ($1, $2, $3, $4) " +
  "ON CONFLICT (project, person, day) DO UPDATE SET turns = turns.turns + excluded.turns";

async function note(
  database: Database,
  calls: readonly ModelCall[],
  turns: readonly StoredTurns[],
): Promise<void> {
  for (const { project, user } of [...calls, ...turns]) checkNames(project, user ?? "");
  if (calls.length === 0 && turns.length === 0) return;
  const [first] = calls;
  const ordered = [...turns].sort((one, other) => compare(turnKey(one), turnKey(other)));
  await database.write(
    EVERYBODY,
    async (transaction) => {
      for (const call of calls) addCall(transaction, call);
      for (const { project, user, day, turns: count } of ordered) {
        transaction.later(ADD_TURNS, keyOf(project), keyOf(user), day, count);
      }
    },
    // Turns are added up: they may not be added twice. They were stored with the first call, or not at all.
    async (transaction) => {
      if (!first) return { was: undefined };
      const found = await transaction.rows("SELECT 1 FROM calls WHERE id = $1", keyOf(first.id));
      return found.length > 0 ? { was: undefined } : undefined;
    },
  );
}

function turnKey({ project, user, day }: StoredTurns): string {
  return JSON.stringify([project, user, day]);
}

function compare(one: string, other: string): number {
  return one < other ? -1 : Number(one > other);
}

export function addCall(transaction: Transaction, call: ModelCall): void {
  const { user, cost = null, isEstimated = false } = call;
  transaction.later(
    ADD,
    keyOf(call.id),
    keyOf(call.project),
    user === undefined ? null : keyOf(user),
    longNames(call.id, call.project, user ?? ""),
    call.at,
    call.purpose,
    textOf(call.model),
    textOf(call.host),
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

type Bounds = { readonly [name in keyof CallsAsked]: string };
/** What each bound asks of a call; `?` stands for its value. */
const CALLS: Bounds = { project: "project = ?", user: "person = ?", from: "at >= ?", to: "at < ?" };
/** The same of turns, which are known by whole days. */
const TURNS: Bounds = { ...CALLS, from: "day >= left(?, 10)", to: "day || 'T00:00:00.000Z' < ?" };

/** Only the bounds that are given stand in the query: else no index would serve it. */
function asking(
  { project, user, from, to }: CallsAsked,
  bounds: Bounds,
): { readonly where: string; readonly values: string[]; readonly reach: Reach } {
  const given = Object.entries({
    project: project === undefined ? undefined : keyOf(project),
    user: user === undefined ? undefined : keyOf(user),
    from,
    to,
  }).filter((bound): bound is [keyof CallsAsked, string] => bound[1] !== undefined);
  const where = given.map(([name], i) => (bounds[name] ?? "").replace("?", `$${i + 1}`)).join(" AND ");
  return {
    where: where === "" ? "true" : where,
    values: given.map(([, value]) => value),
    reach: project === undefined ? EVERYBODY : { project: keyOf(project) },
  };
}

async function rowsIn(database: Database, reach: Reach, asked: Statement): Promise<readonly Row[]> {
  const [rows = []] = await database.ask(reach, asked);
  return rows;
}

async function sums(database: Database, asked: Parameters<Calls["sums"]>[0]): Promise<CallSum[]> {
  const by = asked.by === "day" ? "left(at, 10)" : asked.by === "outcome" ? "outcome" : "NULL::text";
  const { where, values, reach } = asking(asked, CALLS);
  const sql =
    `SELECT purpose, model, ${by} AS part, count(*) AS calls, count(*) FILTER (WHERE outcome <> 'ok') AS failed, ` +
    "sum(units) AS units, sum(tokens_in) AS tokens_in, sum(tokens_cached) AS tokens_cached, sum(tokens_out) AS tokens_out, " +
    "coalesce(sum(cost), 0) AS cost, count(*) FILTER (WHERE cost IS NULL) AS unpriced, sum(ms) AS ms " +
    `FROM calls WHERE ${where} GROUP BY 1, 2, 3`;
  return (await rowsIn(database, reach, { sql, values })).map((row) => ({
    purpose: row.purpose as CallSum["purpose"],
    model: readText(row.model),
    ...(asked.by === undefined ? {} : { [asked.by]: row.part ?? "" }),
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

async function turnsOf(database: Database, asked: CallsAsked): Promise<number> {
  const { where, values, reach } = asking(asked, TURNS);
  const sql = `SELECT coalesce(sum(turns), 0) AS found FROM turns WHERE ${where}`;
  return Number((await rowsIn(database, reach, { sql, values }))[0]?.found);
}

async function list(
  database: Database,
  asked: CallsAsked & { readonly limit: number },
): Promise<ModelCall[]> {
  const { where, values, reach } = asking(asked, CALLS);
  const sql =
    "SELECT id, project, person, long_names, at, purpose, model, host, outcome, units, tokens_in, tokens_cached, tokens_out, " +
    `is_estimated, ms, cost FROM calls WHERE ${where} ORDER BY at DESC, number DESC LIMIT $${values.length + 1}`;
  return (await rowsIn(database, reach, { sql, values: [...values, asked.limit] })).map(callOf);
}

/** A call of a row. */
export function callOf(row: Row): ModelCall {
  const [id = "", project = "", user = ""] = namesOf(row.long_names, row.id, row.project, row.person);
  return {
    id,
    project,
    ...(row.person === null ? {} : { user }),
    at: row.at ?? "",
    purpose: row.purpose as ModelCall["purpose"],
    model: readText(row.model),
    host: readText(row.host),
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

const UNNAME_TURNS =
  "WITH taken AS (DELETE FROM turns WHERE project = $1 AND person = $2 RETURNING day, turns) " +
  "INSERT INTO turns (project, person, day, turns) SELECT $1, '', day, turns FROM taken " +
  "ON CONFLICT (project, person, day) DO UPDATE SET turns = turns.turns + excluded.turns";

async function unname(database: Database, project: string, user: string): Promise<void> {
  const keys = [keyOf(project), keyOf(user)];
  await database.write({ project: keyOf(project) }, async (transaction) => {
    transaction.later(
      "UPDATE calls SET person = NULL, long_names = NULL WHERE project = $1 AND person = $2",
      ...keys,
    );
    transaction.later(UNNAME_TURNS, ...keys);
  });
}

function removeBefore(database: Database, at: string): Promise<number> {
  return database.write(EVERYBODY, async (transaction) => {
    transaction.later("DELETE FROM turns WHERE day < left($1, 10)", at);
    const sql =
      "WITH removed AS (DELETE FROM calls WHERE at < $1 RETURNING 1) SELECT count(*) AS found FROM removed";
    return Number((await transaction.rows(sql, at))[0]?.found);
  });
}
