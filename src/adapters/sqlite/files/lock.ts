import type { BackupNote } from "../../../domain/operations/backup.ts";
import type { Trace } from "../../../domain/receipt.ts";
import { isMemoryError, MemoryError } from "../../../errors.ts";
import { createSqliteDatabase } from "../database.ts";
import { isBusy } from "../errors.ts";
import { DatabaseSync } from "../node-sqlite.ts";
import { readBackupNotes, readIdentity, readTraces } from "../tables/receipts.ts";

/** What a locked database contains. */
interface DatabaseContent {
  readonly identity: string;
  readonly traces: readonly Trace[];
  readonly backups: readonly BackupNote[];
}

/** A database that no other connection can open until it is released. */
interface LockedDatabase {
  /** Its connection, in an exclusive transaction. */
  readonly handle: DatabaseSync;
  /** Absent if it cannot be read. */
  readonly known?: DatabaseContent;
  release(): void;
  /** Releases it unchanged. */
  giveBack(): void;
}

/**
 * Locks a database exclusively until it is released. Throws `unavailable` if another program uses it. A damaged database is not
 * locked and nothing is known of it: that is what backups are for.
 */
export function lockDatabase(path: string, operation: string): LockedDatabase {
  const handle = new DatabaseSync(path, { timeout: 500 });
  try {
    // Only the sole connection can leave WAL mode.
    const mode = handle.prepare("PRAGMA journal_mode = DELETE").get()?.journal_mode;
    if (mode !== "delete") throw createInUseError(path, operation);
    handle.exec("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE");
    const known = readContent(path, handle);
    const release = (): void => {
      if (handle.isOpen) handle.close();
    };
    const giveBack = (): void => {
      try {
        if (handle.isOpen) handle.exec("ROLLBACK; PRAGMA locking_mode = NORMAL; PRAGMA journal_mode = WAL");
      } finally {
        release();
      }
    };
    return { handle, ...(known ? { known } : {}), release, giveBack };
  } catch (error) {
    handle.close();
    if (isMemoryError(error)) throw error;
    if (isBusy(error)) throw createInUseError(path, operation);
    return { handle, release() {}, giveBack() {} };
  }
}

function createInUseError(path: string, operation: string): MemoryError {
  return new MemoryError(
    "unavailable",
    `${operation}: a program is using ${path}. Stop it first (a server, a chat), then ${operation} again.`,
  );
}

function readContent(path: string, handle: DatabaseSync): DatabaseContent | undefined {
  try {
    const database = createSqliteDatabase(path, handle);
    return {
      identity: readIdentity(database),
      traces: readTraces(database),
      backups: readBackupNotes(database),
    };
  } catch {
    // An older file lacks these tables, and a damaged one cannot be read.
    return undefined;
  }
}
