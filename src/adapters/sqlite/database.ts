import type { DatabaseSync, SQLOutputValue, StatementSync } from "node:sqlite";
import { MemoryError } from "../../errors.ts";
import { createSyncError, isSyncFailure } from "./errors.ts";
import type { RowGuard } from "./integrity/row-guard.ts";

export type SqliteRow = { readonly [column: string]: SQLOutputValue };

/** An open database with its statements prepared once. */
export interface SqliteDatabase {
  readonly path: string;
  readonly handle: DatabaseSync;
  /** The numbers of users met so far: they never change. */
  readonly users: Map<string, number>;
  /** Gives rows their digests and checks them; absent while the file is brought up to date. */
  guard?: RowGuard;
  /** The statement for this text. Values are bound by name. */
  statement(sql: string): StatementSync;
  /**
   * Runs work in one transaction that holds the write lock from its start. Once a sync has failed, every further one is
   * `unavailable`: a second sync would succeed and prove nothing.
   */
  transaction<Result>(work: () => Result): Result;
  /** Notes what a write failed with, outside of a transaction too: after a failed sync nothing is written any more. */
  noteFailure(error: unknown): void;
  close(): void;
}

/** `onSyncFailure` is told once, when the disk failed to make a change durable. */
export function createSqliteDatabase(
  path: string,
  handle: DatabaseSync,
  guard?: RowGuard,
  onSyncFailure?: () => void,
): SqliteDatabase {
  const statements = new Map<string, StatementSync>();
  let isDurable = false;
  let hasLostSync = false;
  const noteFailure = (error: unknown): void => {
    if (hasLostSync || !isSyncFailure(error)) return;
    hasLostSync = true;
    onSyncFailure?.();
  };
  const database: SqliteDatabase = {
    path,
    handle,
    users: new Map(),
    ...(guard ? { guard } : {}),
    statement(sql) {
      let statement = statements.get(sql);
      if (!statement) {
        statement = handle.prepare(sql);
        statements.set(sql, statement);
      }
      return statement;
    },
    noteFailure,
    transaction(work) {
      if (hasLostSync) throw createSyncError(path);
      handle.exec("BEGIN IMMEDIATE");
      try {
        database.guard?.begin();
        const result = work();
        database.guard?.settle();
        if (!isDurable) checkSettings(path, handle);
        handle.exec("COMMIT");
        isDurable = true;
        return result;
      } catch (error) {
        database.guard?.rollBack();
        // SQLite itself rolls back on some faults (a full disk); then there is nothing left to roll back.
        if (handle.isTransaction) handle.exec("ROLLBACK");
        noteFailure(error);
        throw isSyncFailure(error) ? createSyncError(path, error) : error;
      }
    },
    close() {
      statements.clear();
      if (handle.isOpen) handle.close();
    },
  };
  return database;
}

/**
 * A build of SQLite can come with `synchronous` lowered for WAL, which shows only after the first write; so the
 * settings are read back then, before the first commit is acknowledged.
 */
function checkSettings(path: string, handle: DatabaseSync): void {
  const wanted = { synchronous: 2, fullfsync: 1, checkpoint_fullfsync: 1, foreign_keys: 1, secure_delete: 1 };
  for (const [name, value] of Object.entries(wanted)) {
    if (readPragma(handle, name) === value) continue;
    throw new MemoryError(
      "unavailable",
      `database ${path}: SQLite does not keep the setting ${name} = ${value}.`,
    );
  }
}

/** The number that a pragma answers. */
export function readPragma(handle: DatabaseSync, name: string): number {
  return Number(Object.values(handle.prepare(`PRAGMA ${name}`).get() ?? {})[0]);
}
