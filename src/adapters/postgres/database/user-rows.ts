import { createHash } from "node:crypto";
import type { Scope } from "../../../domain/scope.ts";
import { checkNames } from "../../shared/stored-rows.ts";
import type { PostgresTransaction, Row, SqlStatement } from "./connection.ts";
import type { AccessScope, PostgresDatabase } from "./database.ts";
import { NO_USER } from "./recall-statements.ts";

const MAX_CACHED_USERS = 100_000;

/** A statement about the row of a user: `$1` and `$2` are the names, and on Citus `$3` is the number, so that one node answers. */
interface UserSql {
  readonly local: string;
  readonly distributed: string;
}

export function buildUserSql(select: string, suffix = ""): UserSql {
  const local = `${select} FROM users WHERE project = $1 AND name = $2`;
  return { local: `${local}${suffix}`, distributed: `${local} AND number = $3${suffix}` };
}

export const SELECT_USER: UserSql = buildUserSql("SELECT number, revision");

/** The keys of a scope's names. Half a surrogate pair is refused: it would be stored as U+FFFD, and two users would become one. */
export function toScopeKeys({ project, user }: Scope): [project: string, name: string] {
  checkNames(project, user);
  return [toIndexKey(project), toIndexKey(user)];
}

/** The project of a scope, for row-level security. */
export function toAccessScope(scope: Scope): AccessScope {
  return { project: toScopeKeys(scope)[0] };
}

/** The user's number, or `NO_USER`, which has no rows. */
export async function findUserNumber(database: PostgresDatabase, scope: Scope): Promise<number> {
  const known = getKnownUserNumber(database, scope);
  if (known !== undefined) return known;
  const row = await fetchUser(database, scope);
  if (!row) return NO_USER;
  return rememberUserNumber(database, scope, Number(row.number));
}

/** The number and the revision of a user, or undefined. */
export async function fetchUser(database: PostgresDatabase, scope: Scope): Promise<Row | undefined> {
  const statement = await bindUser(database, scope, SELECT_USER);
  const [row] = await database.queryOnce(toScopeKeys(scope)[0], statement);
  if (row || !database.settings.isDistributed || getKnownUserNumber(database, scope) === undefined)
    return row;
  // The database was restored to an older state, and its numbers belong to other users now.
  database.userNumbers.clear();
  return fetchUser(database, scope);
}

/** Binds a statement to a user. On Citus, the number of a user who is not cached is looked up first. */
export async function bindUser(
  database: PostgresDatabase,
  scope: Scope,
  { local, distributed }: UserSql,
): Promise<SqlStatement> {
  const keys = toScopeKeys(scope);
  if (!database.settings.isDistributed) return { sql: local, values: keys };
  return { sql: distributed, values: [...keys, await findAssignedNumber(database, scope)] };
}

const SELECT_NUMBER = "SELECT number FROM names WHERE project = $1 AND name = $2";

/** On Citus: the number of a user, who may have no rows yet, or `NO_USER`. */
export async function findAssignedNumber(database: PostgresDatabase, scope: Scope): Promise<number> {
  const known = getKnownUserNumber(database, scope);
  if (known !== undefined) return known;
  const keys = toScopeKeys(scope);
  const [row] = await database.queryOnce(keys[0], { sql: SELECT_NUMBER, values: keys });
  return row ? Number(row.number) : NO_USER;
}

/**
 * On Citus: gives the user a number before the first change, in a transaction of its own. If the program ends in between, the next
 * attempt finds the number. A cached number is not trusted: it may be of a state that the database no longer has.
 */
export async function assignUserNumber(database: PostgresDatabase, scope: Scope): Promise<void> {
  database.userNumbers.delete(toCacheKey(scope));
  const keys = toScopeKeys(scope);
  const sql = "INSERT INTO names (project, name) VALUES ($1, $2) ON CONFLICT DO NOTHING";
  if ((await findAssignedNumber(database, scope)) === NO_USER)
    await database.execute({ project: keys[0] }, sql, ...keys);
}

