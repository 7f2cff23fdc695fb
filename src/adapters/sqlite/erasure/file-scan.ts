import { closeSync, openSync, readSync, statSync } from "node:fs";
import { createSqliteDatabase, readPragma, type SqliteDatabase } from "../database.ts";
import { isBusy } from "../errors.ts";
import { DatabaseSync } from "../node-sqlite.ts";

/** A request to the scanning process: count texts in raw bytes, or compare the raw bytes with the live rows. */
export type ScanRequest =
  | { readonly scan: "count"; readonly files: readonly string[]; readonly texts: readonly string[] }
  | {
      readonly scan: "leftovers";
      readonly path: string;
      readonly files: readonly string[];
      readonly texts: readonly string[];
    };

/** `found` has a number for each text: for "count", its occurrences; for "leftovers", 1 if it occurs in bytes that no row explains. */
export type ScanResponse = { readonly found: readonly number[] } | { readonly failure: string };

/** Attempts without the write lock, and then with it. */
const MAX_ATTEMPTS = 3;
/** A scan that took longer than this is not repeated with the write lock: others wait at most five seconds for it. */
const LOCKED_SCAN_MS = 2500;
const LOCK_TIMEOUT_MS = 2000;

/**
 * Runs a scan. It must run in a process without an open database. POSIX drops all locks of a process on a file when the process
 * closes any descriptor of it (fcntl(2), "Advisory record locking"; sqlite.org/howtocorrupt.html, 2.2). Without its locks, a
 * database can lose its write-ahead log to the next process that opens and closes it.
 */
export function runScan(request: ScanRequest): ScanResponse {
  const search = createRawSearch(request.texts);
  if (search.isEmpty) return { found: request.texts.map(() => 0) };
  const descriptors: number[] = [];
  const countRaw = (): number[] => {
    const counts = request.texts.map(() => 0);
    for (const file of request.files) {
      const descriptor = openIfPresent(file);
      if (descriptor === undefined) continue;
      // Closed at the end of the scan, after SQLite closed its own descriptors.
      descriptors.push(descriptor);
      countInBytes((buffer, at, length) => readSync(descriptor, buffer, at, length, null), search, counts);
    }
    return counts;
  };
  try {
    if (request.scan === "count") return { found: countRaw() };
    return { found: findLeftovers(request, countRaw) };
  } finally {
    for (const descriptor of descriptors) closeSync(descriptor);
  }
}

/**
 * Gives 1 for each text that occurs more often in the raw bytes than the live rows of all users explain. A page that a commit
 * rewrote occurs in both the log and the file. So a scan counts only if the log is empty and no commit came in between. If
 * commits keep coming, the last scan takes the write lock. A text that spans two pages is not found.
 */
function findLeftovers(
  { path, texts }: { readonly path: string; readonly texts: readonly string[] },
  countRaw: () => number[],
): number[] {
  const database = createSqliteDatabase(path, new DatabaseSync(path, { timeout: LOCK_TIMEOUT_MS }));
  const search = createRawSearch(texts);
  const compare = (): number[] => {
    const raw = countRaw();
    const live = texts.map(() => 0);
    countInLiveRows(database, search, live);
    return raw.map((count, i) => (count > (live[i] ?? 0) ? 1 : 0));
  };
  try {
    const left = compareWithoutLock(database, compare);
    return left.isExact || left.lastMs > LOCKED_SCAN_MS ? left.found : compareWithLock(database, compare);
  } catch (error) {
    if (isBusy(error)) return texts.map(() => 1);
    throw error;
  } finally {
    database.handle.close();
  }
}

function compareWithoutLock(
  database: SqliteDatabase,
  compare: () => number[],
): { found: number[]; isExact: boolean; lastMs: number } {
  const { handle } = database;
  let found: number[] = [];
  let lastMs = 0;
  for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt += 1) {
    handle.exec("PRAGMA wal_checkpoint(TRUNCATE)");
    const version = readPragma(handle, "data_version");
    const begun = performance.now();
    found = compare();
    lastMs = performance.now() - begun;
    const isExact =
      !found.includes(1) || (isLogEmpty(database) && readPragma(handle, "data_version") === version);
    if (isExact) return { found, isExact, lastMs };
  }
  return { found, isExact: false, lastMs };
}

