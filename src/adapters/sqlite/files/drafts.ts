import { randomUUID } from "node:crypto";
import { readdirSync, statSync, unlinkSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { MemoryError } from "../../../errors.ts";
import { syncNames } from "../../shared/sync-names.ts";

/**
 * A file that must be complete as soon as it has its name is written as a draft first, and then linked to the name. Of two
 * processes that do so at once, one gets the name.
 */
export function draftPathOf(path: string): string {
  // Processes in two containers can have the same number.
  return `${path}.${process.pid}.${randomUUID().slice(0, 8)}.new`;
}

/** The random part is missing in drafts of older versions. */
const DRAFT_NAME = /^(\d+)(\.[0-9a-f]{8})?\.new(?:-wal|-shm|-journal)?$/;
/** A draft that was not written to for so long is abandoned: most are written in milliseconds, a backup without a pause. */
const OLDEST_DRAFT_MS = 3_600_000;

/**
 * Removes the drafts of a file that a process could not remove before it ended. If a person chose the name of the file, only files
 * with the random part are certainly drafts.
 */
export function removeOldDrafts(path: string, isChosenName = false): void {
  const prefix = `${basename(path)}.`;
  try {
    for (const name of readdirSync(dirname(path))) {
      const [, pid, random] = name.startsWith(prefix)
        ? (DRAFT_NAME.exec(name.slice(prefix.length)) ?? [])
        : [];
      const draft = join(dirname(path), name);
      if (pid === undefined || (isChosenName && random === undefined)) continue;
      if (isAbandoned(draft, Number(pid))) removeDraft(draft);
    }
  } catch {
    // The folder cannot be listed, but the file itself can be read.
  }
}

function isAbandoned(draft: string, pid: number): boolean {
  const written = statSync(draft, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  return !isRunning(pid) || Date.now() - written > OLDEST_DRAFT_MS;
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

/** The ends of the names of the files that SQLite keeps for a database. */
const DATABASE_SUFFIXES = ["", "-wal", "-shm", "-journal"];

/** Removes a file, if there is one. Throws the error of the system; that of `rmSync` lacks the system's code. */
export function removeFile(path: string): void {
  try {
    unlinkSync(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
  }
}

/** Removes a database and the files that SQLite keeps for it. Throws the error of the system for the first that stays. */
export function removeDatabaseFiles(path: string): void {
  for (const end of DATABASE_SUFFIXES) removeFile(path + end);
}

/** Removes the draft of a database as `removeDraft` does. Gives whether no file of it is left. */
export function removeDatabaseDraft(draft: string): boolean {
  return DATABASE_SUFFIXES.map((end) => removeDraft(draft + end)).every(Boolean);
}

/** Gives whether the file is gone. After two attempts it stays, and only its owner can read it (mode 0600). */
export function removeDraft(draft: string): boolean {
  for (let attempt = 1; attempt <= 2; attempt += 1) {
    try {
      removeFile(draft);
      return true;
    } catch {
      // The caller has an earlier error to report, or the file has its name already.
    }
  }
  return false;
}

/** The error of an operation that failed and left its draft, which contains what people said. */
export function createRemainingDraftError(operation: string, draft: string, cause: unknown): MemoryError {
  return new MemoryError(
    "unavailable",
    `${operation}: it failed, and its draft ${draft} could not be removed. Check the disk, then delete that file.`,
    { cause },
  );
}

/** Makes the names in the folder of a path survive a power failure. */
export function syncParentFolder(path: string): void {
  syncNames(dirname(path));
}
