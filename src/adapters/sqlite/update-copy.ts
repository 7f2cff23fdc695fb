import { closeSync, existsSync, openSync, readdirSync, rmSync, statSync } from "node:fs";
import { open, rename } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { MemoryError } from "../../errors.ts";
import { copyPages, countTables } from "./copy.ts";
import { isFull } from "./errors.ts";
import { syncFolder } from "./ledger.ts";
import { DRAFT_SUFFIX, getUpdateCopyPath, isUpdateCopy } from "./update-copy-name.ts";

/** How long a copy is kept, in ms: seven days. */
const COPY_RETENTION_MS = 7 * 24 * 3_600_000;
/** A copy that could not be deleted is tried again after so many ms. */
const SHORTEST_WAIT_MS = 3_600_000;
/** What SQLite and a draft may leave beside it when a process is killed. */
const FILE_SUFFIXES = ["", "-wal", "-shm", "-journal"];

/** A copy that was made before the file was brought to another version. */
export interface UpdateCopy {
  /** The file's name, without the folder. */
  readonly name: string;
  readonly bytes: number;
  /** When it was made, and when it is deleted at the latest (ISO 8601). */
  readonly at: string;
  readonly until: string;
}

/**
 * Copies a database beside itself: one file of mode 0600, whole, and on the disk before it bears its name. A copy of that name
 * that is there is replaced in one step. The caller holds the write lock. `unavailable` where the copy cannot be written.
 */
export async function copyBeforeUpdate(path: string, version: number): Promise<void> {
  const copy = getUpdateCopyPath(path, version);
  const draft = `${copy}${DRAFT_SUFFIX}`;
  try {
    removeDraft(draft);
    closeSync(openSync(draft, "wx", 0o600));
    const wanted = await copyPages(path, draft, {});
    if (JSON.stringify(settleDraft(draft)) !== JSON.stringify(wanted))
      throw new Error("the copy is not whole");
    const file = await open(draft, "r+");
    await file.sync().finally(() => file.close());
    await rename(draft, copy);
    await syncFolder(dirname(path));
  } catch (cause) {
    throw createCopyError(path, cause);
  } finally {
    removeDraft(draft);
  }
}

/** Leaves it as one file without a log, and gives its counts. */
function settleDraft(draft: string): ReturnType<typeof countTables> {
  const handle = new DatabaseSync(draft);
  try {
    handle.exec("PRAGMA journal_mode = DELETE");
    return countTables(handle);
  } finally {
    handle.close();
  }
}

function removeDraft(draft: string): void {
  for (const end of FILE_SUFFIXES) rmSync(`${draft}${end}`, { force: true });
}

function createCopyError(path: string, cause: unknown): MemoryError {
  const megabytes = Math.max(1, Math.ceil((statSync(path, { throwIfNoEntry: false })?.size ?? 0) / 1e6));
  const code = (cause as NodeJS.ErrnoException).code ?? "";
  const what =
    isFull(cause) || ["ENOSPC", "EDQUOT", "EFBIG"].includes(code)
      ? `there is no room for the copy. Free ${megabytes} MB in its folder, and open it again.`
      : "the copy could not be written. Check the owner and mode of its folder, and open it again.";
  return new MemoryError(
    "unavailable",
    `database ${path}: an older version of Keepsake made it. It is copied before it is updated, and ${what} It was left as it is.`,
    { cause },
  );
}

/** Whether a process makes a copy now, or was killed while it made one. */
export function hasUnfinishedCopy(path: string): boolean {
  return listCopyFiles(path).some((file) => file.endsWith(DRAFT_SUFFIX));
}

/** The copies beside a database, oldest version first. */
export function updateCopies(path: string): UpdateCopy[] {
  return listCopyFiles(path)
    .filter((file) => !file.endsWith(DRAFT_SUFFIX))
    .flatMap((file) => {
      const found = statSync(file, { throwIfNoEntry: false });
      if (!found) return [];
      const until = new Date(found.mtimeMs + COPY_RETENTION_MS).toISOString();
      return [{ name: basename(file), bytes: found.size, at: found.mtime.toISOString(), until }];
    })
    .sort((one, other) => one.name.localeCompare(other.name, "en", { numeric: true }));
}

/** Deletes copies of whatever age: they hold what is erased now. Says how many went, and how many could not be deleted. */
export async function deleteUpdateCopies(path: string): Promise<{ dropped: number; left: number }> {
  return deleteCopyFiles(path, listCopyFiles(path));
}

/**
 * Deletes copies that have been kept for as long as they are kept, and drafts. The file must be of this version. Where the folder cannot
 * be listed, they stay until the next time: an erasure would say so.
 */
export async function deleteOutdatedCopies(path: string): Promise<void> {
  const files = listCopiesIfReadable(path);
  if (files.length === 0) return;
  const now = new Date().toISOString();
  const kept = new Set(updateCopies(path).flatMap(({ name, until }) => (until > now ? [name] : [])));
  await deleteCopyFiles(
    path,
    files.filter((file) => !kept.has(basename(file))),
  );
}

/** Deletes copies when their time has come, in a program that runs for longer. */
export function scheduleCopyDeletion(path: string): { stop(): void } {
  let timer: NodeJS.Timeout | undefined;
  let isStopped = false;
  const wait = (): void => {
    const times =
      listCopiesIfReadable(path).length === 0 ? [] : updateCopies(path).map(({ until }) => Date.parse(until));
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
      removeDraft(file);
    } catch {
      // Told by the caller: what is left is a place that still holds words.
      left += 1;
    }
  }
  if (files.length > left) await syncFolder(dirname(path));
  return { dropped: files.length - left, left };
}

/** The copies and drafts beside a database; none where the folder cannot be listed. */
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
