import { closeSync, openSync, readSync, statSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { createSqliteDatabase, readPragma, type SqliteDatabase } from "./database.ts";
import { isBusy } from "./errors.ts";
import { countInLiveRows } from "./live.ts";
import { countInBytes, createRawSearch } from "./raw-search.ts";

/** What the scanning process is asked: to count texts in raw bytes, or to compare the raw bytes with the live rows. */
export type ScanRequest =
  | { readonly scan: "count"; readonly files: readonly string[]; readonly texts: readonly string[] }
  | {
      readonly scan: "leftovers";
      readonly path: string;
      readonly files: readonly string[];
      readonly texts: readonly string[];
    };

/** `found`: for "count", how often each text occurs; for "leftovers", 1 for each text that occurs in bytes that no row explains. */
export type ScanResponse = { readonly found: readonly number[] } | { readonly failure: string };

/** Scans that are tried without the write lock, and then with it. */
const MAX_ATTEMPTS = 3;
/** Above this size, in bytes, no scan holds the write lock: others would wait for seconds. */
const LOCKED_SCAN_BYTES = 512 * 1024 * 1024;
const LOCK_TIMEOUT_MS = 2000;

/**
 * Carries out a scan. It must run in a process that has no database open: POSIX drops all locks of a process on a file
 * when the process closes any descriptor of that file (fcntl(2), "Advisory record locking"; sqlite.org/howtocorrupt.html, 2.2),
 * and without its locks a database can lose its write-ahead log to the next process that opens and closes it.
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
      // Closed at the end of the scan, after SQLite has closed its own.
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
 * 1 for each text that occurs more often in the raw bytes than live rows of any user explain. A page that a commit rewrote occurs
 * in the log and in the file, so a scan counts only while the log is empty and no commit came in between. Where commits
 * keep coming, the last scan holds the write lock. A text that lies across two pages is not seen.
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
    if (left.isExact || (statSync(path, { throwIfNoEntry: false })?.size ?? 0) > LOCKED_SCAN_BYTES) {
      return left.found;
    }
    return compareWithLock(database, compare);
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
): { found: number[]; isExact: boolean } {
  const { handle } = database;
  let found: number[] = [];
  for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt += 1) {
    handle.exec("PRAGMA wal_checkpoint(TRUNCATE)");
    const version = readPragma(handle, "data_version");
    found = compare();
    const isExact =
      !found.includes(1) || (isLogEmpty(database) && readPragma(handle, "data_version") === version);
    if (isExact) return { found, isExact };
  }
  return { found, isExact: false };
}

function compareWithLock(database: SqliteDatabase, compare: () => number[]): number[] {
  const { handle } = database;
  for (let attempt = 1; ; attempt += 1) {
    handle.exec("PRAGMA wal_checkpoint(TRUNCATE)");
    handle.exec("BEGIN IMMEDIATE");
    try {
      // Where a reader keeps the log from being emptied, what the log holds counts as left.
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
