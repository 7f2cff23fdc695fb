import type { ChangeSet, LogEntry } from "../../domain/change-set.ts";
import { dequantize, quantizeExactly } from "../../domain/search/quantized-vector.ts";
import { invalid, MemoryError } from "../../errors.ts";
import type { Delta } from "../../ports/memory-store.ts";
import type { DumpPart } from "../../ports/stores/store-dump.ts";

/** The JSON of a row's `body`. Throws `corrupt` if it does not parse, without the parser's message, which quotes the row. */
export function parseBody<Body>(row: { readonly [column: string]: unknown }): Body {
  try {
    return JSON.parse(String(row.body)) as Body;
  } catch {
    throw new MemoryError("corrupt", "the database is damaged: a row cannot be read. Run `keepsake doctor`.");
  }
}

/** The error of encryption that is switched on for a database with users. */
export function createUnencryptedError(): MemoryError {
  return new MemoryError(
    "conflict",
    "encryption: this database has users whose texts are not encrypted. `keepsake encryption convert` encrypts them.",
  );
}

/** Throws `invalid_input` for names that are not well-formed Unicode. */
export function checkNames(...names: readonly string[]): void {
  if (names.every((name) => name.isWellFormed())) return;
  throw invalid("a name or an id is not well-formed Unicode: it contains half a surrogate pair.");
}

/**
 * Encodes a vector for a database, without loss, little-endian. If 16 bits a part and one shared exponent byte are exact,
 * it uses them (an odd number of bytes). Otherwise it uses 32-bit floats (a multiple of four bytes).
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
  // Copied, because a row's bytes may be unaligned for wider numbers.
  const { buffer } = new Uint8Array(blob);
  const { length } = blob;
  if (length % 2 === 0) return new Float32Array(buffer);
  const exponent = new Int8Array(buffer)[length - 1] ?? 0;
  return dequantize({ codes: new Int16Array(buffer, 0, (length - 1) / 2), exponent });
}

/** The log entry for a change-set. It contains ids only. */
export function createLogEntry(revision: number, changes: ChangeSet): LogEntry {
  const { at, cause, undoes, importId, extractor, messages, memories } = changes;
  const { links = [], dropLinks = [], erase: erasure } = changes;
  return {
    revision,
    at,
    cause,
    ...(undoes === undefined ? {} : { undoes }),
    ...(importId === undefined ? {} : { importId }),
    ...(extractor === undefined ? {} : { extractor }),
    messages: (messages ?? []).map(({ id }) => id),
    memories: (memories ?? []).map(({ id, version, action }) => ({ id, version, action })),
    erased: erasure ? [...erasure.messages.map(({ id }) => id), ...erasure.memories] : [],
    ...(links.length > 0 ? { linked: links } : {}),
    ...(dropLinks.length > 0 ? { unlinked: dropLinks } : {}),
  };
}

/** The delta of a user without data. */
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

/** The table of each dump part; all SQL adapters use the same names. */
export const PART_TABLES: { readonly [Part in DumpPart]: string } = {
  users: "users",
  messages: "messages",
  attachments: "attachments",
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
  uses: "uses",
  shares: "shares",
  embedders: "embedder_choices",
  answers: "answers",
  visits: "visits",
  jobs: "jobs",
  backups: "backups",
  calls: "calls",
  turns: "turns",
};
