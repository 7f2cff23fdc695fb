import type { Scope } from "../../domain/scope.ts";
import { exactShort, lengthened } from "../../domain/short-vector.ts";
import { invalid, MemoryError } from "../../errors.ts";
import type { Database } from "./database.ts";

const MOST_USERS = 100_000;

/**
 * The user's row, or nothing where nobody has written to the scope yet. Half a surrogate pair is refused: SQLite would
 * store another character for it, and two users would become one.
 */
export function userOf(database: Database, scope: Scope): { id: number; revision: number } | undefined {
  const { project, user: name } = scope;
  const key = keyOf(scope);
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
    if (database.users.size >= MOST_USERS) database.users.clear();
    database.users.set(key, id);
  }
  return { id, revision: Number(row.revision) };
}

/** The user's number, or -1, which nobody has. */
export function numberOf(database: Database, scope: Scope): number {
  return database.users.get(keyOf(scope)) ?? userOf(database, scope)?.id ?? -1;
}

function keyOf({ project, user }: Scope): string {
  return `${project.length}:${project}${user}`;
}

/** `invalid_input` for names that are no well-formed Unicode. */
export function checkNames(...names: readonly string[]): void {
  if (names.every((name) => name.isWellFormed())) return;
  throw invalid("a name or an id is no well-formed Unicode: it holds half a surrogate pair.");
}

/**
 * A vector as it is stored, without loss, little-endian: 16 bits a part and a byte for their exponent where that tells
 * it exactly (an odd number of bytes), else 32-bit floats (a multiple of four).
 */
export function blobOf(vector: Float32Array): Uint8Array {
  const short = vector.length === 0 ? undefined : exactShort(vector);
  if (!short) return new Uint8Array(vector.buffer, vector.byteOffset, vector.byteLength);
  const blob = new Uint8Array(2 * vector.length + 1);
  blob.set(new Uint8Array(short.codes.buffer));
  new Int8Array(blob.buffer)[2 * vector.length] = short.exponent;
  return blob;
}

export function vectorOf(blob: unknown): Float32Array {
  if (!(blob instanceof Uint8Array)) return new Float32Array(0);
  // Copied, because a row's bytes need not start where a larger number may.
  const { buffer, length } = blob.slice();
  if (length % 2 === 0) return new Float32Array(buffer);
  const exponent = new Int8Array(buffer)[length - 1] ?? 0;
  return lengthened({ codes: new Int16Array(buffer, 0, (length - 1) / 2), exponent });
}

/** The JSON of a row's `body`. `corrupt` where it is none; without the parser's words, which quote the row. */
export function bodyOf<Body>(row: { readonly [column: string]: unknown }): Body {
  try {
    return JSON.parse(String(row.body)) as Body;
  } catch {
    throw new MemoryError("corrupt", "the database is damaged: a row cannot be read. Run `keepsake doctor`.");
  }
}
