import { closeSync, openSync, readSync, statSync } from "node:fs";
import { createSqliteDatabase, type SqliteDatabase } from "../database.ts";
import { isBusy } from "../errors.ts";
import { DatabaseSync } from "../node-sqlite.ts";
import { countInLiveRows } from "./live-rows.ts";
import { countInBytes, createRawSearch, type ScanText } from "./raw-search.ts";

/** A request to the scanning process: count texts in raw bytes, or compare the raw bytes with the live rows. */
export type ScanRequest =
  | { readonly scan: "count"; readonly files: readonly string[]; readonly texts: readonly ScanText[] }
  | {
      readonly scan: "leftovers";
      readonly path: string;
      readonly files: readonly string[];
      readonly texts: readonly ScanText[];
    };

/** `found` has a number for each text: for "count", its occurrences; for "leftovers", 1 if it occurs in bytes that no row explains. */
export type ScanResponse = { readonly found: readonly number[] } | { readonly failure: string };

/** Attempts to empty the log, or to transfer it to the file, and then to begin. */
const MAX_ATTEMPTS = 3;
const LOCK_TIMEOUT_MS = 2000;
/** How long a checkpoint of another process may take while others wait to write. */
const LOCKED_CHECKPOINT_MS = 500;
const RETRY_PAUSE_MS = 1;
/** A scan that took longer than this is not repeated with the write lock: others wait at most five seconds for it. */
const LOCKED_SCAN_MS = 2500;

/**
 * Runs a scan. It must run in a process without an open database. POSIX drops all locks of a process on a file when the process
 * closes any descriptor of it (fcntl(2), "Advisory record locking"; sqlite.org/howtocorrupt.html, 2.2). Without its locks, a
 * database can lose its write-ahead log to the next process that opens and closes it.
 */
export function runScan(request: ScanRequest): ScanResponse {
  const descriptors: number[] = [];
  const search = createRawSearch(request.texts);
  if (search.isEmpty) return { found: request.texts.map(() => 0) };
  const countRaw = (files: readonly string[]): number[] => {
    const counts = request.texts.map(() => 0);
    for (const file of files) {
      const descriptor = openIfPresent(file);
      if (descriptor === undefined) continue;
      // Closed at the end of the scan, after SQLite closed its own descriptors.
      descriptors.push(descriptor);
      countInBytes((buffer, at, length) => readSync(descriptor, buffer, at, length, null), search, counts);
    }
    return counts;
  };
  try {
    if (request.scan === "count") return { found: countRaw(request.files) };
    return { found: findLeftovers(request, countRaw) };
  } finally {
    for (const descriptor of descriptors) closeSync(descriptor);
  }
}

/** Gives 1 for each text that occurs more often in the raw bytes of these files than live rows explain. */
type Compare = (files: readonly string[]) => number[];

/**
 * Gives 1 for each text that occurs more often in the raw bytes than the live rows of all users explain. A text that spans two
 * pages is not found.
 */
function findLeftovers(
  { path, files, texts }: ScanRequest & { readonly scan: "leftovers" },
  countRaw: (files: readonly string[]) => number[],
): number[] {
  const database = createSqliteDatabase(path, new DatabaseSync(path, { timeout: LOCK_TIMEOUT_MS }));
  const search = createRawSearch(texts);
  const compare: Compare = (scanned) => {
    const raw = countRaw(scanned);
    const live = texts.map(() => 0);
    if (raw.some((count) => count > 0)) countInLiveRows(database, search, live);
    return raw.map((count, i) => (count > (live[i] ?? 0) ? 1 : 0));
  };
  try {
    return compareInSnapshot(database, compare, files) ?? compareWithLog(database, compare, files);
  } catch (error) {
    if (isBusy(error)) return texts.map(() => 1);
    throw error;
  } finally {
    database.handle.close();
  }
}

/**
 * Compares while others write. Once the log was emptied, it contains later commits only, and it is not searched. A snapshot that
 * begins when the whole log is in the file reads from the file alone. No checkpoint may write to the file before it ends
 * (sqlite.org/walformat.html, WAL_READ_LOCK(0)). Others wait to write only while it begins. Undefined if another process reads
 * from the log.
 */
