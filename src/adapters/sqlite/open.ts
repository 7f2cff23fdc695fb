import { accessSync, chmodSync, constants, type Stats, statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { invalid, MemoryError } from "../../errors.ts";
import { createSqliteDatabase, readPragma, type SqliteDatabase } from "./database.ts";
import { finishErasures } from "./erasure/erase-in-steps.ts";
import { getSqliteResultCode, isBusy, isFull, retryWhileBusy } from "./errors.ts";
import { createDatabaseFile } from "./files/create.ts";
import { removeOldDrafts } from "./files/drafts.ts";
import { copyBeforeUpdate, deleteOutdatedCopies, hasUnfinishedCopy } from "./files/update-copies.ts";
import { guardRows } from "./integrity/row-guard.ts";
import { migrationsFor, SQLITE_MIGRATIONS } from "./migrations/index.ts";
import { DatabaseSync } from "./node-sqlite.ts";

/** Version 3.51.3 fixes a race between two checkpointing connections that can damage a WAL database. */
const MIN_SQLITE_VERSION: readonly number[] = [3, 51, 3];
/** How long SQLite itself waits for a lock, which blocks the whole process; `retryWhileBusy` does the rest. */
const BLOCKING_MS = 50;

/** Tuning of SQLite. None of it weakens what is durable, or what an erasure overwrites. */
export interface SqliteTuning {
  /** The page cache of a connection, in SQLite's own unit: pages, or KiB if negative (-32,000). */
  readonly cacheSize?: number;
  /** Bytes of the file that are read through a memory map (0). */
  readonly mmapBytes?: number;
  /** True also syncs the folder after each transaction: `synchronous=EXTRA`. */
  readonly syncsFolder?: boolean;
  /** True keeps temporary tables in memory. */
  readonly hasTempInMemory?: boolean;
}

/** `digestKey` gives the key for row digests (32 bytes, hex); `onSyncFailure` is called once, after a failed sync. */
export interface SqliteOpenOptions {
  readonly digestKey?: (() => string) | undefined;
  readonly onSyncFailure?: (() => void) | undefined;
  readonly tuning?: SqliteTuning | undefined;
}

/**
 * Opens a database file, or creates it (mode 0600). Throws `unavailable` if it cannot be read and written, and `corrupt` if it is
 * damaged or not a database. Throws `unsupported` if it belongs to another program or a newer version. A refused file is not
 * changed. The key for digests is requested once the file is known to belong to this program.
 */
export function openSqliteDatabase(named: string, options: SqliteOpenOptions = {}): SqliteDatabase {
  const database = openUnmigrated(named, options);
  try {
    migrate(database);
    database.guard = guardRows(database.handle, options.digestKey?.());
    finishErasures(database);
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

/** How long a process waits while another one copies and migrates the file, in ms. */
const LONGEST_UPDATE_MS = 600_000;

/**
 * Like `openSqliteDatabase`, but copies a file before it is migrated (see `copyBeforeUpdate`). Throws `unavailable` if the copy
 * cannot be made. It waits up to `waitMs` for other writers, and longer while another process makes the copy.
 */
export async function openWithUpdateCopy(
  named: string,
  waitMs: number,
  options: SqliteOpenOptions = {},
): Promise<SqliteDatabase> {
  const database = await retryWhileBusy(waitMs, () => openUnmigrated(named, options));
  try {
    if (isOlderFile(database)) await updateWithCopy(database, waitMs);
    else await retryWhileBusy(waitMs, () => migrate(database));
    database.guard = guardRows(database.handle, options.digestKey?.());
    if (database.path !== ":memory:") await deleteOutdatedCopies(database.path);
    await retryWhileBusy(waitMs, () => finishErasures(database));
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

function openUnmigrated(named: string, { onSyncFailure, tuning = {} }: SqliteOpenOptions): SqliteDatabase {
  if (named === "" || named.includes("\0")) throw invalid('path: name the database file, or ":memory:".');
  // Resolved, so that SQLite never takes a name such as "file:x?mode=memory" for a URL.
  const path = named === ":memory:" ? named : resolve(named);
  if (path !== ":memory:") prepareFile(path);
  const handle = new DatabaseSync(path, { timeout: BLOCKING_MS });
  try {
    checkSqliteVersion(handle);
    handle.exec(PRAGMAS_OF_FILE);
    handle.exec(`${PRAGMAS_OF_WRITER}; PRAGMA foreign_keys = ON; PRAGMA secure_delete = ON`);
    handle.exec("PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON; PRAGMA cache_size = -32000");
    tune(handle, tuning);
    // Otherwise INSERT OR REPLACE would delete rows without firing their triggers.
    handle.exec("PRAGMA recursive_triggers = ON");
    const database = createSqliteDatabase(path, handle, undefined, onSyncFailure);
    checkpointLog(database);
    return database;
  } catch (error) {
    handle.close();
    throw error;
  }
}

function tune(
  handle: DatabaseSync,
  { cacheSize, mmapBytes, syncsFolder, hasTempInMemory }: SqliteTuning,
): void {
  if (cacheSize !== undefined) handle.exec(`PRAGMA cache_size = ${Math.trunc(cacheSize)}`);
  if (mmapBytes !== undefined) handle.exec(`PRAGMA mmap_size = ${Math.trunc(mmapBytes)}`);
  if (syncsFolder) handle.exec("PRAGMA synchronous = EXTRA");
  if (hasTempInMemory) handle.exec("PRAGMA temp_store = MEMORY");
}

/** The page size only takes effect before the first table; larger pages suit rows with vectors. */
const PRAGMAS_OF_FILE = "PRAGMA page_size = 8192; PRAGMA journal_mode = WAL";
/** macOS: fsync(2) alone leaves data in the cache of the disk (sqlite.org/pragma.html#pragma_fullfsync). No effect elsewhere. */
const PRAGMAS_OF_WRITER =
  "PRAGMA synchronous = FULL; PRAGMA fullfsync = ON; PRAGMA checkpoint_fullfsync = ON";

function isOlderFile({ path, handle }: SqliteDatabase): boolean {
  const version = readPragma(handle, "user_version");
  return path !== ":memory:" && version > 0 && version < SQLITE_MIGRATIONS.length;
}

/** Holds the write lock from before the copy until after the migration, so that the copy is what was migrated. */
async function updateWithCopy(database: SqliteDatabase, waitMs: number): Promise<void> {
  const { path, handle } = database;
  const end = performance.now() + LONGEST_UPDATE_MS;
  const lock = (): void => handle.exec("BEGIN IMMEDIATE");
  for (;;) {
    try {
      await retryWhileBusy(waitMs, lock);
      break;
    } catch (error) {
      if (!isBusy(error) || !hasUnfinishedCopy(path) || performance.now() > end) throw error;
    }
  }
  try {
    checkOwner(path, handle);
    // Read again under the lock: another process may have been faster.
    if (isOlderFile(database)) {
      await copyBeforeUpdate(path, SQLITE_MIGRATIONS.length);
      applyMigrations(handle);
    }
    handle.exec("COMMIT");
  } catch (error) {
    if (handle.isTransaction) handle.exec("ROLLBACK");
    throw error;
  }
}

/**
 * Copies the log of an earlier process into the database. If a sync of that process failed, the log may only be in the system's
 * cache, and a later sync would not report that. The checkpoint writes and syncs the data again.
 */
function checkpointLog(database: SqliteDatabase): void {
  if (database.path === ":memory:" || !isFilled(`${database.path}-wal`)) return;
  try {
    database.handle.exec("PRAGMA wal_checkpoint(PASSIVE)");
  } catch (error) {
    // Reads continue with the log as it is. After a failed sync, writes do not.
    database.noteFailure(error);
    if (!isBusy(error) && !isFull(error)) throw error;
  }
}

function checkSqliteVersion(handle: DatabaseSync): void {
  const version = String(handle.prepare("SELECT sqlite_version() AS version").get()?.version);
  if (!isOlderVersion(version, MIN_SQLITE_VERSION)) return;
  throw new MemoryError(
    "unsupported",
    `SQLite ${version} is too old: ${MIN_SQLITE_VERSION.join(".")} is required. Use a newer version of Node.js.`,
  );
}

/** Whether a version such as "3.46.1" is older than another. */
export function isOlderVersion(version: string, oldest: readonly number[]): boolean {
  const parts = version.split(".").map(Number);
  const at = oldest.findIndex((part, i) => parts[i] !== part);
  return at !== -1 && (parts[at] ?? 0) < (oldest[at] ?? 0);
}

function migrate(database: SqliteDatabase): void {
  const { path, handle } = database;
  if (readPragma(handle, "user_version") === SQLITE_MIGRATIONS.length) return;
  database.transaction(() => {
    // Read again under the write lock: another process may have been faster.
    checkOwner(path, handle);
    applyMigrations(handle);
  });
}

function applyMigrations(handle: DatabaseSync): void {
  for (const migration of migrationsFor(handle, readPragma(handle, "user_version"))) handle.exec(migration);
  handle.exec(`PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = ${SQLITE_MIGRATIONS.length}`);
}

/** "KEEP": distinguishes files of this program from other databases. */
export const APPLICATION_ID = 0x4b454550;
/** SQLite's result codes NOTADB and CORRUPT (sqlite.org/rescode.html). */
const NOT_A_DATABASE = 26;
const DAMAGED = 11;
/** Up to this size, the pages are checked at each opening: about 40 ms. Larger files are only checked by `check`. */
const CHECKED_BYTES = 64 * 1024 * 1024;

/**
 * Creates the file for its owner only, or checks without writing whether the existing file can be used. Throws like
 * `openSqliteDatabase`.
 */
export function prepareFile(path: string): void {
  const found = statSync(path, { throwIfNoEntry: false });
  if (!found) createFile(path);
  else examineFile(path, found);
  removeOldDrafts(path);
}

function examineFile(path: string, found: Stats): void {
  if (!found.isFile()) throw createUnavailableError(path, "this is not a file. Choose another path.");
  // The superuser can write to read-only files, but the mode shows the owner's intent.
  if ((found.mode & 0o222) === 0 || !isUsable(path)) {
    throw createUnavailableError(path, "the file cannot be read and written. Check its owner and mode.");
  }
  if (found.size > 0) {
    // The next connection that writes rolls back a transaction that was cut off while the file was created.
    if (isFilled(`${path}-journal`)) checkBeginning(path);
    else inspectFile(path, found);
  }
  restrictToOwner(path, found);
}

function createFile(path: string): void {
  const folder = statSync(dirname(path), { throwIfNoEntry: false });
  if (!folder?.isDirectory())
    throw createUnavailableError(path, "its folder does not exist. Create the folder first.");
  try {
    createDatabaseFile(path, (handle) => {
      handle.exec(`${PRAGMAS_OF_FILE}; ${PRAGMAS_OF_WRITER}; BEGIN IMMEDIATE`);
      applyMigrations(handle);
      handle.exec("COMMIT");
    });
  } catch (cause) {
    throw createUnavailableError(
      path,
      "the file cannot be created. Is the folder writable, and is there free space?",
      cause,
    );
  }
}

function isUsable(path: string): boolean {
  try {
    accessSync(path, constants.R_OK | constants.W_OK);
    return true;
  } catch {
    // The reason does not matter here.
    return false;
  }
}

function hasChanged(now: Stats, before: Stats): boolean {
  return now.mtimeMs !== before.mtimeMs || now.size !== before.size;
}

/** Whether a file exists and is not empty. */
function isFilled(path: string): boolean {
  return (statSync(path, { throwIfNoEntry: false })?.size ?? 0) > 0;
}

/**
 * Refuses a file that does not begin like a database. Only SQLite opens the file: if this process has it open elsewhere, closing
 * another descriptor would drop the locks of that connection.
 */
function checkBeginning(path: string): void {
  const url = pathToFileURL(path);
  url.search = "immutable=1";
  const handle = new DatabaseSync(url, { readOnly: true });
  try {
    handle.prepare("PRAGMA application_id").get();
  } catch (error) {
    if (getSqliteResultCode(error) === NOT_A_DATABASE) throw toFileError(path, error);
  } finally {
    handle.close();
  }
}

/** Reads the file without write access, so that a refused file is not changed. */
function inspectFile(path: string, found: Stats): void {
  // Without a log, no other connection is open: SQLite can read the file alone, and creates no other files.
  const isAlone = !isFilled(`${path}-wal`);
  const url = pathToFileURL(path);
  if (isAlone) url.search = "immutable=1";
  try {
    const handle = new DatabaseSync(url, { readOnly: true, timeout: 1000 });
    try {
      checkOwner(path, handle);
      if (found.size <= CHECKED_BYTES) checkPages(path, handle);
    } finally {
      handle.close();
    }
  } catch (error) {
    // Another process began to write while this one read a file that seemed to be unused.
    const now = statSync(path, { throwIfNoEntry: false });
    if (!isAlone || !now || (!isFilled(`${path}-wal`) && !hasChanged(now, found)))
      throw toFileError(path, error);
    inspectFile(path, now);
  }
}

/** The error for SQLite's result code; any other error unchanged. */
function toFileError(path: string, error: unknown): unknown {
  const code = getSqliteResultCode(error);
  if (code === NOT_A_DATABASE) {
    return new MemoryError(
      "corrupt",
      `database ${path}: the file is not a database, or its beginning is damaged. Choose another path, or restore the newest ` +
        "export or backup. The file was not changed.",
      { cause: error },
    );
  }
  // SQLite compares the number of pages in the header with the size of the file.
  return code === DAMAGED
    ? createDamagedError(path, "a part of it is missing, or its pages do not match", error)
    : error;
}

function checkPages(path: string, handle: DatabaseSync): void {
  const row = handle.prepare("PRAGMA quick_check(1)").get();
  if (row?.quick_check !== "ok") throw createDamagedError(path, "its pages are inconsistent");
}

const SELECT_OWNER =
  "SELECT application_id AS application, (SELECT count(*) FROM sqlite_schema) AS tables FROM pragma_application_id";

/** Refuses databases of other programs, and of newer versions. */
export function checkOwner(path: string, handle: DatabaseSync): void {
  // In one statement: between two, another process could create the tables.
  const { application, tables } = handle.prepare(SELECT_OWNER).get() ?? {};
  if (application !== APPLICATION_ID && (application !== 0 || tables !== 0)) {
    throw new MemoryError(
      "unsupported",
      `database ${path}: the file belongs to another program. Choose another path. The file was not changed.`,
    );
  }
  if (readPragma(handle, "user_version") > SQLITE_MIGRATIONS.length) {
    throw new MemoryError(
      "unsupported",
      `database ${path}: a newer version of Keepsake created it. Update Keepsake. The file was not changed.`,
    );
  }
}

/** A database contains private messages, so only its owner may read it. SQLite gives its log the same mode. */
function restrictToOwner(path: string, { mode, uid }: Stats): void {
  if ((mode & 0o077) === 0 || process.getuid?.() !== uid) return;
  for (const name of [path, `${path}-wal`, `${path}-shm`]) {
    if (statSync(name, { throwIfNoEntry: false })) chmodSync(name, 0o600);
  }
}

function createUnavailableError(path: string, what: string, cause?: unknown): MemoryError {
  return new MemoryError("unavailable", `database ${path}: ${what}`, { cause });
}

function createDamagedError(path: string, what: string, cause?: unknown): MemoryError {
  return new MemoryError(
    "corrupt",
    `database ${path}: the file is damaged: ${what}. Keep a copy, then restore the newest export or backup.`,
    { cause },
  );
}
