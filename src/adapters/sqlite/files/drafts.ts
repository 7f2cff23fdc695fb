import { randomUUID } from "node:crypto";
import { closeSync, fsyncSync, openSync, readdirSync, rmSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";

/**
 * A file that must be complete as soon as it has its name is written as a draft first, and then linked to the name. Of two
 * processes that do so at once, one gets the name.
 */
export function draftPathOf(path: string): string {
  // Processes in two containers can have the same number.
  return `${path}.${process.pid}.${randomUUID().slice(0, 8)}.new`;
}

const DRAFT_NAME = /^(\d+)(?:\.[0-9a-f]{8})?\.new(?:-wal|-shm|-journal)?$/;
/** A draft is written in milliseconds. */
const OLDEST_DRAFT_MS = 3_600_000;

/** Removes the drafts of a file that a process could not remove before it ended. */
export function removeOldDrafts(path: string): void {
  const prefix = `${basename(path)}.`;
  try {
    for (const name of readdirSync(dirname(path))) {
      const [, pid] = name.startsWith(prefix) ? (DRAFT_NAME.exec(name.slice(prefix.length)) ?? []) : [];
      const draft = join(dirname(path), name);
      if (pid !== undefined && isAbandoned(draft, Number(pid))) removeDraft(draft);
    }
  } catch {
    // The folder cannot be listed: the file itself can be read all the same.
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

/** Ignores failures after a second attempt: the file already has its name, or an earlier error says more. */
export function removeDraft(draft: string): void {
  for (let attempt = 1; attempt <= 2; attempt += 1) {
    try {
      rmSync(draft, { force: true });
      return;
    } catch {
      // A remaining draft is readable by its owner only (mode 0600).
    }
  }
}

/** Makes a new name survive a power failure. Systems that cannot open folders do so by themselves. */
export function syncParentFolder(path: string): void {
  let folder: number;
  try {
    folder = openSync(dirname(path), "r");
  } catch {
    return;
  }
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}
