import { accessSync, chmodSync, closeSync, constants, openSync, type Stats, statSync } from "node:fs";
import { dirname } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { pathToFileURL } from "node:url";
import { MemoryError } from "../../errors.ts";
import { readPragma } from "./database.ts";
import { getSqliteResultCode } from "./errors.ts";
import { SQLITE_MIGRATIONS } from "./migrations/index.ts";

/** "KEEP": tells our files from other programs' databases. */
export const APPLICATION_ID = 0x4b454550;
/** SQLite's result codes NOTADB and CORRUPT (sqlite.org/rescode.html). */
const NOT_A_DATABASE = 26;
const DAMAGED = 11;
/** Up to here the pages are checked at each opening: about 40 ms. Above, `check` does it when asked. */
const CHECKED_BYTES = 64 * 1024 * 1024;

/**
 * Makes the file for its owner alone, or looks whether the one that is there can be used, without writing to it.
 * Errors as in `openDatabase`.
 */
export function prepareFile(path: string): void {
  const found = statSync(path, { throwIfNoEntry: false });
  if (!found) createFile(path);
  else examineFile(path, found);
}

function examineFile(path: string, found: Stats): void {
  if (!found.isFile()) throw createUnavailableError(path, "it is no file. Choose another path.");
  // The superuser may write to read-only files; somebody who made it read-only meant it all the same.
  if ((found.mode & 0o222) === 0 || !isUsable(path)) {
    throw createUnavailableError(path, "it cannot be read and written. Check its owner and mode.");
  }
  if (found.size > 0) {
    // A transaction that was cut off while the file was made is rolled back by the next connection that writes.
    if (isFilled(`${path}-journal`)) checkBeginning(path);
    else inspectFile(path, found);
  }
  restrictToOwner(path, found);
}

function createFile(path: string): void {
  const folder = statSync(dirname(path), { throwIfNoEntry: false });
  if (!folder?.isDirectory())
    throw createUnavailableError(path, "its folder is not there. Make the folder first.");
  try {
    closeSync(openSync(path, "wx", 0o600));
  } catch (cause) {
    // Another process made it in this moment.
    if ((cause as NodeJS.ErrnoException).code === "EEXIST") return;
    throw createUnavailableError(
      path,
      "it cannot be made. Is the folder writable, and is there room?",
      cause,
    );
  }
}

function isUsable(path: string): boolean {
  try {
    accessSync(path, constants.R_OK | constants.W_OK);
    return true;
  } catch {
    // Any reason why it cannot be used is the same answer to the one question asked here.
    return false;
  }
}

function hasChanged(now: Stats, before: Stats): boolean {
  return now.mtimeMs !== before.mtimeMs || now.size !== before.size;
}

/** Whether a file is there and holds something. */
export function isFilled(path: string): boolean {
  return (statSync(path, { throwIfNoEntry: false })?.size ?? 0) > 0;
}

/**
 * Refuses a file that does not begin as a database does. Only SQLite opens the file: if this process had it open elsewhere,
 * closing a descriptor of our own would drop the locks of that connection.
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

/** Reads the file without the right to write, so that what is refused is left as it is. */
function inspectFile(path: string, found: Stats): void {
  // With no log there is nobody else: SQLite can read the file alone, and leaves no other file beside it.
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
    // Another process began to write while this one read a file that it took to be at rest.
    const now = statSync(path, { throwIfNoEntry: false });
    if (!isAlone || !now || (!isFilled(`${path}-wal`) && !hasChanged(now, found)))
      throw toFileError(path, error);
    inspectFile(path, now);
  }
}

/** What is wrong with a file, by SQLite's result code; another error as it is. */
function toFileError(path: string, error: unknown): unknown {
  const code = getSqliteResultCode(error);
  if (code === NOT_A_DATABASE) {
    return new MemoryError(
      "corrupt",
      `database ${path}: it is no database, or its beginning is damaged. Choose another path, or restore the newest ` +
        "export or backup; it was left as it is.",
      { cause: error },
    );
  }
  // SQLite reads the number of pages in the header, and compares it with the size of the file.
  return code === DAMAGED
    ? createDamagedError(path, "a part of it is missing, or its pages do not match", error)
    : error;
}

function checkPages(path: string, handle: DatabaseSync): void {
  const row = handle.prepare("PRAGMA quick_check(1)").get();
  if (row?.quick_check !== "ok") throw createDamagedError(path, "its pages do not hold together");
}

const SELECT_OWNER =
  "SELECT application_id AS application, (SELECT count(*) FROM sqlite_schema) AS tables FROM pragma_application_id";

/** Refuses another program's database, and one that a newer version made. */
export function checkOwner(path: string, handle: DatabaseSync): void {
  // In one statement: between two, another process can have made the tables.
  const { application, tables } = handle.prepare(SELECT_OWNER).get() ?? {};
  if (application !== APPLICATION_ID && (application !== 0 || tables !== 0)) {
    throw new MemoryError(
      "unsupported",
      `database ${path}: it belongs to another program. Choose another path; it was left as it is.`,
    );
  }
  if (readPragma(handle, "user_version") > SQLITE_MIGRATIONS.length) {
    throw new MemoryError(
      "unsupported",
      `database ${path}: a newer version of Keepsake made it. Update Keepsake; the file was left as it is.`,
    );
  }
}

/** A database holds what people said in private: its owner alone may read it. SQLite gives its log the same mode. */
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
    `database ${path}: it is damaged: ${what}. Keep a copy, and restore the newest export or backup.`,
    { cause },
  );
}
