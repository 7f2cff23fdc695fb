import { accessSync, closeSync, constants, openSync, readSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { DatabaseSync, type SQLOutputValue, type StatementSync } from "node:sqlite";
import { MemoryError } from "../../errors.ts";
import { translated } from "./errors.ts";
import { MIGRATIONS } from "./migrations/index.ts";

/** "KEEP": tells our files from other programs' databases. */
const APPLICATION = 0x4b454550;
/** 3.51.3 ends a race between two checkpointing connections that can damage a WAL database. */
const OLDEST_SQLITE = [3, 51, 3] as const;
const MAGIC = "SQLite format 3\0";

export type Row = { readonly [column: string]: SQLOutputValue };

/** An open database with its statements prepared once. */
export interface Database {
  readonly path: string;
  readonly handle: DatabaseSync;
  /** The statement for this text. Values are bound by name. */
  statement(sql: string): StatementSync;
  /** Runs work in one transaction that holds the write lock from its start. */
  transaction<Result>(work: () => Result): Result;
  close(): void;
}

/**
 * Opens a database file, or makes it (mode 0600). `unavailable` where it cannot be read and written, `corrupt` where
 * it is damaged or no database, `unsupported` where it is another program's or a newer version's. What is refused is
 * left as it is.
 */
export function openDatabase(path: string, busyTimeoutMs: number): Database {
  if (path !== ":memory:") prepareFile(path);
  return translated(path, () => {
    const handle = new DatabaseSync(path);
    try {
      checkVersion(handle);
      handle.exec(`PRAGMA busy_timeout = ${Math.trunc(busyTimeoutMs)}`);
      checkOwner(path, handle);
      // The page size counts only before the first table; larger pages suit rows with vectors.
      handle.exec("PRAGMA page_size = 8192");
      handle.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON");
      handle.exec("PRAGMA secure_delete = ON; PRAGMA temp_store = MEMORY; PRAGMA cache_size = -32000");
      const database = wrap(path, handle);
      migrate(database);
      checkSettings(path, handle);
      return database;
    } catch (error) {
      handle.close();
      throw error;
    }
  });
}

/** Refuses what cannot be a database of ours before SQLite touches it, and makes a new file for its owner alone. */
function prepareFile(path: string): void {
  const found = statSync(path, { throwIfNoEntry: false });
  if (!found) {
    if (!statSync(dirname(path), { throwIfNoEntry: false })?.isDirectory()) {
      throw new MemoryError(
        "unavailable",
        `database ${path}: its folder is not there. Make the folder first.`,
      );
    }
    try {
      closeSync(openSync(path, "wx", 0o600));
    } catch (cause) {
      if ((cause as NodeJS.ErrnoException).code === "EEXIST") return;
      throw new MemoryError("unavailable", `database ${path}: it cannot be made. Is the folder writable?`, {
        cause,
      });
    }
    return;
  }
  if (!found.isFile())
    throw new MemoryError("unavailable", `database ${path}: it is no file. Choose another path.`);
  // The superuser may write to read-only files; somebody who made it read-only meant it all the same.
  if ((found.mode & 0o222) === 0 || !mayUse(path)) {
    throw new MemoryError(
      "unavailable",
      `database ${path}: it cannot be read and written. Check its owner and mode.`,
    );
  }
  if (found.size > 0) checkHeader(path, found.size);
}

function mayUse(path: string): boolean {
  try {
    accessSync(path, constants.R_OK | constants.W_OK);
    return true;
  } catch {
    // Any reason why it cannot be used is the same answer to the one question asked here.
    return false;
  }
}

function checkHeader(path: string, size: number): void {
  const header = Buffer.alloc(100);
  const file = openSync(path, "r");
  try {
    readSync(file, header, 0, 100, 0);
  } finally {
    closeSync(file);
  }
  if (header.toString("latin1", 0, 16) !== MAGIC) {
    throw new MemoryError(
      "corrupt",
      `database ${path}: it is no database. Choose another path; it was left as it is.`,
    );
  }
  const pageSize = header.readUInt16BE(16) === 1 ? 65_536 : header.readUInt16BE(16);
  const log = statSync(`${path}-wal`, { throwIfNoEntry: false });
  const isWhole = header.readUInt32BE(28) * pageSize <= size;
  if (!isWhole && !log?.size) {
    throw new MemoryError(
      "corrupt",
      `database ${path}: a part of it is missing. Restore the newest export or backup.`,
    );
  }
}

function checkVersion(handle: DatabaseSync): void {
  const { version } = handle.prepare("SELECT sqlite_version() AS version").get() as { version: string };
  const parts = version.split(".").map(Number);
  const at = OLDEST_SQLITE.findIndex((part, i) => parts[i] !== part);
  if (at !== -1 && (parts[at] ?? 0) < (OLDEST_SQLITE[at] ?? 0)) {
    throw new MemoryError(
      "unsupported",
      `SQLite ${version} is too old: ${OLDEST_SQLITE.join(".")} is needed. Use a newer Node.`,
    );
  }
}

function checkOwner(path: string, handle: DatabaseSync): void {
  const application = pragma(handle, "application_id");
  const version = pragma(handle, "user_version");
  const tables = Number((handle.prepare("SELECT count(*) AS tables FROM sqlite_schema").get() as Row).tables);
  if (application !== APPLICATION && (application !== 0 || tables > 0)) {
    throw new MemoryError(
      "unsupported",
      `database ${path}: it belongs to another program. Choose another path.`,
    );
  }
  if (version > MIGRATIONS.length) {
    throw new MemoryError(
      "unsupported",
      `database ${path}: a newer version of Keepsake made it. Update this one.`,
    );
  }
}

function pragma(handle: DatabaseSync, name: string): number {
  return Number(Object.values(handle.prepare(`PRAGMA ${name}`).get() ?? {})[0]);
}

function migrate(database: Database): void {
  const { handle } = database;
  if (pragma(handle, "user_version") === MIGRATIONS.length) return;
  database.transaction(() => {
    // Read again under the write lock: another process may have been faster.
    const done = pragma(handle, "user_version");
    for (const migration of MIGRATIONS.slice(done)) handle.exec(migration);
    handle.exec(`PRAGMA application_id = ${APPLICATION}; PRAGMA user_version = ${MIGRATIONS.length}`);
  });
}

/** A driver can drop its settings at the first write, so they are read back after one. */
function checkSettings(path: string, handle: DatabaseSync): void {
  const wanted = { synchronous: 2, foreign_keys: 1, secure_delete: 1 };
  for (const [name, value] of Object.entries(wanted)) {
    if (pragma(handle, name) === value) continue;
    throw new MemoryError(
      "unavailable",
      `database ${path}: SQLite does not keep the setting ${name} = ${value}.`,
    );
  }
}

function wrap(path: string, handle: DatabaseSync): Database {
  const statements = new Map<string, StatementSync>();
  return {
    path,
    handle,
    statement(sql) {
      let statement = statements.get(sql);
      if (!statement) {
        statement = handle.prepare(sql);
        statements.set(sql, statement);
      }
      return statement;
    },
    transaction(work) {
      handle.exec("BEGIN IMMEDIATE");
      try {
        const result = work();
        handle.exec("COMMIT");
        return result;
      } catch (error) {
        // SQLite itself rolls back on some faults (a full disk); then there is nothing left to roll back.
        if (handle.isTransaction) handle.exec("ROLLBACK");
        throw error;
      }
    },
    close() {
      statements.clear();
      handle.close();
    },
  };
}
