import { randomUUID } from "node:crypto";
import type { LeaseResult } from "../../ports/leases.ts";
import { ALL_PROJECTS, type PostgresDatabase } from "./database.ts";
import { encodeText } from "./names.ts";
import { fetchRowsOfAllProjects } from "./read.ts";
import { createStatement } from "./statement.ts";

// By the clock of the database server, which all who share it share. In ms, as everything else is.
const NOW_MS = "(extract(epoch FROM clock_timestamp()) * 1000)::bigint";
const SELECT_LEASE = `SELECT token, until - ${NOW_MS} AS wait FROM leases WHERE name = $1 AND until > ${NOW_MS}`;
// Of several who ask at once one inserts, the others find its row: what ran out or rests makes room where it may.
const UPSERT_LEASE =
  `INSERT INTO leases (name, token, until) VALUES ($1, $2, ${NOW_MS} + $3) ON CONFLICT (name) DO UPDATE ` +
  `SET token = excluded.token, until = ${NOW_MS} + $3 ` +
  `WHERE leases.until <= ${NOW_MS} OR (leases.token IS NULL AND $4) OR leases.token = $2 RETURNING 1`;

/** Takes a lease; those that ran out are overwritten. */
export async function acquireServerLease(
  database: PostgresDatabase,
  name: string,
  { forMs, isUrgent = false }: { readonly forMs: number; readonly isUrgent?: boolean },
): Promise<LeaseResult> {
  const find = createStatement(SELECT_LEASE, encodeText(name));
  // Asked often, and refused mostly: that needs no write.
  const [held] = await fetchRowsOfAllProjects(database, find);
  if (held && !(held.token === null && isUrgent)) return toLeaseRefusal(held);
  const token = randomUUID();
  return database.write(ALL_PROJECTS, async (transaction) => {
    const taken = await transaction.query(UPSERT_LEASE, encodeText(name), token, forMs, isUrgent);
    if (taken.length > 0) return { token };
    const [late] = await transaction.query(SELECT_LEASE, encodeText(name));
    return toLeaseRefusal(late ?? { token: "", wait: "1" });
  });
}

function toLeaseRefusal({ token, wait }: { readonly [column: string]: string | null }): LeaseResult {
  return { refused: token === null ? "resting" : "held", waitMs: Math.max(1, Number(wait)) };
}

export function renewServerLease(
  database: PostgresDatabase,
  name: string,
  token: string,
  forMs: number,
): Promise<boolean> {
  return updateLease(
    database,
    `UPDATE leases SET until = ${NOW_MS} + $3 WHERE ${OWN_LEASE} RETURNING 1`,
    name,
    token,
    forMs,
  );
}

/** One that rests no time is over at once. */
export function releaseServerLease(
  database: PostgresDatabase,
  name: string,
  token: string,
  restMs: number,
): Promise<boolean> {
  const sql = `UPDATE leases SET token = NULL, until = ${NOW_MS} + $3 WHERE ${OWN_LEASE} RETURNING 1`;
  return updateLease(database, sql, name, token, restMs);
}

const OWN_LEASE = `name = $1 AND token = $2 AND until > ${NOW_MS}`;

function updateLease(
  database: PostgresDatabase,
  sql: string,
  ...[name, token, ms]: [name: string, token: string, ms: number]
): Promise<boolean> {
  return database.write(ALL_PROJECTS, async (transaction) => {
    return (await transaction.query(sql, encodeText(name), token, ms)).length > 0;
  });
}
