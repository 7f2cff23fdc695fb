import { createHash } from "node:crypto";
import type { Scope } from "../../../domain/scope.ts";
import { checkNames } from "../../shared/stored-rows.ts";
import { createStatement, type Row, type SqlStatement } from "./connection.ts";
import type { AccessScope, PostgresDatabase } from "./database.ts";

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

/** The longest text, in bytes of UTF-8, that stands in an index as it is: two of them fit into an entry of a B-tree. */
const MAX_KEY_BYTES = 1000;

/**
 * An id or a name as it stands in a column with an index. PostgreSQL's texts hold no NUL, and an entry of its B-trees is at
 * most 2,704 bytes: a backslash is doubled, a NUL is `\0`, and a text that is too long is `\#` and its SHA-256. Half a
 * surrogate pair becomes U+FFFD, as in SQLite.
 */
export function toIndexKey(name: string): string {
  const text = encodeText(name);
  if (text.length * 3 <= MAX_KEY_BYTES || Buffer.byteLength(text) <= MAX_KEY_BYTES) return text;
  return `\\#${createHash("sha256").update(text).digest("hex")}`;
}

/** A text as it stands in a column: with no NUL, and as `keyOf` has it where it is short. */
export function encodeText(name: string): string {
  const whole = name.toWellFormed();
  return /[\\\0]/.test(whole) ? whole.replaceAll("\\", "\\\\").replaceAll("\0", "\\0") : whole;
}

/** The text that `textOf` was given. */
export function decodeText(column: string | null | undefined): string {
  const text = column ?? "";
  if (!text.includes("\\")) return text;
  return text.replace(/\\(?<sign>[\\0])/g, (_whole, sign: string) => (sign === "0" ? "\0" : "\\"));
}

/** The names themselves, as JSON, where one of them is too long for its column; nothing where all can be read from there. */
export function encodeLongNames(...names: readonly string[]): string | null {
  return names.some((name) => toIndexKey(name).startsWith("\\#"))
    ? JSON.stringify(names.map(encodeText))
    : null;
}

/** Names from their columns, or from `longNames`. */
export function decodeNames(
  long: string | null | undefined,
  ...columns: readonly (string | null | undefined)[]
): string[] {
  if (long === null || long === undefined) return columns.map(decodeText);
  return (JSON.parse(long) as string[]).map(decodeText);
}

/**
 * The newest version of each of the heads of user `$1`, looked up by its key. A join is free to read all versions that the user has
 * for ten heads, and does where the server knows nothing of ids: OFFSET keeps it from being one.
 */
export const NEWEST_VERSIONS: string =
  "heads CROSS JOIN LATERAL (SELECT body FROM versions WHERE versions.person = $1 AND versions.id = heads.id " +
  "AND versions.version = heads.version OFFSET 0) AS newest";

/** Messages by `$2` and memories by `$3`, as of one moment. */
export const SELECT_BODIES: string =
  "SELECT 'message' AS type, id, body FROM messages WHERE person = $1 AND id = ANY ($2) UNION ALL " +
  `SELECT 'memory', heads.id, newest.body FROM ${NEWEST_VERSIONS} WHERE heads.person = $1 AND heads.id = ANY ($3)`;

export const SELECT_VECTORS: string =
  "SELECT id, encode(vector, 'base64') AS vector FROM units WHERE person = $1 AND id = ANY ($2) AND space = $3";

/**
 * What every recall asks for, of nobody: to plan them takes longer than to carry them out, and a connection does it once. The last is
 * asked for nothing but to have the server know the tables of search columns, whose COPY is planned each time.
 */
export const WARM_UP_STATEMENTS: readonly SqlStatement[] = [
  createStatement(SELECT_VECTORS, NO_USER, [], ""),
  createStatement(SELECT_BODIES, NO_USER, [], []),
  createStatement(
    "SELECT piece FROM blocks WHERE person = $1 AND piece >= 0 AND piece < 1 ORDER BY piece",
    NO_USER,
  ),
];
