import type { StoreCopy, StoreCopyOptions } from "../../../ports/memory-store.ts";
import { backupPages, DatabaseSync } from "../node-sqlite.ts";

/** Pages of 8 KiB per step: two megabytes, some milliseconds. Between steps, other work continues. */
const PAGES_PER_STEP = 256;
const COUNTED_TABLES = ["users", "messages", "versions", "units", "tombstones", "erasures"];

/** Copies pages over a separate connection, whose read transaction keeps the snapshot. Gives the counts of the snapshot. */
export async function copyPages(
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

export function countTables(handle: DatabaseSync): StoreCopy["counts"] {
  const count = (table: string): number =>
    Number(handle.prepare(`SELECT count(*) AS found FROM ${table}`).get()?.found);
  return Object.fromEntries(COUNTED_TABLES.map((table) => [table, count(table)]));
}
