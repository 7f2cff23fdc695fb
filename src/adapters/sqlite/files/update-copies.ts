import { closeSync, existsSync, openSync, readdirSync, statSync } from "node:fs";
import { open, rename } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { MemoryError } from "../../../errors.ts";
import { isFull } from "../errors.ts";
import { DatabaseSync } from "../node-sqlite.ts";
import { copyPages, countTables } from "./copy-pages.ts";
import { removeDatabaseDraft, removeDatabaseFiles } from "./drafts.ts";
import { syncFolder } from "./ledger.ts";

/** How long a copy before an update is kept, in ms: seven days. */
const COPY_RETENTION_MS = 7 * 24 * 3_600_000;
/** The shortest time between two attempts to delete copies, in ms. */
const SHORTEST_WAIT_MS = 3_600_000;

/** A copy that was made before the file was migrated to another version. */
export interface UpdateCopy {
  /** The file name, without the folder. */
  readonly name: string;
  /** The size of the copy. */
  readonly bytes: number;
  /** When it was made, and when it is deleted at the latest (ISO 8601). */
  readonly at: string;
  /** When the copy is deleted (ISO 8601). */
  readonly until: string;
}

/**
 * Copies a database to a file next to it, of mode 0600, complete and on disk before it gets its name. It replaces an existing copy
 * in one step. The caller holds the write lock. Throws `unavailable` if the copy cannot be written.
 */
export async function copyBeforeUpdate(path: string, version: number): Promise<void> {
  const copy = getUpdateCopyPath(path, version);
  const draft = `${copy}${DRAFT_SUFFIX}`;
  try {
    removeDatabaseFiles(draft);
    closeSync(openSync(draft, "wx", 0o600));
    const wanted = await copyPages(path, draft, {});
    if (JSON.stringify(settleDraft(draft)) !== JSON.stringify(wanted))
      throw new Error("the copy is incomplete");
    const file = await open(draft, "r+");
    await file.sync().finally(() => file.close());
    await rename(draft, copy);
    await syncFolder(dirname(path));
  } catch (cause) {
    throw createCopyError(path, cause);
  } finally {
    removeDatabaseDraft(draft);
  }
}

/** Converts a draft to a single file without a log, and gives its counts. */
function settleDraft(draft: string): ReturnType<typeof countTables> {
  const handle = new DatabaseSync(draft);
  try {
    handle.exec("PRAGMA journal_mode = DELETE");
    return countTables(handle);
  } finally {
    handle.close();
  }
}

function createCopyError(path: string, cause: unknown): MemoryError {
  const megabytes = Math.max(1, Math.ceil((statSync(path, { throwIfNoEntry: false })?.size ?? 0) / 1e6));
  const code = (cause as NodeJS.ErrnoException).code ?? "";
  const what =
    isFull(cause) || ["ENOSPC", "EDQUOT", "EFBIG"].includes(code)
      ? `there is no space for the copy. Free ${megabytes} MB in its folder, and open it again.`
      : "the copy could not be written. Check the owner and mode of its folder, and open it again.";
  return new MemoryError(
    "unavailable",
    `database ${path}: an older version of Keepsake created it. It is copied before it is updated, but ${what} It was not changed.`,
    { cause },
  );
}

/** Whether a process is making a copy, or was killed while making one. */
export function hasUnfinishedCopy(path: string): boolean {
  return listCopyFiles(path).some((file) => file.endsWith(DRAFT_SUFFIX));
}

/** The copies next to a database, oldest version first. */
export function updateCopies(path: string): UpdateCopy[] {
  return describeCopies(listCopyFiles(path));
}

function describeCopies(files: readonly string[]): UpdateCopy[] {
  return files
    .filter((file) => !file.endsWith(DRAFT_SUFFIX))
    .flatMap((file) => {
      const found = statSync(file, { throwIfNoEntry: false });
      if (!found) return [];
      const until = new Date(found.mtimeMs + COPY_RETENTION_MS).toISOString();
      return [{ name: basename(file), bytes: found.size, at: found.mtime.toISOString(), until }];
    })
    .sort((one, other) => one.name.localeCompare(other.name, "en", { numeric: true }));
}

/** Deletes all copies, because they contain erased data. Gives how many were deleted, and how many could not be. */
export async function deleteUpdateCopies(path: string): Promise<{ dropped: number; left: number }> {
  return deleteCopyFiles(path, listCopyFiles(path));
}

/**
 * Deletes copies whose retention time is over, and drafts. The file must be of this version. If the folder cannot be listed,
 * they stay until the next attempt; an erasure would report that.
 */
export async function deleteOutdatedCopies(path: string): Promise<void> {
  const files = listCopiesIfReadable(path);
  if (files.length === 0) return;
  const now = new Date().toISOString();
  const kept = new Set(describeCopies(files).flatMap(({ name, until }) => (until > now ? [name] : [])));
  await deleteCopyFiles(
    path,
    files.filter((file) => !kept.has(basename(file))),
  );
}

/** Deletes copies when their retention time is over, in a program that keeps running. */
export function scheduleCopyDeletion(path: string): { stop(): void } {
  let timer: NodeJS.Timeout | undefined;
  let isStopped = false;
  const wait = (): void => {
    const times = describeCopies(listCopiesIfReadable(path)).map(({ until }) => Date.parse(until));
    if (isStopped || times.length === 0) return;
    const waitMs = Math.max(SHORTEST_WAIT_MS, Math.min(...times) - Date.now());
    timer = setTimeout(() => void deleteOutdatedCopies(path).then(wait), waitMs);
    timer.unref();
  };
  wait();
  return {
    stop() {
      isStopped = true;
      clearTimeout(timer);
    },
  };
}

async function deleteCopyFiles(
  path: string,
  files: readonly string[],
): Promise<{ dropped: number; left: number }> {
  let left = 0;
  for (const file of files) {
    try {
      removeDatabaseFiles(file);
    } catch {
      // The caller reports it: a remaining copy still contains the words.
      left += 1;
    }
  }
  if (files.length > left) await syncFolder(dirname(path));
  return { dropped: files.length - left, left };
}

/** The copies and drafts next to a database; none if the folder cannot be listed. */
function listCopiesIfReadable(path: string): string[] {
  try {
    return path === ":memory:" ? [] : listCopyFiles(path);
  } catch {
    return [];
  }
}

function listCopyFiles(path: string): string[] {
  if (!existsSync(dirname(path))) return [];
  return readdirSync(dirname(path))
    .map((name) => join(dirname(path), name))
    .filter((file) => isUpdateCopy(path, file));
}

/** The suffix of a copy that is still being written. */
const DRAFT_SUFFIX = ".part";

/** The path of the copy that is made before a file is migrated to a version. */
function getUpdateCopyPath(path: string, version: number): string {
  return `${path}.before-v${version}`;
}

/** Whether a file is such a copy of a database, or a draft of one. */
export function isUpdateCopy(path: string, file: string): boolean {
  if (dirname(file) !== dirname(path) || !basename(file).startsWith(basename(path))) return false;
  return /^\.before-v\d+(\.part)?$/.test(basename(file).slice(basename(path).length));
}
