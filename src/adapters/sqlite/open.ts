import { resolve } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { invalid, MemoryError } from "../../errors.ts";
import { type Database, databaseOf, pragma } from "./database.ts";
import { endErasures } from "./erasing.ts";
import { isBusy, isFull } from "./errors.ts";
import { APPLICATION, checkOwner, isFilled, prepareFile } from "./file.ts";
import { guardRows } from "./integrity/row-guard.ts";
import { MIGRATIONS, migrationsFor } from "./migrations/index.ts";
import { patiently } from "./patience.ts";
import { copyBeforeUpdate, dropOutdatedCopies, isCopying } from "./update-copy.ts";

/** 3.51.3 ends a race between two checkpointing connections that can damage a WAL database. */
const OLDEST_SQLITE: readonly number[] = [3, 51, 3];
/** How long SQLite itself waits for a lock, with the whole process standing still; `patiently` does the rest. */
const BLOCKING_MS = 50;

/** `digestKey` gives the key for digests of rows (32 bytes, hex); `onSyncFailure` is told once, when a sync has failed. */
export interface OpenOptions {
  readonly digestKey?: (() => string) | undefined;
  readonly onSyncFailure?: (() => void) | undefined;
}

/**
 * Opens a database file, or makes it (mode 0600). `unavailable` where it cannot be read and written, `corrupt` where
 * it is damaged or no database, `unsupported` where it is another program's or a newer version's. What is refused is
 * left as it is. With a key for digests (32 bytes, hex), asked for once the file is known to be ours, rows are given digests.
 */
export function openDatabase(named: string, options: OpenOptions = {}): Database {
  const database = openUnmigrated(named, options);
  try {
    migrate(database);
    database.guard = guardRows(database.handle, options.digestKey?.());
    endErasures(database);
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
export async function openWithCopy(
  named: string,
  waitMs: number,
  options: OpenOptions = {},
): Promise<Database> {
  const database = await patiently(waitMs, () => openUnmigrated(named, options));
  try {
    if (isOlderFile(database)) await updateWithCopy(database, waitMs);
    else await patiently(waitMs, () => migrate(database));
    database.guard = guardRows(database.handle, options.digestKey?.());
    if (database.path !== ":memory:") await dropOutdatedCopies(database.path);
    await patiently(waitMs, () => endErasures(database));
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

function openUnmigrated(named: string, { onSyncFailure }: OpenOptions): Database {
  if (named === "" || named.includes("\0")) throw invalid('path: name the database file, or ":memory:".');
  // Resolved, so that SQLite never takes a name such as "file:x?mode=memory" for a URL.
  const path = named === ":memory:" ? named : resolve(named);
  if (path !== ":memory:") prepareFile(path);
  const handle = new DatabaseSync(path, { timeout: BLOCKING_MS });
  try {
    checkSqlite(handle);
    // The page size counts only before the first table; larger pages suit rows with vectors.
    handle.exec("PRAGMA page_size = 8192; PRAGMA journal_mode = WAL");
    handle.exec("PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON; PRAGMA secure_delete = ON");
    // macOS: fsync(2) alone leaves data in the cache of the disk (sqlite.org/pragma.html#pragma_fullfsync). No effect elsewhere.
    handle.exec("PRAGMA fullfsync = ON; PRAGMA checkpoint_fullfsync = ON");
    handle.exec("PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON; PRAGMA cache_size = -32000");
    // Else INSERT OR REPLACE would take rows away without their triggers.
    handle.exec("PRAGMA recursive_triggers = ON");
    const database = databaseOf(path, handle, undefined, onSyncFailure);
    settleLog(database);
    return database;
  } catch (error) {
    handle.close();
    throw error;
  }
}

function isOlderFile({ path, handle }: Database): boolean {
  const version = pragma(handle, "user_version");
  return path !== ":memory:" && version > 0 && version < MIGRATIONS.length;
}

/** The write lock is held from before the copy until the file is of this version: the copy is what was migrated. */
async function updateWithCopy(database: Database, waitMs: number): Promise<void> {
  const { path, handle } = database;
  const end = performance.now() + LONGEST_UPDATE_MS;
  const lock = (): void => handle.exec("BEGIN IMMEDIATE");
  for (;;) {
    try {
      await patiently(waitMs, lock);
      break;
    } catch (error) {
      if (!isBusy(error) || !isCopying(path) || performance.now() > end) throw error;
    }
  }
  try {
    checkOwner(path, handle);
    // Read again under the lock: another process may have been faster.
    if (isOlderFile(database)) {
      await copyBeforeUpdate(path, MIGRATIONS.length);
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
function settleLog(database: Database): void {
  if (database.path === ":memory:" || !isFilled(`${database.path}-wal`)) return;
  try {
    database.handle.exec("PRAGMA wal_checkpoint(PASSIVE)");
  } catch (error) {
    // Reads go on with the log as it is. After a failed sync, writes do not.
    database.noteFailure(error);
    if (!isBusy(error) && !isFull(error)) throw error;
  }
}

function checkSqlite(handle: DatabaseSync): void {
  const version = String(handle.prepare("SELECT sqlite_version() AS version").get()?.version);
  if (!isOlder(version, OLDEST_SQLITE)) return;
  throw new MemoryError(
    "unsupported",
    `SQLite ${version} is too old: ${OLDEST_SQLITE.join(".")} is needed. Use a newer Node.`,
  );
}

/** Whether a version such as "3.46.1" comes before another. */
export function isOlder(version: string, oldest: readonly number[]): boolean {
  const parts = version.split(".").map(Number);
  const at = oldest.findIndex((part, i) => parts[i] !== part);
  return at !== -1 && (parts[at] ?? 0) < (oldest[at] ?? 0);
}

function migrate(database: Database): void {
  const { path, handle } = database;
  if (pragma(handle, "user_version") === MIGRATIONS.length) return;
  database.transaction(() => {
    // Read again under the write lock: another process may have been faster.
    checkOwner(path, handle);
    applyMigrations(handle);
  });
}

function applyMigrations(handle: DatabaseSync): void {
  for (const migration of migrationsFor(handle, pragma(handle, "user_version"))) handle.exec(migration);
  handle.exec(`PRAGMA application_id = ${APPLICATION}; PRAGMA user_version = ${MIGRATIONS.length}`);
}
