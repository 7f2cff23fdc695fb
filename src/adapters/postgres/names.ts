import { createHash } from "node:crypto";

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
