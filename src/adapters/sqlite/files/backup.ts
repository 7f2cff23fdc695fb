import { createHash } from "node:crypto";
import { closeSync, existsSync, openSync, readdirSync, realpathSync, rmSync, statSync } from "node:fs";
import { open, rename } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { invalid, MemoryError } from "../../../errors.ts";
import type { StoreCopy, StoreCopyOptions } from "../../../ports/memory-store.ts";
import type { SqliteDatabase } from "../database.ts";
import { isFull } from "../errors.ts";
import { backupPages, DatabaseSync } from "../node-sqlite.ts";
import { syncFolder } from "./ledger.ts";

/** Pages of 8 KiB per step: two megabytes, some milliseconds. Between steps, other work continues. */
const PAGES_PER_STEP = 256;
const COUNTED_TABLES = ["users", "messages", "versions", "units", "tombstones", "erasures"];

/**
 * Copies a snapshot of the database to a new file of mode 0600, while others read and write. The copy is verified (pages, rows,
 * counts) and made durable under a temporary name before it gets its name.
 */
export async function copyTo(
  database: Pick<SqliteDatabase, "path">,
  named: string,
  options: StoreCopyOptions,
): Promise<StoreCopy> {
  const file = resolveTarget(database.path, named, options.replace ?? false);
  const draft = `${file}.${process.pid}.part`;
  rmSync(draft, { force: true });
  try {
    closeSync(openSync(draft, "wx", 0o600));
    const wanted = await copyPages(database.path, draft, options);
    const counts = verifyCopy(draft);
    if (JSON.stringify(counts) !== JSON.stringify(wanted)) throw createDamagedCopyError(draft);
    const { digest, bytes } = await hashFile(draft);
    options.signal?.throwIfAborted();
    await rename(draft, file);
    await syncFolder(dirname(file));
    return { name: basename(file), bytes, digest, counts };
  } finally {
    for (const end of ["", "-wal", "-shm", "-journal"]) rmSync(`${draft}${end}`, { force: true });
  }
}

function resolveTarget(path: string, named: string, mayReplace: boolean): string {
  if (path === ":memory:") {
    throw new MemoryError("unsupported", "this memory is not persistent: there is no file to copy.");
  }
  if (named === "" || named.includes("\0")) throw invalid("backup: name the file to write.");
  const file = resolve(named);
  const folder = statSync(dirname(file), { throwIfNoEntry: false });
  if (!folder?.isDirectory()) {
    throw new MemoryError(
      "unavailable",
      `backup ${named}: its folder does not exist. Create the folder first.`,
    );
  }
  // A copy must never replace the database or its own files: neither through a link, nor under a name in other case on a
  // case-insensitive file system (APFS, NTFS).
  const target = join(realpathSync(dirname(file)), basename(file));
  const databaseFiles = [
    "",
    "-wal",
    "-shm",
    "-journal",
    ".secret",
    ".erasures",
    ".keys.json",
    ".oauth.json",
  ].map((end) => `${realpathSync(path)}${end}`);
  const isDatabaseFile = databaseFiles.some((name) => name === target || isSameFile(name, file));
  if (isDatabaseFile || isUpdateCopy(realpathSync(path), target)) {
    throw invalid("backup: this file is the database itself, or belongs to it. Choose another file.");
  }
  const found = statSync(file, { throwIfNoEntry: false });
  if (found && !found.isFile()) throw invalid(`backup ${named}: this is not a file. Choose another name.`);
  if (found && !mayReplace) {
    throw new MemoryError(
      "conflict",
      `backup ${named}: the file already exists. Choose another name, or add --yes.`,
    );
  }
  return file;
}

/** Copies pages over a separate connection, whose read transaction keeps the snapshot. Gives the counts of the snapshot. */
async function copyPages(
  path: string,
  draft: string,
  options: StoreCopyOptions,
): Promise<StoreCopy["counts"]> {
  const source = new DatabaseSync(path, { readOnly: true, timeout: 5000 });
  try {
    source.exec("BEGIN");
    const counts = countTables(source);
    await backupPages(source, draft, {
      rate: PAGES_PER_STEP,
      progress({ totalPages, remainingPages }) {
        options.signal?.throwIfAborted();
        options.onProgress?.(totalPages - remainingPages, totalPages);
      },
    });
    return counts;
  } finally {
    source.close();
  }
}

/** Counts the rows of a database file by kind, as in `StoreCopy`. */
export function countRows(path: string): StoreCopy["counts"] {
  const handle = new DatabaseSync(path, { readOnly: true });
  try {
    return countTables(handle);
  } finally {
    handle.close();
  }
}

function countTables(handle: DatabaseSync): StoreCopy["counts"] {
  const count = (table: string): number =>
    Number(handle.prepare(`SELECT count(*) AS found FROM ${table}`).get()?.found);
  return Object.fromEntries(COUNTED_TABLES.map((table) => [table, count(table)]));
}

/** Verifies the whole copy, and converts it to a single file without a log. */
function verifyCopy(draft: string): StoreCopy["counts"] {
  const handle = new DatabaseSync(draft);
  try {
    handle.exec("PRAGMA journal_mode = DELETE");
    const row = handle.prepare("PRAGMA integrity_check(1)").get();
    if (row?.integrity_check !== "ok") throw createDamagedCopyError(draft);
    return countTables(handle);
  } finally {
    handle.close();
  }
}

function createDamagedCopyError(draft: string): MemoryError {
  const problem = existsSync(draft) ? "is damaged" : "is missing";
  return new MemoryError(
    "corrupt",
    `backup: the copy ${problem}; nothing was written. Run \`keepsake doctor\` on the database, and check the disk.`,
  );
}

/** The SHA-256 of a file in hex, after it is synced to disk. */
export async function hashFile(path: string): Promise<{ digest: string; bytes: number }> {
  const file = await open(path, "r+");
  try {
    await file.sync();
    const hash = createHash("sha256");
    let bytes = 0;
    for await (const chunk of file.createReadStream({ autoClose: false })) {
      hash.update(chunk as Buffer);
      bytes += (chunk as Buffer).length;
    }
    return { digest: hash.digest("hex"), bytes };
  } finally {
    await file.close();
  }
}

/** How long a copy before an update is kept, in ms: seven days. */
const COPY_RETENTION_MS = 7 * 24 * 3_600_000;
/** The shortest time between two attempts to delete copies, in ms. */
const SHORTEST_WAIT_MS = 3_600_000;
/** Files that SQLite and a draft may leave behind when a process is killed. */
const FILE_SUFFIXES = ["", "-wal", "-shm", "-journal"];

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
    removeDraft(draft);
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
    removeDraft(draft);
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

function removeDraft(draft: string): void {
  for (const end of FILE_SUFFIXES) rmSync(`${draft}${end}`, { force: true });
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
  const kept = new Set(updateCopies(path).flatMap(({ name, until }) => (until > now ? [name] : [])));
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
function isUpdateCopy(path: string, file: string): boolean {
  if (dirname(file) !== dirname(path) || !basename(file).startsWith(basename(path))) return false;
  return /^\.before-v\d+(\.part)?$/.test(basename(file).slice(basename(path).length));
}

/**
 * Whether two paths name the same file: through links, or in other case on a case-insensitive file system (APFS, NTFS). False if
 * either is missing.
 */
export function isSameFile(one: string, other: string): boolean {
  const [first, second] = [one, other].map((path) => statSync(path, { bigint: true, throwIfNoEntry: false }));
  return first !== undefined && first.dev === second?.dev && first.ino === second.ino;
}
