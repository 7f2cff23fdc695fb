import { closeSync, existsSync, linkSync, openSync, renameSync, statSync } from "node:fs";
import { chmod, copyFile } from "node:fs/promises";
import { basename, dirname, resolve } from "node:path";
import type { BackupNote } from "../../../domain/operations/backup.ts";
import type { Trace } from "../../../domain/receipt.ts";
import { invalid, isMemoryError, MemoryError } from "../../../errors.ts";
import { checkRows } from "../health.ts";
import { DatabaseSync } from "../node-sqlite.ts";
import { openSqliteDatabase, prepareFile } from "../open.ts";
import { hashFile, syncFile } from "./backup.ts";
import { createRemainingDraftError, removeDatabaseDraft, removeDatabaseFiles, removeFile } from "./drafts.ts";
import { syncFolder } from "./ledger.ts";
import { lockDatabase } from "./lock.ts";

/** A backup that is being restored as the database. */
export interface Restoring {
  /** The working copy of the backup, next to the database. */
  readonly draft: string;
  /** The SHA-256 of the backup in hex, and its size. */
  readonly digest: string;
  /** The size of the backup. */
  readonly bytes: number;
  /** The number of kinds of faults in its rows; damaged pages are refused. */
  readonly faults: number;
  /** What the current database contains; absent if there is none, or it cannot be read. */
  readonly present?: {
    readonly identity: string;
    readonly traces: readonly Trace[];
    readonly backups: readonly BackupNote[];
  };
  /** The name under which the current database will be kept, and its size. */
  readonly aside?: { readonly name: string; readonly bytes: number };
  /** Puts the draft in place in one step, and renames the current database. */
  finish(): Promise<void>;
  /** Deletes the draft and leaves everything unchanged. Gives the error to throw, which names a draft that stays. */
  abandon(error: unknown): unknown;
}

/**
 * Verifies a whole backup, makes a draft of it next to the database, and locks the current database until the end. Throws
 * `unavailable` if a program uses that database, and `corrupt` if the backup is damaged.
 */
export async function beginRestore(options: {
  readonly from: string;
  readonly path: string;
  /** The time for the name of the replaced database. */
  readonly at: string;
}): Promise<Restoring> {
  const from = resolve(options.from);
  const path = resolve(options.path);
  const draft = `${path}.restoring`;
  if (from === path)
    throw invalid("restore: the backup and the database are the same file. Choose another with --db.");
  if (!existsSync(from)) {
    throw new MemoryError("unavailable", `restore: there is no file ${options.from}. Check its name.`);
  }
  const aside = existsSync(path) ? `${path}.before-${options.at.replace(/\D/g, "")}` : undefined;
  const lock = existsSync(path) ? lockDatabase(path, "restore") : undefined;
  const abandon = (error: unknown): unknown => {
    try {
      lock?.giveBack();
    } catch {
      // On a failing disk. The connection is closed and its lock is gone; the first error is the one to report.
    }
    return removeDatabaseDraft(draft) ? error : createRemainingDraftError("restore", draft, error);
  };
  try {
    removeDatabaseFiles(draft);
    closeSync(openSync(draft, "wx", 0o600));
    await copyForOwner(from, draft);
    await copyLog(from, draft);
    const { digest, bytes } = await hashFile(from);
    const faults = examineDraft(draft, options.from);
    return {
      draft,
      faults,
      digest,
      bytes,
      ...(lock?.known ? { present: lock.known } : {}),
      ...(aside === undefined ? {} : { aside: { name: basename(aside), bytes: statSync(path).size } }),
      abandon,
      async finish() {
        await syncFile(draft);
        if (aside !== undefined) moveAside(path, aside);
        // Windows cannot rename over an open file. Elsewhere, the lock is kept until the new file is in place.
        if (process.platform === "win32") lock?.release();
        renameSync(draft, path);
        lock?.release();
        await syncFolder(dirname(path));
      },
    };
  } catch (error) {
    throw abandon(error);
  }
}

/** Only a damaged database still has a log. It is moved too, because next to the new database it would be taken for its log. */
function moveAside(path: string, aside: string): void {
  linkSync(path, aside);
  if (existsSync(`${path}-wal`)) renameSync(`${path}-wal`, `${aside}-wal`);
  removeFile(`${path}-shm`);
}

/** A manual copy may have its log next to it. */
async function copyLog(from: string, draft: string): Promise<void> {
  if ((statSync(`${from}-wal`, { throwIfNoEntry: false })?.size ?? 0) === 0) return;
  await copyForOwner(`${from}-wal`, `${draft}-wal`);
}

/** Copies a file as one of mode 0600: a copy has the mode of its source, which may be read-only. */
async function copyForOwner(from: string, to: string): Promise<void> {
  await copyFile(from, to);
  await chmod(to, 0o600);
}

/** Refuses files of other programs and damaged pages. Migrates the draft to this version, as one file without a log. */
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
