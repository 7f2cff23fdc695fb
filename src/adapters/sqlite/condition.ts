import { access, constants, stat, statfs } from "node:fs/promises";
import { dirname } from "node:path";
import { setImmediate } from "node:timers/promises";
import type { StorageCondition } from "../../ports/storage-condition.ts";
import { readInSnapshot } from "./apart.ts";
import { readPragma, type SqliteDatabase } from "./database.ts";
import { DIGEST_TABLES } from "./integrity/digest-tables.ts";
import { hasAllDigests } from "./integrity/fill-digests.ts";
import { updateCopies } from "./update-copy.ts";

/** PRAGMA synchronous: 2 is FULL, 3 is EXTRA. */
const SYNCHRONOUS_FULL = 2;
/** Rows that are stepped over in one go: about two milliseconds. */
const SLICE_ROWS = 1000;
const MOST_COUNTED = 100_000;
const NEWEST_ERASURES = 500;

/** What the file, its settings and its disk say. Reads the file system without holding the event loop. */
export async function readStorageCondition(database: SqliteDatabase): Promise<StorageCondition> {
  const { path, handle } = database;
  const isKept = path !== ":memory:";
  const reducedBy = isKept && readPragma(handle, "synchronous") < SYNCHRONOUS_FULL ? ["synchronous"] : [];
  return {
    durability: isKept ? (reducedBy.length > 0 ? "reduced" : "full") : "none",
    reducedBy,
    format: readPragma(handle, "user_version"),
    olderCopies: isKept ? updateCopies(path).length : 0,
    erasing: countRows(database, "SELECT count(DISTINCT user) AS found FROM erasing"),
    unverified: countRows(
      database,
      `SELECT count(*) AS found FROM (SELECT body FROM erasures ORDER BY number DESC LIMIT ${NEWEST_ERASURES}) ` +
        "WHERE body ->> '$.complete' = 0",
    ),
    ...(database.guard?.key === "same" ? { rowsWithoutDigest: await countRowsWithoutDigest(database) } : {}),
    ...(isKept ? await readDiskSpace(path) : {}),
    isReadOnly: isKept && (await isReadOnly(path)),
  };
}

function countRows(database: SqliteDatabase, sql: string): number {
  return Number(database.statement(sql).get()?.found ?? 0);
}

/** Over a connection of its own and in slices: where few of many rows lack one, all are stepped over. */
async function countRowsWithoutDigest(database: SqliteDatabase): Promise<number> {
  if (hasAllDigests(database)) return 0;
  const counted = await readInSnapshot(database, async (own) => {
    let found = 0;
    for (const { name } of DIGEST_TABLES) found += await countMissingIn(own, name, MOST_COUNTED - found);
    return found;
  });
  return counted ?? 0;
}

async function countMissingIn(own: SqliteDatabase, table: string, most: number): Promise<number> {
  const rows = own.handle.prepare(`SELECT digest IS NULL AS found FROM ${table}`).iterate();
  let found = 0;
  let seen = 0;
  for (const row of rows) {
    if (found >= most) return most;
    found += Number(row.found);
    seen += 1;
    if (seen % SLICE_ROWS === 0) await setImmediate();
  }
  return found;
}

/** Of the folder: a file in it may be replaced. Nothing where the system does not say. */
async function readDiskSpace(path: string): Promise<Pick<StorageCondition, "disk">> {
  try {
    const { bavail, blocks, bsize } = await statfs(dirname(path));
    return { disk: { freeBytes: bavail * bsize, totalBytes: blocks * bsize } };
  } catch {
    return {};
  }
}

async function isReadOnly(path: string): Promise<boolean> {
  try {
    for (const one of [path, dirname(path)]) await access(one, constants.W_OK);
    // To root every mode is one that may write.
    return ((await stat(path)).mode & 0o200) === 0;
  } catch {
    return true;
  }
}