/** On Citus: the number of a user, who is given one if there is none. */
export async function ensureUserNumber(database: PostgresDatabase, scope: Scope): Promise<number> {
  const known = getKnownUserNumber(database, scope);
  if (known !== undefined) return known;
  await assignUserNumber(database, scope);
  return findAssignedNumber(database, scope);
}

/** The user's number if it is cached; otherwise undefined. */
export function getKnownUserNumber({ userNumbers }: PostgresDatabase, scope: Scope): number | undefined {
  return userNumbers.get(toCacheKey(scope));
}

/** Caches a user's number. Call it only for a user whose row is committed. */
export function rememberUserNumber(
  { userNumbers, scopesByNumber }: PostgresDatabase,
  scope: Scope,
  number: number,
): number {
  if (userNumbers.size >= MAX_CACHED_USERS) userNumbers.clear();
  userNumbers.set(toCacheKey(scope), number);
  if (scopesByNumber.size >= 2 * MAX_CACHED_USERS) {
    scopesByNumber.clear();
    scopesByNumber.isPartial = true;
  }
  scopesByNumber.set(number, { project: scope.project, user: scope.user });
  return number;
}

function toCacheKey({ project, user }: Scope): string {
  return `${project.length}:${project}${user}`;
}

/** The scope in a row of `users`. */
export function parseScope({ long_names, project, name }: Row): Scope {
  const [of = "", user = ""] = decodeNames(long_names, project, name);
  return { project: of, user };
}

/**
 * The bytes of a `bytea` column, either as the server sends it (hex) or from `encode(column, 'base64')`. Base64 takes half the
 * time for large values.
 */
export function decodeBytes(column: string | null | undefined): Buffer {
  const text = column ?? "";
  return text.startsWith("\\x") ? Buffer.from(text.slice(2), "hex") : Buffer.from(text, "base64");
}

/** The longest text, in UTF-8 bytes, that an index contains unhashed: two of them fit into a B-tree entry. */
const MAX_KEY_BYTES = 1000;

/**
 * An id or a name for an indexed column. PostgreSQL texts cannot contain NUL, and a B-tree entry has at most 2,704 bytes.
 * So a backslash is doubled, a NUL becomes `\0`, and a text that is too long becomes `\#` and its SHA-256. Half a
 * surrogate pair becomes U+FFFD, as in SQLite.
 */
export function toIndexKey(name: string): string {
  const text = encodeText(name);
  if (text.length * 3 <= MAX_KEY_BYTES || Buffer.byteLength(text) <= MAX_KEY_BYTES) return text;
  return `\\#${createHash("sha256").update(text).digest("hex")}`;
}

/** A text for a column, without NUL; short texts are encoded like `toIndexKey`. */
export function encodeText(name: string): string {
  const wellFormed = name.toWellFormed();
  return /[\\\0]/.test(wellFormed) ? wellFormed.replaceAll("\\", "\\\\").replaceAll("\0", "\\0") : wellFormed;
}

/** Reverses `encodeText`. */
export function decodeText(column: string | null | undefined): string {
  const text = column ?? "";
  if (!text.includes("\\")) return text;
  return text.replace(/\\(?<sign>[\\0])/g, (_whole, sign: string) => (sign === "0" ? "\0" : "\\"));
}

/** The names as JSON if one is too long for its column; null if the columns contain all of them. */
export function encodeLongNames(...names: readonly string[]): string | null {
  return names.some((name) => toIndexKey(name).startsWith("\\#"))
    ? JSON.stringify(names.map(encodeText))
    : null;
}

/** The names from their columns, or from `encodeLongNames`. */
export function decodeNames(
  long: string | null | undefined,
  ...columns: readonly (string | null | undefined)[]
): string[] {
  if (long === null || long === undefined) return columns.map(decodeText);
  return (JSON.parse(long) as string[]).map(decodeText);
}

/** The target of a change, and the revision that it creates. */
export interface PostgresWriteContext {
  readonly transaction: PostgresTransaction;
  /** Whether Citus spreads the tables over nodes. */
  readonly isDistributed: boolean;
  /** The user's number, and the keys of both names. */
  readonly person: number;
  readonly project: string;
  readonly name: string;
  readonly revision: number;
}
