import type { Memory } from "../../domain/memory.ts";
import type { Message } from "../../domain/message.ts";
import type { Scope } from "../../domain/scope.ts";
import type { StaleUnits, UserWithStaleEmbeddings } from "../../ports/record.ts";
import { parseBody } from "../shared/stored-body.ts";
import { NEWEST_VERSIONS } from "./by-id.ts";
import type { PostgresDatabase } from "./database.ts";
import { encodeText } from "./names.ts";
import type { Row } from "./pool.ts";
import { fetchRowsOfAllProjects, parseUnitWithoutVector } from "./read.ts";
import { parseScope, SELECT_USER, toAccessScope, toScopeKeys } from "./rows.ts";
import { createStatement, type PostgresTransaction } from "./statement.ts";

// The few spaces there are, each found by one step down the index.
const SELECT_OTHER_SPACES =
  "WITH RECURSIVE spaces (space) AS ((SELECT space FROM units ORDER BY space LIMIT 1) UNION ALL " +
  "SELECT (SELECT units.space FROM units WHERE units.space > spaces.space ORDER BY units.space LIMIT 1) " +
  "FROM spaces WHERE spaces.space IS NOT NULL) SELECT space FROM spaces WHERE space <> $1";
const SELECT_STALE_USERS =
  "SELECT project, name, long_names, outside.units FROM (SELECT person, count(*) AS units FROM units " +
  "WHERE space = ANY ($1) GROUP BY person ORDER BY person LIMIT $2) AS outside " +
  "JOIN users ON users.number = outside.person ORDER BY users.number";

/** Users with units outside a space, in the order in which they were first written to. */
export async function fetchUsersWithStaleEmbeddings(
  database: PostgresDatabase,
  space: string,
  limit: number,
): Promise<UserWithStaleEmbeddings[]> {
  // Mostly there are none; and of those that the first part of one statement finds, the planner would know nothing.
  const others = await fetchRowsOfAllProjects(
    database,
    createStatement(SELECT_OTHER_SPACES, encodeText(space)),
  );
  if (others.length === 0) return [];
  const spaces = others.map((row) => String(row.space));
  const rows = await fetchRowsOfAllProjects(database, createStatement(SELECT_STALE_USERS, spaces, limit));
  return rows.map((row) => ({ scope: parseScope(row), units: Number(row.units) }));
}

const SELECT_STALE_UNITS =
  "SELECT id, type, owner, long_names, first, last, space, terms FROM units " +
  "WHERE person = $1 AND space <> $2 ORDER BY number LIMIT $3";
const SELECT_OWNER_MESSAGES = "SELECT id, body FROM messages WHERE person = $1 AND id = ANY ($2)";
const SELECT_OWNER_MEMORIES = `SELECT heads.id, newest.body FROM ${NEWEST_VERSIONS} WHERE heads.person = $1 AND heads.id = ANY ($2)`;

/** Some of a user's units outside a space, with what they were made of, as of one moment. */
export function fetchStaleUnits(
  database: PostgresDatabase,
  scope: Scope,
  space: string,
  limit: number,
): Promise<StaleUnits> {
  return database.read(toAccessScope(scope), async (transaction) => {
    const [user] = await transaction.query(SELECT_USER, ...toScopeKeys(scope));
    if (!user) return { revision: 0, units: [], messages: [], memories: [] };
    const person = Number(user.number);
    const units = await transaction.query(SELECT_STALE_UNITS, person, encodeText(space), limit);
    return {
      revision: Number(user.revision),
      units: units.map(parseUnitWithoutVector),
      messages: await fetchOwners<Message>(
        transaction,
        { sql: SELECT_OWNER_MESSAGES, person, type: "passage" },
        units,
      ),
      memories: await fetchOwners<Memory>(
        transaction,
        { sql: SELECT_OWNER_MEMORIES, person, type: "memory" },
        units,
      ),
    };
  });
}

async function fetchOwners<Body>(
  transaction: PostgresTransaction,
  { sql, person, type }: { readonly sql: string; readonly person: number; readonly type: string },
  units: readonly Row[],
): Promise<Body[]> {
  const keys = [...new Set(units.filter((row) => row.type === type).map(({ owner }) => owner))];
  if (keys.length === 0) return [];
  const rows = await transaction.query(sql, person, keys);
  const found = new Map(rows.map((row) => [row.id, row]));
  return keys.flatMap((key) => {
    const row = found.get(key ?? "");
    return row ? [parseBody<Body>(row)] : [];
  });
}
