import type { Scope } from "../../domain/scope.ts";
import { checkNames } from "../shared/stored-body.ts";
import type { AccessScope, PostgresDatabase } from "./database.ts";
import { decodeNames, toIndexKey } from "./names.ts";
import type { Row } from "./pool.ts";

const MAX_CACHED_USERS = 100_000;
/** The number of nobody. */
export const NO_USER = -1;

export const SELECT_USER = "SELECT number, revision FROM users WHERE project = $1 AND name = $2";

/** The keys of a scope's names. Half a surrogate pair is refused: U+FFFD would be stored, and two users would become one. */
export function toScopeKeys({ project, user }: Scope): [project: string, name: string] {
  checkNames(project, user);
  return [toIndexKey(project), toIndexKey(user)];
}

/** The project of a scope, as the walls know it. */
export function toAccessScope(scope: Scope): AccessScope {
  return { project: toScopeKeys(scope)[0] };
}

/** The user's number, or `NOBODY`, whose rows there are none of. */
export async function findUserNumber(database: PostgresDatabase, scope: Scope): Promise<number> {
  const known = getKnownUserNumber(database, scope);
  if (known !== undefined) return known;
  const keys = toScopeKeys(scope);
  const [row] = await database.queryPinned(keys[0], { sql: SELECT_USER, values: keys });
  if (!row) return NO_USER;
  return rememberUserNumber(database, scope, Number(row.number));
}

/** The user's number, where it is known without asking. */
export function getKnownUserNumber(
  { userNumbers: people }: PostgresDatabase,
  scope: Scope,
): number | undefined {
  return people.get(toCacheKey(scope));
}

/** Keeps a user's number in mind; only of a user who is stored for good. */
export function rememberUserNumber(
  { userNumbers: people, scopesByNumber: scopes }: PostgresDatabase,
  scope: Scope,
  number: number,
): number {
  if (people.size >= MAX_CACHED_USERS) people.clear();
  people.set(toCacheKey(scope), number);
  if (scopes.size >= 2 * MAX_CACHED_USERS) {
    scopes.clear();
    scopes.isPartial = true;
  }
  scopes.set(number, { project: scope.project, user: scope.user });
  return number;
}

function toCacheKey({ project, user }: Scope): string {
  return `${project.length}:${project}${user}`;
}

/** The scope that a row of `users` names. */
export function parseScope({ long_names, project, name }: Row): Scope {
  const [of = "", user = ""] = decodeNames(long_names, project, name);
  return { project: of, user };
}

/**
 * The bytes of a column of type `bytea`, as the server sends it (hex), or by `encode(column, 'base64')`, which takes half the
 * time for what is large.
 */
export function decodeBytes(column: string | null | undefined): Buffer {
  const text = column ?? "";
  return text.startsWith("\\x") ? Buffer.from(text.slice(2), "hex") : Buffer.from(text, "base64");
}
