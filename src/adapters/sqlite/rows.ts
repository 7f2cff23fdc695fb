import type { Scope } from "../../domain/scope.ts";
import { checkNames } from "../shared/stored-body.ts";
import type { SqliteDatabase } from "./database.ts";

export { checkNames, parseBody } from "../shared/stored-body.ts";
export { decodeVector, encodeVector } from "../shared/stored-vector.ts";

/** Of each, a key and a number: some 150 bytes. */
const MAX_CACHED_USERS = 20_000;

/**
 * The user's row, or nothing where nobody has written to the scope yet. Half a surrogate pair is refused: SQLite would
 * store another character for it, and two users would become one.
 */
export function findUser(
  database: SqliteDatabase,
  scope: Scope,
): { id: number; revision: number } | undefined {
  const { project, user: name } = scope;
  const key = toCacheKey(scope);
  const known = database.users.get(key);
  if (known !== undefined) {
    const row = database.statement("SELECT revision FROM users WHERE id = :id").get({ id: known });
    return row && { id: known, revision: Number(row.revision) };
  }
  checkNames(project, name);
  const row = database
    .statement("SELECT id, revision FROM users WHERE project = :project AND name = :name")
    .get({ project, name });
  if (!row) return undefined;
  const id = Number(row.id);
  // What a transaction that is under way made may not come to stay.
  if (!database.handle.isTransaction) {
    if (database.users.size >= MAX_CACHED_USERS) database.users.clear();
    database.users.set(key, id);
  }
  return { id, revision: Number(row.revision) };
}

/** The user's number, or -1, which nobody has. */
export function findUserId(database: SqliteDatabase, scope: Scope): number {
  return database.users.get(toCacheKey(scope)) ?? findUser(database, scope)?.id ?? -1;
}

function toCacheKey({ project, user }: Scope): string {
  return `${project.length}:${project}${user}`;
}
