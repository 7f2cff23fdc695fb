import { closeSync, existsSync, openSync, readdirSync, readSync, renameSync, statSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import type { Scope } from "../../../domain/scope.ts";
import { MemoryError } from "../../../errors.ts";
import type { MemoryStore } from "../../../ports/memory-store.ts";
import { createSqliteDatabase } from "../database.ts";
import { DatabaseSync } from "../node-sqlite.ts";
import { createSqliteStoreDump } from "../store-dump.ts";
import { HAS_ENCRYPTION_TABLE } from "../tables/encryption.ts";
import { readIdentity } from "../tables/receipts.ts";
import { readSearchIndex } from "../tables/search-index.ts";
import { syncFile } from "./backup.ts";
import { createRemainingDraftError, removeDatabaseDraft, removeDatabaseFiles } from "./drafts.ts";
import { syncFolder } from "./ledger.ts";
import { lockDatabase } from "./lock.ts";

/** A database file that an encrypted copy is to replace. No other program can open it meanwhile. */
export interface FileEncryption {
  /** Where the copy is to be made. Not there yet. */
  readonly draft: string;
  /** The content of the locked file. */
  readonly source: Pick<MemoryStore, "name" | "identity" | "searchIndexes" | "dump">;
  /** Puts the closed copy in the place of the file, in one step. */
  finish(): Promise<void>;
  /** Deletes the copy and leaves the file unchanged. Gives the error to throw, which names a draft that stays. */
  abandon(error: unknown): unknown;
}

/**
 * How long the lock is held once the new file is in place, in ms. A program that opened the old file just before waits for less
 * than this, and then opens the new one. Otherwise, it would write to a file without a name.
 */
const HELD_AFTER_MS = 1200;

/** The resolved path of a database file. Throws `unavailable` if there is none. */
export function resolveDatabaseFile(named: string): string {
  const path = resolve(named);
  if (existsSync(path)) return path;
  throw new MemoryError("unavailable", `there is no database ${named}. Choose another with --db.`);
}

/** Locks a database of this version. Throws `unavailable` if another program uses it. */
export function beginFileEncryption(path: string): FileEncryption {
  const draft = `${path}.encrypting`;
  const lock = lockDatabase(path, "encryption convert");
  try {
    // Of an attempt that was killed.
    removeDatabaseFiles(draft);
  } catch (error) {
    lock.giveBack();
    throw error;
  }
  const database = createSqliteDatabase(path, lock.handle);
  return {
    draft,
    source: {
      name: "sqlite",
      identity: async () => readIdentity(database),
      searchIndexes: { read: async (scope) => readSearchIndex(database, scope), save: async () => {} },
      dump: createSqliteStoreDump(database, async (work) => work()),
    },
    async finish() {
      copyWebhooks(lock.handle, draft);
      await syncFile(draft);
      // Windows cannot rename over an open file. Elsewhere, the lock is kept until the new file is in place.
      if (process.platform === "win32") lock.release();
      renameSync(draft, path);
      await syncFolder(dirname(path));
      await pause(HELD_AFTER_MS);
      try {
        lock.release();
      } catch {
        // The new file is in place, and nothing was written to the old one.
      }
    },
    abandon(error) {
      try {
        lock.giveBack();
      } catch {
        // On a failing disk. The connection is closed and its lock is gone; the first error is the one to report.
      }
      return removeDatabaseDraft(draft)
        ? error
        : createRemainingDraftError("encryption convert", draft, error);
    },
  };
}

/** The users of a locked database, whose keys no process reads or adds until it is released. */
interface LockedUsers {
  readonly users: readonly Scope[];
  release(): void;
}

/** Locks an encrypted database of this version. Throws `unavailable` if another program uses it, `corrupt` if it cannot be read. */
export function lockUsers(path: string): LockedUsers {
  const { handle, known, giveBack } = lockDatabase(path, "encryption rotate");
  try {
    if (!known) throw createUnreadableError();
    const rows = handle.prepare("SELECT project, name FROM users").all();
    const users = rows.map(({ project, name }) => ({ project: String(project), user: String(name) }));
    return { users, release: giveBack };
  } catch (error) {
    giveBack();
    throw error;
  }
}

function createUnreadableError(): MemoryError {
  return new MemoryError(
    "corrupt",
    "encryption: the database cannot be read. `keepsake doctor` tells what is wrong. Nothing was changed.",
  );
}

/** Copies the webhooks, which no dump contains, and how far each has come. They hold no text of a user. */
function copyWebhooks(from: DatabaseSync, draft: string): void {
  const to = new DatabaseSync(draft);
  try {
    to.exec("PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON; BEGIN IMMEDIATE");
    const insertHook = to.prepare(
      "INSERT INTO webhooks (project, id, version, body, health) VALUES (:project, :id, :version, :body, :health)",
    );
    for (const row of from.prepare("SELECT project, id, version, body, health FROM webhooks").all())
      insertHook.run(row);
    // Users have other numbers in the copy.
    const insertCursor = to.prepare(
      "INSERT INTO webhook_cursors (project, webhook, user, revision, failure) SELECT :project, :webhook, id, :revision, " +
        ":failure FROM users WHERE project = :of AND name = :name",
    );
    const cursors = from.prepare(
      "SELECT c.project, c.webhook, c.revision, c.failure, u.project AS of, u.name FROM webhook_cursors AS c " +
        "JOIN users AS u ON u.id = c.user",
    );
    for (const row of cursors.all()) insertCursor.run(row);
    to.exec("COMMIT");
  } finally {
    // Copies the log into the file and removes it.
    to.close();
  }
  if ((statSync(`${draft}-wal`, { throwIfNoEntry: false })?.size ?? 0) > 0) throw createUnwrittenError();
}

function createUnwrittenError(): MemoryError {
  return new MemoryError(
    "unavailable",
    "encryption: the encrypted copy could not be written whole. Free as much space as the database takes. Nothing was changed.",
  );
}

/** The first bytes of a database of SQLite, and of a log of one. */
const DATABASE_HEADER = Buffer.from("SQLite format 3\0");
const LOG_HEADERS = [0x377f0682, 0x377f0683, 0xd9d505f9];

/** The files beside a database whose names begin with its name and that hold texts of users unencrypted; names alone. */
export function listPlainFiles(path: string): string[] {
  return readdirSync(dirname(path), { withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.startsWith(basename(path)))
    .map(({ name }) => name)
    .filter((name) => isPlain(join(dirname(path), name)))
    .sort();
}

function isPlain(file: string): boolean {
  const header = readHeader(file);
  if (header.equals(DATABASE_HEADER)) return !hasMark(file);
  const isLog = header.length >= 4 && LOG_HEADERS.includes(header.readUInt32BE(0));
  if (!isLog) return false;
  const database = file.replace(/-(?:wal|journal)$/, "");
  return !existsSync(database) || !hasMark(database);
}

function readHeader(path: string): Buffer {
  const header = Buffer.alloc(DATABASE_HEADER.length);
  const file = openSync(path, "r");
  try {
    return header.subarray(0, readSync(file, header));
  } finally {
    closeSync(file);
  }
}

/** Whether a closed database is encrypted. One that cannot be read counts as plain. */
function hasMark(path: string): boolean {
  const url = pathToFileURL(path);
  url.search = "immutable=1";
  try {
    const handle = new DatabaseSync(url, { readOnly: true });
    try {
      return handle.prepare(HAS_ENCRYPTION_TABLE).get() !== undefined;
    } finally {
      handle.close();
    }
  } catch {
    return false;
  }
}
