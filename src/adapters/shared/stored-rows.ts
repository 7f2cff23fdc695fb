import type { ChangeSet, LogEntry } from "../../domain/change-set.ts";
import { dequantize, quantizeExactly } from "../../domain/search/quantized-vector.ts";
import { invalid, MemoryError } from "../../errors.ts";
import type { Delta } from "../../ports/memory-store.ts";
import type { DumpPart } from "../../ports/store-dump.ts";

/** The JSON of a row's `body`. `corrupt` where it is none; without the parser's words, which quote the row. */
export function parseBody<Body>(row: { readonly [column: string]: unknown }): Body {
  try {
    return JSON.parse(String(row.body)) as Body;
  } catch {
    throw new MemoryError("corrupt", "the database is damaged: a row cannot be read. Run `keepsake doctor`.");
  }
}

/** `invalid_input` for names that are no well-formed Unicode. */
export function checkNames(...names: readonly string[]): void {
  if (names.every((name) => name.isWellFormed())) return;
  throw invalid("a name or an id is no well-formed Unicode: it holds half a surrogate pair.");
}

/**
 * A vector as a database stores it, without loss, little-endian: 16 bits a part and a byte for their exponent where that
 * tells it exactly (an odd number of bytes), else 32-bit floats (a multiple of four).
 */
export function encodeVector(vector: Float32Array): Uint8Array {
  const short = vector.length === 0 ? undefined : quantizeExactly(vector);
  if (!short) return new Uint8Array(vector.buffer, vector.byteOffset, vector.byteLength);
  const blob = new Uint8Array(2 * vector.length + 1);
  blob.set(new Uint8Array(short.codes.buffer));
  new Int8Array(blob.buffer)[2 * vector.length] = short.exponent;
  return blob;
}

export function decodeVector(blob: unknown): Float32Array {
  if (!(blob instanceof Uint8Array)) return new Float32Array(0);
  // Copied, because a row's bytes need not start where a larger number may.
  const { buffer } = new Uint8Array(blob);
  const { length } = blob;
  if (length % 2 === 0) return new Float32Array(buffer);
  const exponent = new Int8Array(buffer)[length - 1] ?? 0;
  return dequantize({ codes: new Int16Array(buffer, 0, (length - 1) / 2), exponent });
}

/** What a change-set did, by id alone: the entry that a record logs for it. */
export function createLogEntry(
  revision: number,
  { at, cause, undoes, messages, memories, erase: erasure }: ChangeSet,
): LogEntry {
  return {
    revision,
    at,
    cause,
    ...(undoes === undefined ? {} : { undoes }),
    messages: (messages ?? []).map(({ id }) => id),
    memories: (memories ?? []).map(({ id, version, action }) => ({ id, version, action })),
    erased: erasure ? [...erasure.messages.map(({ id }) => id), ...erasure.memories] : [],
  };
}

/** What is read of somebody who has nothing. */
export function createEmptyDelta(): Delta {
  return {
    revision: 0,
    messages: [],
    memories: [],
    units: [],
    gone: { units: [], memories: [] },
    tombstones: [],
    links: [],
  };
}

/** The table of each part, which SQL databases name alike. */
export const PART_TABLES: { readonly [Part in DumpPart]: string } = {
  users: "users",
  messages: "messages",
  versions: "versions",
  memories: "heads",
  units: "units",
  gone: "gone",
  tombstones: "tombstones",
  links: "links",
  log: "log",
  receipts: "receipts",
  erasures: "erasures",
  recalls: "recalls",
  answers: "answers",
  visits: "visits",
  jobs: "jobs",
  backups: "backups",
  calls: "calls",
  turns: "turns",
};
