import { createHash } from "node:crypto";
import { closeSync, existsSync, openSync, realpathSync, statSync } from "node:fs";
import { open, rename } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { invalid, MemoryError } from "../../../errors.ts";
import type { StoreCopy, StoreCopyOptions } from "../../../ports/memory-store.ts";
import type { SqliteDatabase } from "../database.ts";
import { DatabaseSync } from "../node-sqlite.ts";
import { copyPages, countTables } from "./copy-pages.ts";
import { createRemainingDraftError, draftPathOf, removeDatabaseDraft, removeOldDrafts } from "./drafts.ts";
import { syncFolder } from "./ledger.ts";
import { isUpdateCopy } from "./update-copies.ts";

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
  const draft = draftPathOf(file);
  removeOldDrafts(file, true);
  try {
    closeSync(openSync(draft, "wx", 0o600));
    const wanted = await copyPages(database.path, draft, options);
    const counts = verifyCopy(draft);
    if (JSON.stringify(counts) !== JSON.stringify(wanted)) throw createDamagedCopyError(draft);
    await syncFile(draft);
    const { digest, bytes } = await hashFile(draft);
    options.signal?.throwIfAborted();
    await rename(draft, file);
    await syncFolder(dirname(file));
    return { name: basename(file), bytes, digest, counts };
  } catch (error) {
    throw removeDatabaseDraft(draft) ? error : createRemainingDraftError("backup", draft, error);
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

/** Writes a file's content through to the disk. */
export async function syncFile(path: string): Promise<void> {
  const file = await open(path, "r+");
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}

/** The SHA-256 of a file in hex, and its size. The file may be read-only, or on a medium that is. */
export async function hashFile(path: string): Promise<{ digest: string; bytes: number }> {
  const file = await open(path, "r");
  try {
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

/**
 * Whether two paths name the same file: through links, or in other case on a case-insensitive file system (APFS, NTFS). False if
 * either is missing.
 */
export function isSameFile(one: string, other: string): boolean {
  const [first, second] = [one, other].map((path) => statSync(path, { bigint: true, throwIfNoEntry: false }));
  return first !== undefined && first.dev === second?.dev && first.ino === second.ino;
}
