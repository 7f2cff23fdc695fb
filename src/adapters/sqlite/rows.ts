import type { Scope } from "../../domain/scope.ts";
import { invalid, MemoryError } from "../../errors.ts";
import type { Database } from "./database.ts";

/**
 * The user's row, or nothing where nobody has written to the scope yet. Half a surrogate pair is refused: SQLite would
 * store another character for it, and two users would become one.
 */
export function userOf(
  database: Database,
  { project, user: name }: Scope,
): { id: number; revision: number } | undefined {
  checkNames(project, name);
  const row = database
    .statement("SELECT id, revision FROM users WHERE project = :project AND name = :name")
    .get({ project, name });
  return row && { id: Number(row.id), revision: Number(row.revision) };
}

/** `invalid_input` for names that are no well-formed Unicode. */
export function checkNames(...names: readonly string[]): void {
  if (names.every((name) => name.isWellFormed())) return;
  throw invalid("a name or an id is no well-formed Unicode: it holds half a surrogate pair.");
}

/** A vector as it is stored: 32-bit floats, little-endian. */
export function blobOf(vector: Float32Array): Uint8Array {
  return new Uint8Array(vector.buffer, vector.byteOffset, vector.byteLength);
}

export function vectorOf(blob: unknown): Float32Array {
  if (!(blob instanceof Uint8Array)) return new Float32Array(0);
  // Copied, because a row's bytes need not start where a 32-bit float may.
  return new Float32Array(blob.slice().buffer);
}

/** The JSON of a row's `body`. `corrupt` where it is none; without the parser's words, which quote the row. */
export function bodyOf<Body>(row: { readonly [column: string]: unknown }): Body {
  try {
    return JSON.parse(String(row.body)) as Body;
  } catch {
    throw new MemoryError("corrupt", "the database is damaged: a row cannot be read. Run `keepsake doctor`.");
  }
}
