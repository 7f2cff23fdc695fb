import type { Memory } from "../../domain/memory.ts";
import type { Message } from "../../domain/message.ts";
import type { Scope } from "../../domain/scope.ts";
import type { OutsideUnits, OutsideUser } from "../../ports/record.ts";
import { bodyOf } from "../shared/stored-body.ts";
import { NEWEST } from "./by-id.ts";
import type { Database } from "./database.ts";
import { textOf } from "./names.ts";
import type { Row } from "./pool.ts";
import { bareUnit, everybodys } from "./read.ts";
import { keysOf, PERSON, reachOf, scopeOf } from "./rows.ts";
import { statement, type Transaction } from "./statement.ts";

// The few spaces there are, each found by one step down the index.
const SPACES =
  "WITH RECURSIVE spaces (space) AS ((SELECT space FROM units ORDER BY space LIMIT 1) UNION ALL " +
  "SELECT (SELECT units.space FROM units WHERE units.space > spaces.space ORDER BY units.space LIMIT 1) " +
  "FROM spaces WHERE spaces.space IS NOT NULL) SELECT space FROM spaces WHERE space <> $1";
const USERS =
  "SELECT project, name, long_names, outside.units FROM (SELECT person, count(*) AS units FROM units " +
  "WHERE space = ANY ($1) GROUP BY person ORDER BY person LIMIT $2) AS outside " +
  "JOIN users ON users.number = outside.person ORDER BY users.number";

/** Users with units outside a space, in the order in which they were first written to. */
export async function usersOutside(database: Database, space: string, limit: number): Promise<OutsideUser[]> {
  // Mostly there are none; and of those that the first part of one statement finds, the planner would know nothing.
  const others = await everybodys(database, statement(SPACES, textOf(space)));
  if (others.length === 0) return [];
  const spaces = others.map((row) => String(row.space));
  const rows = await everybodys(database, statement(USERS, spaces, limit));
  return rows.map((row) => ({ scope: scopeOf(row), units: Number(row.units) }));
}

const UNITS =
  "SELECT id, type, owner, long_names, first, last, space, terms FROM units " +
  "WHERE person = $1 AND space <> $2 ORDER BY number LIMIT $3";
const MESSAGES = "SELECT id, body FROM messages WHERE person = $1 AND id = ANY ($2)";
const MEMORIES = `SELECT heads.id, newest.body FROM ${NEWEST} WHERE heads.person = $1 AND heads.id = ANY ($2)`;

/** Some of a user's units outside a space, with what they were made of, as of one moment. */
export function unitsOutside(
  database: Database,
  scope: Scope,
  space: string,
  limit: number,
): Promise<OutsideUnits> {
  return database.read(reachOf(scope), async (transaction) => {
    const [user] = await transaction.rows(PERSON, ...keysOf(scope));
    if (!user) return { revision: 0, units: [], messages: [], memories: [] };
    const person = Number(user.number);
    const units = await transaction.rows(UNITS, person, textOf(space), limit);
    return {
      revision: Number(user.revision),
      units: units.map(bareUnit),
      messages: await owners<Message>(transaction, { sql: MESSAGES, person, type: "passage" }, units),
      memories: await owners<Memory>(transaction, { sql: MEMORIES, person, type: "memory" }, units),
    };
  });
}

async function owners<Body>(
  transaction: Transaction,
  { sql, person, type }: { readonly sql: string; readonly person: number; readonly type: string },
  units: readonly Row[],
): Promise<Body[]> {
  const keys = [...new Set(units.filter((row) => row.type === type).map(({ owner }) => owner))];
  if (keys.length === 0) return [];
  const rows = await transaction.rows(sql, person, keys);
  const found = new Map(rows.map((row) => [row.id, row]));
  return keys.flatMap((key) => {
    const row = found.get(key ?? "");
    return row ? [bodyOf<Body>(row)] : [];
  });
}
