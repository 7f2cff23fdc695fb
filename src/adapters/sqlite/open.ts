import { resolve } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { invalid, MemoryError } from "../../errors.ts";
import { createSqliteDatabase, readPragma, type SqliteDatabase } from "./database.ts";
import { finishErasures } from "./erasing.ts";
import { isBusy, isFull } from "./errors.ts";
import { APPLICATION_ID, checkOwner, isFilled, prepareFile } from "./file.ts";
import { guardRows } from "./integrity/row-guard.ts";
import { migrationsFor, SQLITE_MIGRATIONS } from "./migrations/index.ts";
import { retryWhileBusy } from "./patience.ts";
import { copyBeforeUpdate, deleteOutdatedCopies, hasUnfinishedCopy } from "./update-copy.ts";

/** 3.51.3 ends a race between two checkpointing connections that can damage a WAL database. */
const MIN_SQLITE_VERSION: readonly number[] = [3, 51, 3];
/** How long SQLite itself waits for a lock, with the whole process standing still; `patiently` does the rest. */
const BLOCKING_MS = 50;

/** `digestKey` gives the key for digests of rows (32 bytes, hex); `onSyncFailure` is told once, when a sync has failed. */
export interface SqliteOpenOptions {
  readonly digestKey?: (() => string) | undefined;
  readonly onSyncFailure?: (() => void) | undefined;
}

/**
 * Opens a database file, or makes it (mode 0600). `unavailable` where it cannot be read and written, `corrupt` where
 * it is damaged or no database, `unsupported` where it is another program's or a newer version's. What is refused is
 * left as it is. With a key for digests (32 bytes, hex), asked for once the file is known to be ours, rows are given digests.
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

/** How long one process waits while another copies the file and brings it to this version, in ms. */
const LONGEST_UPDATE_MS = 600_000;

/**
 * The same; and before it brings a file to this version, it makes a copy of it beside it (see `copyBeforeUpdate`). `unavailable`
 * where the copy cannot be made. Waits as long as given for others' writes, and longer while another process makes the copy.
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

function openUnmigrated(named: string, { onSyncFailure }: SqliteOpenOptions): SqliteDatabase {
  if (named === "" || named.includes("\0")) throw invalid('path: name the database file, or ":memory:".');
  // Resolved, so that SQLite never takes a name such as "file:x?mode=memory" for a URL.
  const path = named === ":memory:" ? named : resolve(named);
  if (path !== ":memory:") prepareFile(path);
  const handle = new DatabaseSync(path, { timeout: BLOCKING_MS });
  try {
    checkSqliteVersion(handle);
    // The page size counts only before the first table; larger pages suit rows with vectors.
    handle.exec("PRAGMA page_size = 8192; PRAGMA journal_mode = WAL");
    handle.exec("PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON; PRAGMA secure_delete = ON");
    // macOS: fsync(2) alone leaves data in the cache of the disk (sqlite.org/pragma.html#pragma_fullfsync). No effect elsewhere.
    handle.exec("PRAGMA fullfsync = ON; PRAGMA checkpoint_fullfsync = ON");
    handle.exec("PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON; PRAGMA cache_size = -32000");
    // Else INSERT OR REPLACE would take rows away without their triggers.
    handle.exec("PRAGMA recursive_triggers = ON");
    const database = createSqliteDatabase(path, handle, undefined, onSyncFailure);
    checkpointLog(database);
    return database;
  } catch (error) {
    handle.close();
    throw error;
  }
}

function isOlderFile({ path, handle }: SqliteDatabase): boolean {
  const version = readPragma(handle, "user_version");
  return path !== ":memory:" && version > 0 && version < SQLITE_MIGRATIONS.length;
}

/** The write lock is held from before the copy until the file is of this version: the copy is what was migrated. */
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
 * Copies what an earlier process left in the log into the database. Where a sync of it had failed, the log may be in the system's
 * cache alone, and a later sync would not say so; what is copied is written and synced anew.
 */
function checkpointLog(database: SqliteDatabase): void {
  if (database.path === ":memory:" || !isFilled(`${database.path}-wal`)) return;
  try {
    database.handle.exec("PRAGMA wal_checkpoint(PASSIVE)");
  } catch (error) {
    // Reads go on with the log as it is. After a failed sync, writes do not.
    database.noteFailure(error);
    if (!isBusy(error) && !isFull(error)) throw error;
  }
}

function checkSqliteVersion(handle: DatabaseSync): void {
  const version = String(handle.prepare("SELECT sqlite_version() AS version").get()?.version);
  if (!isOlderVersion(version, MIN_SQLITE_VERSION)) return;
  throw new MemoryError(
    "unsupported",
    `SQLite ${version} is too old: ${MIN_SQLITE_VERSION.join(".")} is needed. Use a newer Node.`,
  );
}

/** Whether a version such as "3.46.1" comes before another. */
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