function compareInSnapshot(
  database: SqliteDatabase,
  compare: Compare,
  files: readonly string[],
): number[] | undefined {
  const { handle, path } = database;
  if (!checkpoint(database, "TRUNCATE", LOCK_TIMEOUT_MS)) return undefined;
  for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt += 1) {
    if (!beginSnapshot(database)) continue;
    try {
      return compare(files.filter((file) => file !== toLogPath(path)));
    } finally {
      handle.exec("ROLLBACK");
    }
  }
  return undefined;
}

/** False if a part of the log could not be transferred to the file; then no snapshot begins. */
function beginSnapshot(database: SqliteDatabase): boolean {
  const { handle, path } = database;
  const writer = new DatabaseSync(path, { timeout: 0 });
  try {
    if (!beginToWrite(writer)) return false;
    if (!checkpoint(database, "PASSIVE", LOCKED_CHECKPOINT_MS)) return false;
    handle.exec("BEGIN");
    // Only a read begins the snapshot.
    handle.prepare("SELECT count(*) FROM sqlite_schema").get();
    return true;
  } finally {
    writer.close();
  }
}

/**
 * True if the whole log is in the file. While another connection runs a checkpoint, SQLite refuses a second one at once, without its
 * timeout (sqlite.org/c3ref/wal_checkpoint_v2.html). The timeout also sleeps through the moments at which a busy writer holds no lock.
 * So this tries often, until `timeoutMs` is over.
 */
function checkpoint({ handle }: SqliteDatabase, mode: "TRUNCATE" | "PASSIVE", timeoutMs: number): boolean {
  const statement = handle.prepare(`PRAGMA wal_checkpoint(${mode})`);
  handle.exec("PRAGMA busy_timeout = 0");
  try {
    return retryUntil(performance.now() + timeoutMs, () => {
      const { busy, log, checkpointed } = statement.get() ?? {};
      return busy === 0 && log === checkpointed;
    });
  } finally {
    handle.exec(`PRAGMA busy_timeout = ${LOCK_TIMEOUT_MS}`);
  }
}

/** False if the file was locked at each attempt. */
function beginToWrite(writer: DatabaseSync): boolean {
  return retryUntil(performance.now() + LOCK_TIMEOUT_MS, () => {
    try {
      writer.exec("BEGIN IMMEDIATE");
      return true;
    } catch (error) {
      if (isBusy(error)) return false;
      throw error;
    }
  });
}

function retryUntil(end: number, attempt: () => boolean): boolean {
  for (;;) {
    if (attempt()) return true;
    if (performance.now() >= end) return false;
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, RETRY_PAUSE_MS);
  }
}

/** A page that a commit rewrites meanwhile may be counted twice. So what is found is searched for again while others wait to write. */
function compareWithLog(database: SqliteDatabase, compare: Compare, files: readonly string[]): number[] {
  const begun = performance.now();
  const found = compare(files);
  const isFinal = !found.includes(1) || performance.now() - begun > LOCKED_SCAN_MS;
  return isFinal ? found : compareWithLock(database, compare, files);
}

/** If a reader prevents the log from being emptied, texts in the log count as left. */
function compareWithLock(database: SqliteDatabase, compare: Compare, files: readonly string[]): number[] {
  const { handle } = database;
  for (let attempt = 1; ; attempt += 1) {
    handle.exec("PRAGMA wal_checkpoint(TRUNCATE)");
    handle.exec("BEGIN IMMEDIATE");
    try {
      if (isLogEmpty(database) || attempt === MAX_ATTEMPTS) return compare(files);
    } finally {
      handle.exec("ROLLBACK");
    }
  }
}

function toLogPath(path: string): string {
  return `${path}-wal`;
}

function isLogEmpty({ path }: SqliteDatabase): boolean {
  return (statSync(toLogPath(path), { throwIfNoEntry: false })?.size ?? 0) === 0;
}

function openIfPresent(file: string): number | undefined {
  try {
    return openSync(file, "r");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}