function compareWithLock(database: SqliteDatabase, compare: () => number[]): number[] {
  const { handle } = database;
  for (let attempt = 1; ; attempt += 1) {
    handle.exec("PRAGMA wal_checkpoint(TRUNCATE)");
    handle.exec("BEGIN IMMEDIATE");
    try {
      // If a reader prevents the log from being emptied, texts in the log count as left.
      if (isLogEmpty(database) || attempt === MAX_ATTEMPTS) return compare();
    } finally {
      handle.exec("ROLLBACK");
    }
  }
}

function isLogEmpty({ path }: SqliteDatabase): boolean {
  return (statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0) === 0;
}

function openIfPresent(file: string): number | undefined {
  try {
    return openSync(file, "r");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}

/** The fewest bytes of a text to search for, because a shorter run occurs in any file by chance. */
const MIN_NEEDLE_BYTES = 4;
const CHUNK_BYTES = 4 * 1024 * 1024;

/** One encoding of a text in bytes. */
interface SearchNeedle {
  /** The index of the text. */
  readonly text: number;
  /** UTF-8, with ASCII letters in lower case. */
  readonly bytes: Uint8Array;
}

/** Searches for any number of texts in one pass over the bytes. */
interface RawSearch {
  readonly isEmpty: boolean;
  /** The length of the longest text in bytes. */
  readonly longest: number;
  /** Adds to `counts` how often each text begins in the bytes before `end`. */
  count(bytes: Uint8Array, counts: number[], end?: number): void;
}

const LOWER = Uint8Array.from({ length: 256 }, (_, byte) => (byte >= 65 && byte <= 90 ? byte + 32 : byte));

export function createRawSearch(texts: readonly string[]): RawSearch {
  const needles = texts.flatMap(buildNeedles);
  // The first four bytes select the needles to compare; a table of bits rules out nearly all positions at once.
  const byStart = new Map<number, SearchNeedle[]>();
  const table = new Uint8Array(65_536);
  for (const needle of needles) {
    const start = getStart(needle.bytes);
    byStart.set(start, [...(byStart.get(start) ?? []), needle]);
    table[toSlot(start)] = 1;
  }
  return {
    isEmpty: needles.length === 0,
    longest: needles.reduce((most, { bytes }) => Math.max(most, bytes.length), 0),
    count(bytes, counts, end = bytes.length) {
      const last = Math.min(bytes.length, end + MIN_NEEDLE_BYTES - 1);
      let start = 0;
      for (let i = 0; i < last; i += 1) {
        start = (start << 8) | (LOWER[bytes[i] ?? 0] ?? 0);
        if (i < MIN_NEEDLE_BYTES - 1 || table[toSlot(start)] === 0) continue;
        countAt(bytes, i - MIN_NEEDLE_BYTES + 1, byStart.get(start) ?? [], counts);
      }
    },
  };
}

/** The text unchanged and in both cases, as plain text and inside JSON. */
function buildNeedles(text: string, number: number): SearchNeedle[] {
  const cased = [text, text.toLowerCase(), text.toUpperCase()];
  const forms = cased.flatMap((form) => [form, JSON.stringify(form).slice(1, -1)]);
  const folded = forms.map((form) => Buffer.from(form, "utf8").map((byte) => LOWER[byte] ?? 0));
  const distinct = new Map(folded.map((bytes) => [Buffer.from(bytes).toString("latin1"), bytes]));
  return [...distinct.values()]
    .filter(({ length }) => length >= MIN_NEEDLE_BYTES)
    .map((bytes) => ({ text: number, bytes }));
}

function getStart(bytes: Uint8Array): number {
  return bytes.subarray(0, MIN_NEEDLE_BYTES).reduce((start, byte) => (start << 8) | byte, 0);
}

function toSlot(start: number): number {
  return Math.imul(start, 0x9e3779b1) >>> 16;
}

function countAt(bytes: Uint8Array, at: number, needles: readonly SearchNeedle[], counts: number[]): void {
  for (const { text, bytes: wanted } of needles) {
    if (matchesAt(bytes, at, wanted)) counts[text] = (counts[text] ?? 0) + 1;
  }
}

function matchesAt(bytes: Uint8Array, at: number, wanted: Uint8Array): boolean {
  if (at + wanted.length > bytes.length) return false;
  for (let i = MIN_NEEDLE_BYTES; i < wanted.length; i += 1) {
    if (LOWER[bytes[at + i] ?? 0] !== wanted[i]) return false;
  }
  return true;
}

/**
 * Adds to `counts` how often each text occurs in the pieces that `read` gives. `read` fills the buffer from `at` with at most
 * `length` bytes, and gives their number; 0 at the end.
 */
export function countInBytes(
  read: (buffer: Buffer, at: number, length: number) => number,
  search: RawSearch,
  counts: number[],
): void {
  const overlap = Math.max(0, search.longest - 1);
  const buffer = Buffer.alloc(CHUNK_BYTES + overlap);
  let kept = 0;
  for (;;) {
    const bytesRead = read(buffer, kept, CHUNK_BYTES);
    const filled = kept + bytesRead;
    const isEnd = bytesRead === 0;
    // A text that begins in the last bytes may end in the next piece, so it is counted there.
    const end = isEnd ? filled : Math.max(0, filled - overlap);
    search.count(buffer.subarray(0, filled), counts, end);
    if (isEnd) return;
    buffer.copyWithin(0, end, filled);
    kept = filled - end;
  }
}

/**
 * Adds to `counts` how often the file contains each text because of live rows, of all users. The value of an indexed column
 * occurs in its table and once more in each index.
 */
function countInLiveRows(database: SqliteDatabase, search: RawSearch, counts: number[]): void {
  const { handle } = database;
  const tables = handle
    .prepare("SELECT name, wr FROM pragma_table_list WHERE schema = 'main' AND type = 'table'")
    .all();
  for (const { name, wr } of tables) {
    const copies = countColumnCopies(database, String(name), Number(wr) === 1);
    const columns = [...copies.keys()].map(quoteName).join(", ");
    for (const row of handle.prepare(`SELECT ${columns} FROM ${quoteName(String(name))}`).iterate()) {
      for (const [column, times] of copies) countValue(row[column], times, search, counts);
    }
  }
}

/** Column -> how often the file contains each of its values. */
function countColumnCopies(
  { handle }: SqliteDatabase,
  table: string,
  isItsOwnIndex: boolean,
): Map<string, number> {
  const copies = new Map<string, number>();
  const add = ({ name }: { [column: string]: unknown }): void => {
    if (name !== null) copies.set(String(name), (copies.get(String(name)) ?? 0) + 1);
  };
  handle.prepare("SELECT name FROM pragma_table_xinfo(:table)").all({ table }).forEach(add);
  for (const index of handle.prepare("SELECT name, origin FROM pragma_index_list(:table)").all({ table })) {
    // The primary key of a WITHOUT ROWID table is the table itself.
    if (isItsOwnIndex && index.origin === "pk") continue;
    handle
      .prepare("SELECT name FROM pragma_index_xinfo(:index)")
      .all({ index: index.name ?? "" })
      .forEach(add);
  }
  return copies;
}

function quoteName(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

function countValue(value: unknown, times: number, search: RawSearch, counts: number[]): void {
  const bytes = typeof value === "string" ? Buffer.from(value, "utf8") : value;
  if (!(bytes instanceof Uint8Array)) return;
  for (let i = 0; i < times; i += 1) search.count(bytes, counts);
}
