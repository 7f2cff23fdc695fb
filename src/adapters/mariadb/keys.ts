import { createHash } from "node:crypto";
import type { Scope } from "../../domain/scope.ts";
import { checkNames } from "../shared/stored-rows.ts";
import type { MariadbRow, MariadbTransaction } from "./database.ts";

/** The longest text that an indexed column contains unhashed: three columns of four bytes a character fit into an index. */
export const MAX_KEY_LENGTH = 250;
const HASHED = "\\#";

/** An id or a name for an indexed column. A text that is too long, or looks like a hash, becomes `\#` and its SHA-256. */
export function toMariadbKey(name: string): string {
  const text = name.toWellFormed();
  if (text.length <= MAX_KEY_LENGTH && !text.startsWith(HASHED)) return text;
  return `${HASHED}${createHash("sha256").update(text).digest("hex")}`;
}

/** The names as JSON if one is too long for its column; null if the columns contain all of them. */
export function toLongNames(...names: readonly string[]): string | null {
  return names.some((name) => toMariadbKey(name).startsWith(HASHED))
    ? JSON.stringify(names.map((name) => name.toWellFormed()))
    : null;
}

/** The names from their columns, or from `toLongNames`. */
export function parseNames(long: unknown, ...columns: readonly unknown[]): string[] {
  if (long === null || long === undefined) return columns.map((column) => String(column ?? ""));
  return JSON.parse(String(long)) as string[];
}

/** The keys of a scope's names. Half a surrogate pair is refused: it would be stored as U+FFFD, and two users would become one. */
export function toMariadbScopeKeys({ project, user }: Scope): [project: string, name: string] {
  checkNames(project, user);
  return [toMariadbKey(project), toMariadbKey(user)];
}

/** The scope in a row of `users`. */
export function parseMariadbScope({ long_names, project, name }: MariadbRow): {
  project: string;
  user: string;
} {
  const [of = "", user = ""] = parseNames(long_names, project, name);
  return { project: of, user };
}

/** The number of the user of two keys, as a value in a statement; NULL if there is none. */
export const USER_NUMBER = "(SELECT number FROM users WHERE project = ? AND name = ?)";

/** The user's row, or undefined. */
export async function findMariadbUser(
  transaction: Pick<MariadbTransaction, "query">,
  scope: Scope,
  lock: "" | "FOR UPDATE" = "",
): Promise<{ readonly number: number; readonly revision: number; readonly turns: number } | undefined> {
  const sql = `SELECT number, revision, turns FROM users WHERE project = ? AND name = ? ${lock}`;
  const [row] = await transaction.query(sql, ...toMariadbScopeKeys(scope));
  return row && { number: Number(row.number), revision: Number(row.revision), turns: Number(row.turns) };
}

/** A condition that a column has one of some keys, and its value. */
export function toKeyList(ids: readonly string[]): string[] {
  return [...new Set(ids.map(toMariadbKey))];
}
