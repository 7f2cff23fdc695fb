import { statSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { MemoryError } from "../../errors.ts";
import type { CompactedSize } from "../../ports/memory-store.ts";
import type { SqliteDatabase } from "./database.ts";
import { isBusy, isFull } from "./errors.ts";

const MAX_ATTEMPTS = 5;
const PAUSE_MS = 200;

/**
 * Rewrites the file, so that it contains its rows and no free space. Other processes may read meanwhile; their writes wait.
 * SQLite needs as much free space as the file takes. If it fails, the file stays as it is.
 */
export async function compactDatabase(database: SqliteDatabase): Promise<CompactedSize> {
  const before = measureFiles(database.path);
  for (let attempt = 1; !tryRewrite(database, attempt === MAX_ATTEMPTS); attempt += 1) await pause(PAUSE_MS);
  // Without it, the new file is in the log until the next checkpoint. A reader elsewhere may delay it; that costs space only.
  database.handle.prepare("PRAGMA wal_checkpoint(TRUNCATE)").get();
  return { before, after: measureFiles(database.path) };
}

/** False if another process holds the file and there are attempts left. */
function tryRewrite({ handle, noteFailure }: SqliteDatabase, isLast: boolean): boolean {
  try {
    handle.exec("VACUUM");
    return true;
  } catch (error) {
    if (isBusy(error) && !isLast) return false;
    noteFailure(error);
    if (isBusy(error))
      throw new MemoryError("unavailable", "another process is writing to the database. Try again later.", {
        cause: error,
      });
    if (isFull(error))
      throw new MemoryError(
        "unavailable",
        "the disk has too little free space: rewriting needs as much as the database takes. Nothing was changed.",
        { cause: error },
      );
    throw error;
  }
}

/** The bytes of the database and its log; 0 in memory. */
function measureFiles(path: string): number {
  if (path === ":memory:") return 0;
  return [path, `${path}-wal`].reduce(
    (sum, file) => sum + (statSync(file, { throwIfNoEntry: false })?.size ?? 0),
    0,
  );
}
