import { closeSync, existsSync, linkSync, openSync, renameSync, rmSync, statSync } from "node:fs";
import { copyFile, open } from "node:fs/promises";
import { basename, dirname, resolve } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { BackupNote } from "../../../domain/backup.ts";
import type { Trace } from "../../../domain/receipt.ts";
import { invalid, isMemoryError, MemoryError } from "../../../errors.ts";
import { createSqliteDatabase } from "../database.ts";
import { isBusy } from "../errors.ts";
import { checkRows } from "../health.ts";
import { openSqliteDatabase, prepareFile } from "../open.ts";
import { readBackupNotes, readIdentity, readTraces } from "../receipts.ts";
import { hashFile } from "./backup.ts";
import { syncFolder } from "./ledger.ts";

/** A backup on its way to become the database. */
export interface Restoring {
  /** The copy of it that is made ready, beside the database. */
  readonly draft: string;
  /** SHA-256 of the backup, hex, and its size. */
  readonly digest: string;
  readonly bytes: number;
  /** How many kinds of faults there are in its rows; damaged pages are refused. */
  readonly faults: number;
  /** What the database that is there knows; absent where there is none, or it cannot be read. */
  readonly present?: {
    readonly identity: string;
    readonly traces: readonly Trace[];
    readonly backups: readonly BackupNote[];
  };
  /** The name under which the database that is there will be kept, and its size. */
  readonly aside?: { readonly name: string; readonly bytes: number };
  /** Puts the draft in place, in one step, and the database that was there aside. */
  finish(): Promise<void>;
  /** Takes the draft away and leaves all as it was. */
  abandon(): void;
}

/**
 * Looks at a backup as a whole, makes a draft of it beside the database, and holds the database that is there for
 * itself until the end. `unavailable` where a program uses that one; `corrupt` where the backup is damaged.
 */
export async function beginRestore(options: {
  readonly from: string;
  readonly path: string;
  /** For the name of the database that is put aside. */
  readonly at: string;
}): Promise<Restoring> {
  const from = resolve(options.from);
  const path = resolve(options.path);
  const draft = `${path}.restoring`;
  if (from === path)
    throw invalid("restore: the backup and the database are one file. Name another with --db.");
  if (!existsSync(from)) {
    throw new MemoryError("unavailable", `restore: there is no file ${options.from}. Check its name.`);
  }
  const aside = existsSync(path) ? `${path}.before-${options.at.replace(/\D/g, "")}` : undefined;
  const held = existsSync(path) ? lockDatabase(path) : undefined;
  const abandon = (): void => {
    held?.giveBack();
    for (const file of listDatabaseFiles(draft)) rmSync(file, { force: true });
  };
  try {
    for (const file of listDatabaseFiles(draft)) rmSync(file, { force: true });
    closeSync(openSync(draft, "wx", 0o600));
    await copyFile(from, draft);
    await copyLog(from, draft);
    const { digest, bytes } = await hashFile(from);
    const faults = examineDraft(draft, options.from);
    return {
      draft,
      faults,
      digest,
      bytes,
      ...(held?.known ? { present: held.known } : {}),
      ...(aside === undefined ? {} : { aside: { name: basename(aside), bytes: statSync(path).size } }),
      abandon,
      async finish() {
        const file = await open(draft, "r+");
        await file.sync();
        await file.close();
        if (aside !== undefined) moveAside(path, aside);
        // Windows renames nothing over a file that is open. Elsewhere the lock is kept until the new file is in place.
        if (process.platform === "win32") held?.letGo();
        renameSync(draft, path);
        held?.letGo();
        await syncFolder(dirname(path));
      },
    };
  } catch (error) {
    abandon();
    throw error;
  }
}

function listDatabaseFiles(path: string): string[] {
  return ["", "-wal", "-shm", "-journal"].map((end) => `${path}${end}`);
}

/** Only a damaged database still has a log: it goes along, for beside the new one it would be taken for its own. */
function moveAside(path: string, aside: string): void {
  linkSync(path, aside);
  if (existsSync(`${path}-wal`)) renameSync(`${path}-wal`, `${aside}-wal`);
  rmSync(`${path}-shm`, { force: true });
}

/** A copy that was made by hand may have its log beside it. */
async function copyLog(from: string, draft: string): Promise<void> {
  if ((statSync(`${from}-wal`, { throwIfNoEntry: false })?.size ?? 0) === 0) return;
  await copyFile(`${from}-wal`, `${draft}-wal`);
}

/** Refuses what is no database of ours or has damaged pages; brings it to this version, as one file without a log. */
function examineDraft(draft: string, named: string): number {
  try {
    prepareFile(draft);
    const handle = new DatabaseSync(draft);
    try {
      handle.exec("PRAGMA journal_mode = DELETE");
    } finally {
      handle.close();
    }
    const database = openSqliteDatabase(draft);
    try {
      const faults = checkRows(database);
      if (faults.some(({ place }) => place === "file")) throw new MemoryError("corrupt", "damaged pages");
      return faults.length;
    } finally {
      database.close();
    }
  } catch (cause) {
    const why = isMemoryError(cause) && cause.code === "unsupported" ? cause.message : "it is damaged";
    throw new MemoryError(
      isMemoryError(cause) && cause.code === "unsupported" ? "unsupported" : "corrupt",
      `restore: ${named} cannot be used: ${why.replace(draft, named)}. Nothing was changed. Take another backup.`,
      { cause },
    );
  }
}

/**
 * Holds a database for itself: nobody else can read or write it until it is let go. `unavailable` where somebody uses
 * it. One that is damaged is held by nobody, and nothing is known of it: that is what backups are for.
 */
function lockDatabase(path: string): {
  known?: NonNullable<Restoring["present"]>;
  letGo(): void;
  /** Lets go of it as it was. */
  giveBack(): void;
} {
  const handle = new DatabaseSync(path, { timeout: 500 });
  try {
    // Only a connection that is alone can leave the log.
    const mode = handle.prepare("PRAGMA journal_mode = DELETE").get()?.journal_mode;
    if (mode !== "delete") throw createInUseError(path);
    handle.exec("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE");
    const known = readPresentDatabase(path, handle);
    const letGo = (): void => {
      if (handle.isOpen) handle.close();
    };
    const giveBack = (): void => {
      if (handle.isOpen) handle.exec("ROLLBACK; PRAGMA locking_mode = NORMAL; PRAGMA journal_mode = WAL");
      letGo();
    };
    return { ...(known ? { known } : {}), letGo, giveBack };
  } catch (error) {
    handle.close();
    if (isMemoryError(error)) throw error;
    if (isBusy(error)) throw createInUseError(path);
    return { letGo() {}, giveBack() {} };
  }
}

function createInUseError(path: string): MemoryError {
  return new MemoryError(
    "unavailable",
    `restore: a program uses ${path}. Stop it first (a server, a chat), then restore again.`,
  );
}

function readPresentDatabase(path: string, handle: DatabaseSync): Restoring["present"] {
  try {
    const database = createSqliteDatabase(path, handle);
    return {
      identity: readIdentity(database),
      traces: readTraces(database),
      backups: readBackupNotes(database),
    };
  } catch {
    // A file of an earlier version knows none of it, a damaged one cannot say.
    return undefined;
  }
}
