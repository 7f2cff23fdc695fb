import { createHash } from "node:crypto";
import { closeSync, existsSync, openSync, realpathSync, rmSync, statSync } from "node:fs";
import { open, rename } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { backup, DatabaseSync } from "node:sqlite";
import { invalid, MemoryError } from "../../errors.ts";
import type { StoreCopy, StoreCopyOptions } from "../../ports/record.ts";
import { isSameFile } from "../shared/same-file.ts";
import type { SqliteDatabase } from "./database.ts";
import { syncFolder } from "./ledger.ts";
import { isUpdateCopy } from "./update-copy-name.ts";

/** Pages of 8 KiB in one step: two megabytes, some milliseconds; between steps everybody else goes on. */
const PAGES_PER_STEP = 256;
const COUNTED_TABLES = ["users", "messages", "versions", "units", "tombstones", "erasures"];

/**
 * Copies the database as it is at this moment into a new file of mode 0600, while others read and write it. The copy is
 * read back (pages, rows, counts), made durable under another name, and only then put in place.
 */
export async function copyTo(
  database: SqliteDatabase,
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
    throw new MemoryError("unsupported", "this memory keeps nothing: there is no file to copy.");
  }
  if (named === "" || named.includes("\0")) throw invalid("backup: name the file to write.");
  const file = resolve(named);
  const folder = statSync(dirname(file), { throwIfNoEntry: false });
  if (!folder?.isDirectory()) {
    throw new MemoryError("unavailable", `backup ${named}: its folder is not there. Make the folder first.`);
  }
  // A copy must never replace the database or what lies beside it: not through a link, nor under a name in other letters
  // where the file system does not tell them apart (APFS, NTFS).
  const place = join(realpathSync(dirname(file)), basename(file));
  const own = ["", "-wal", "-shm", "-journal", ".secret", ".erasures", ".keys.json"].map(
    (end) => `${realpathSync(path)}${end}`,
  );
  const isOwn = own.some((name) => name === place || isSameFile(name, file));
  if (isOwn || isUpdateCopy(realpathSync(path), place)) {
    throw invalid("backup: that is the database itself, or belongs to it. Name another file.");
  }
  const found = statSync(file, { throwIfNoEntry: false });
  if (found && !found.isFile()) throw invalid(`backup ${named}: it is no file. Name another.`);
  if (found && !mayReplace) {
    throw new MemoryError(
      "conflict",
      `backup ${named}: there is a file already. Name another, or add --yes.`,
    );
  }
  return file;
}

/** Through a connection of its own, whose read transaction holds the moment still. Gives the counts of that moment. */
export async function copyPages(
  path: string,
  draft: string,
  options: StoreCopyOptions,
): Promise<StoreCopy["counts"]> {
  const source = new DatabaseSync(path, { readOnly: true, timeout: 5000 });
  try {
    source.exec("BEGIN");
    const counts = countTables(source);
    await backup(source, draft, {
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

export function countTables(handle: DatabaseSync): StoreCopy["counts"] {
  const count = (table: string): number =>
    Number(handle.prepare(`SELECT count(*) AS found FROM ${table}`).get()?.found);
  return Object.fromEntries(COUNTED_TABLES.map((table) => [table, count(table)]));
}

/** Reads a copy back as a whole, and leaves it as one file without a log. */
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
  const what = existsSync(draft) ? "does not hold together" : "is not there";
  return new MemoryError(
    "corrupt",
    `backup: the copy ${what}; nothing was written. Run \`keepsake doctor\` on the database, and look at the disk.`,
  );
}

/** SHA-256 of a file in hex, once all of it is on the disk. */
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
