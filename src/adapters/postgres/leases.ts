import { randomUUID } from "node:crypto";
import type { LeaseAnswer } from "../../ports/leases.ts";
import { type Database, EVERYBODY } from "./database.ts";
import { textOf } from "./names.ts";
import { everybodys } from "./read.ts";
import { statement } from "./statement.ts";

// By the clock of the database server, which all who share it share. In ms, as everything else is.
const NOW = "(extract(epoch FROM clock_timestamp()) * 1000)::bigint";
const FIND = `SELECT token, until - ${NOW} AS wait FROM leases WHERE name = $1 AND until > ${NOW}`;
// Of several who ask at once one inserts, the others find its row: what ran out or rests makes room where it may.
const TAKE =
  `INSERT INTO leases (name, token, until) VALUES ($1, $2, ${NOW} + $3) ON CONFLICT (name) DO UPDATE ` +
  `SET token = excluded.token, until = ${NOW} + $3 ` +
  `WHERE leases.until <= ${NOW} OR (leases.token IS NULL AND $4) OR leases.token = $2 RETURNING 1`;

/** Takes a lease; those that ran out are overwritten. */
export async function takeLease(
  database: Database,
  name: string,
  { forMs, isUrgent = false }: { readonly forMs: number; readonly isUrgent?: boolean },
): Promise<LeaseAnswer> {
  const find = statement(FIND, textOf(name));
  // Asked often, and refused mostly: that needs no write.
  const [held] = await everybodys(database, find);
  if (held && !(held.token === null && isUrgent)) return refusal(held);
  const token = randomUUID();
  return database.write(EVERYBODY, async (transaction) => {
    const taken = await transaction.rows(TAKE, textOf(name), token, forMs, isUrgent);
    if (taken.length > 0) return { token };
    const [late] = await transaction.rows(FIND, textOf(name));
    return refusal(late ?? { token: "", wait: "1" });
  });
}

function refusal({ token, wait }: { readonly [column: string]: string | null }): LeaseAnswer {
  return { refused: token === null ? "resting" : "held", waitMs: Math.max(1, Number(wait)) };
}

export function renewLease(database: Database, name: string, token: string, forMs: number): Promise<boolean> {
  return changed(
    database,
    `UPDATE leases SET until = ${NOW} + $3 WHERE ${MINE} RETURNING 1`,
    name,
    token,
    forMs,
  );
}

/** One that rests no time is over at once. */
export function giveBackLease(
  database: Database,
  name: string,
  token: string,
  restMs: number,
): Promise<boolean> {
  const sql = `UPDATE leases SET token = NULL, until = ${NOW} + $3 WHERE ${MINE} RETURNING 1`;
  return changed(database, sql, name, token, restMs);
}

const MINE = `name = $1 AND token = $2 AND until > ${NOW}`;

function changed(
  database: Database,
  sql: string,
  ...[name, token, ms]: [name: string, token: string, ms: number]
): Promise<boolean> {
  return database.write(EVERYBODY, async (transaction) => {
    return (await transaction.rows(sql, textOf(name), token, ms)).length > 0;
  });
}
