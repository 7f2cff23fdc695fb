import type { Memory } from "../../domain/memory.ts";
import type { Message } from "../../domain/message.ts";
import type { Scope } from "../../domain/scope.ts";
import type { StaleUnits, UserWithStaleEmbeddings } from "../../ports/record.ts";
import type { SqliteDatabase, SqliteRow } from "./database.ts";
import { findUser, parseBody } from "./rows.ts";

/** Users with units outside a space, in the order in which they were first written to. */
export function readUsersWithStaleEmbeddings(
  database: SqliteDatabase,
  space: string,
  limit: number,
): UserWithStaleEmbeddings[] {
  const counts = new Map<number, number>();
  const count = database.statement(
    "SELECT user, count(*) AS units FROM units WHERE space = :space GROUP BY user ORDER BY user LIMIT :limit",
  );
  for (const other of listOtherSpaces(database, space)) {
    for (const { user, units } of count.all({ space: other, limit })) {
      counts.set(Number(user), (counts.get(Number(user)) ?? 0) + Number(units));
    }
  }
  const named = database.statement("SELECT project, name FROM users WHERE id = :user");
  return [...counts]
    .sort(([one], [other]) => one - other)
    .slice(0, limit)
    .map(([user, units]) => {
      const row = named.get({ user });
      return { scope: { project: String(row?.project), user: String(row?.name) }, units };
    });
}

/** Some of a user's units outside a space, with what they were made of, in one read transaction. */
export function readStaleUnits(
  database: SqliteDatabase,
  scope: Scope,
  space: string,
  limit: number,
): StaleUnits {
  const { handle } = database;
  handle.exec("BEGIN");
  try {
    const user = findUser(database, scope);
    const units = user ? readStaleRows(database, user.id, space, limit) : [];
    const bodies = <Body>(type: string, sql: string): Body[] =>
      [...new Set(units.filter((row) => row.type === type).map(({ owner }) => String(owner)))].flatMap(
        (id) => {
          const row = database.statement(sql).get({ user: user?.id ?? -1, id });
          return row ? [parseBody<Body>(row)] : [];
        },
      );
    return {
      revision: user?.revision ?? 0,
      units: units.map((row) => ({
        id: String(row.id),
        type: row.type === "memory" ? "memory" : "passage",
        owner: String(row.owner),
        start: Number(row.first),
        end: Number(row.last),
        terms: String(row.terms),
        space: String(row.space),
      })),
      messages: bodies<Message>("passage", "SELECT body FROM messages WHERE user = :user AND id = :id"),
      memories: bodies<Memory>(
        "memory",
        "SELECT body FROM heads JOIN versions USING (user, id, version) WHERE heads.user = :user AND heads.id = :id",
      ),
    };
  } finally {
    handle.exec("COMMIT");
  }
}

function readStaleRows(database: SqliteDatabase, user: number, space: string, limit: number): SqliteRow[] {
  const select = database.statement(
    "SELECT id, type, owner, first, last, terms, space FROM units " +
      "WHERE space = :space AND user = :user ORDER BY number LIMIT :limit",
  );
  const rows: SqliteRow[] = [];
  for (const other of listOtherSpaces(database, space)) {
    if (rows.length >= limit) break;
    rows.push(...(select.all({ space: other, user, limit: limit - rows.length }) as SqliteRow[]));
  }
  return rows;
}

/** The few spaces there are, each found by one step down the index, but for one. */
function listOtherSpaces(database: SqliteDatabase, space: string): string[] {
  const next = database.statement("SELECT min(space) AS space FROM units WHERE space > :last");
  const first = database.statement("SELECT min(space) AS space FROM units").get();
  const spaces: string[] = [];
  for (let found = first?.space; typeof found === "string"; found = next.get({ last: found })?.space) {
    if (found !== space) spaces.push(found);
  }
  return spaces;
}
