import { access, constants, stat, statfs } from "node:fs/promises";
import { dirname } from "node:path";
import { setImmediate } from "node:timers/promises";
import type { Fault, StorageCondition } from "../../ports/memory-store.ts";
import { buildConsistencyRules, type ConsistencyRule } from "../shared/consistency-rules.ts";
import { readInSnapshot, readPragma, type SqliteDatabase } from "./database.ts";
import { updateCopies } from "./files/update-copies.ts";
import { DIGEST_TABLES } from "./integrity/row-digest.ts";
import { verifyAttachments } from "./integrity/verify-attachments.ts";
import { hasAllDigests, verifyDigests } from "./integrity/verify-digests.ts";

/** A field of a part of a message, where `part` is a row of `json_each`. */
const fieldOfPart = (name: string): string => `json_extract(messages.body, part.fullkey || '.${name}')`;

const CONSISTENCY_RULES: readonly ConsistencyRule[] = [
  ...buildConsistencyRules({
    user: "user",
    number: "id",
    isExempt: "users.id IN (SELECT user FROM erasing)",
  }),
  [
    "versions",
    "whose body is another's",
    "SELECT 1 FROM versions WHERE body ->> '$.id' IS NOT id OR body ->> '$.version' IS NOT version",
  ],
  [
    "messages",
    "whose body is another's",
    "SELECT 1 FROM messages WHERE body ->> '$.id' IS NOT id OR body ->> '$.turn' IS NOT turn",
  ],
  [
    "messages",
    "searchable but without a passage",
    "SELECT 1 FROM messages LEFT JOIN (SELECT DISTINCT user, owner FROM units WHERE type = 'passage') passages " +
      "ON passages.user = messages.user AND passages.owner = messages.id WHERE passages.owner IS NULL " +
      "AND trim(body ->> '$.content', char(9, 10, 13, 32, 160)) <> '' AND coalesce(body ->> '$.undone', 0) = 0 AND messages.user NOT IN (SELECT user FROM erasing)",
  ],
  [
    "erasures",
    "in the log without their receipt",
    // A set difference: a join on two bodies would parse each one for each of the others.
    "SELECT user, revision FROM log WHERE body ->> '$.cause' = 'forget' EXCEPT " +
      "SELECT user, body ->> '$.revision' FROM erasures",
  ],
  [
    "erasures",
    "without an entry in the log",
    "SELECT 1 FROM erasures LEFT JOIN log ON log.user = erasures.user AND log.revision = erasures.body ->> '$.revision' " +
      "WHERE log.revision IS NULL",
  ],
  ["identity", "missing, or more than one", "SELECT 1 WHERE (SELECT count(*) FROM identity) <> 1"],
  [
    "attachments",
    "missing, or not as their message says",
    "SELECT 1 FROM messages, json_each(messages.body, '$.parts') AS part LEFT JOIN attachments " +
      `ON attachments.user = messages.user AND attachments.digest = ${fieldOfPart("id")} ` +
      `WHERE ${fieldOfPart("type")} IN ('image', 'audio') AND ${fieldOfPart("size")} IS NOT NULL ` +
      `AND length(${fieldOfPart("id")}) = 64 AND messages.user NOT IN (SELECT user FROM erasing) ` +
      `AND (attachments.digest IS NULL OR attachments.size <> ${fieldOfPart("size")} ` +
      `OR attachments.media_type <> ${fieldOfPart("mediaType")})`,
  ],
  [
    "erasures",
    "whose trace is another's",
    "SELECT 1 FROM erasures WHERE trace IS NOT NULL AND (NOT json_valid(trace) OR trace ->> '$.receipt' IS NOT id)",
  ],
];

const TABLES_WITH_BODY = ["messages", "versions", "log", "receipts", "erasures"];

/** Checks pages, rows, the consistency rules, and every row and attachment against its digest. */
export async function checkSqliteStore(database: SqliteDatabase): Promise<Fault[]> {
  const faults = checkRows(database);
  if (faults.some(({ place }) => place === "file")) return faults;
  return [...faults, ...(await verifyDigests(database)), ...(await verifyAttachments(database))];
}

/** Checks for damage first: in a damaged file, counts of rows would mislead. */
export function checkRows(database: SqliteDatabase): Fault[] {
  const { handle } = database;
  const damage = handle
    .prepare("PRAGMA integrity_check(100)")
    .all()
    .filter((row) => row.integrity_check !== "ok").length;
  if (damage > 0) return [{ place: "file", problem: "damaged pages, rows or indexes", count: damage }];
  const orphans = handle.prepare("PRAGMA foreign_key_check").all().length;
  const broken = TABLES_WITH_BODY.map((table): Fault => {
    const sql = `SELECT count(*) AS found FROM ${table} WHERE NOT json_valid(body)`;
    return {
      place: table,
      problem: "whose body is not JSON",
      count: Number(handle.prepare(sql).get()?.found),
    };
  });
  const first = [{ place: "rows", problem: "without the row they belong to", count: orphans }, ...broken];
  const faults = first.filter(({ count }) => count > 0);
  // The rules parse bodies, and would stop at an invalid one.
  return faults.length > 0 ? faults : checkRules(database);
}

function checkRules({ handle }: SqliteDatabase): Fault[] {
  return CONSISTENCY_RULES.map(([place, problem, sql]) => {
    const row = handle.prepare(`SELECT count(*) AS found FROM (${sql})`).get();
    return { place, problem, count: Number(row?.found) };
  }).filter(({ count }) => count > 0);
}

/** PRAGMA synchronous: 2 is FULL, 3 is EXTRA. */
const SYNCHRONOUS_FULL = 2;
/** Rows that are read in one slice: about two milliseconds. */
const SLICE_ROWS = 1000;
const MOST_COUNTED = 100_000;
const NEWEST_ERASURES = 500;

/** The condition by the file, its settings and its disk. Reads the file system without blocking the event loop. */
export async function readStorageCondition(database: SqliteDatabase): Promise<StorageCondition> {
  const { path, handle } = database;
  const isPersistent = path !== ":memory:";
  const reducedBy =
    isPersistent && readPragma(handle, "synchronous") < SYNCHRONOUS_FULL ? ["synchronous"] : [];
  return {
    durability: isPersistent ? (reducedBy.length > 0 ? "reduced" : "full") : "none",
    reducedBy,
    format: readPragma(handle, "user_version"),
    olderCopies: isPersistent ? updateCopies(path).length : 0,
    erasing: countRows(database, "SELECT count(DISTINCT user) AS found FROM erasing"),
    unverified: countRows(
      database,
      `SELECT count(*) AS found FROM (SELECT body FROM erasures ORDER BY number DESC LIMIT ${NEWEST_ERASURES}) ` +
        "WHERE body ->> '$.complete' = 0",
    ),
    ...(database.guard?.key === "same" ? { rowsWithoutDigest: await countRowsWithoutDigest(database) } : {}),
    ...(isPersistent ? await readDiskSpace(path) : {}),
    isReadOnly: isPersistent && (await isReadOnly(path)),
  };
}

function countRows(database: SqliteDatabase, sql: string): number {
  return Number(database.statement(sql).get()?.found ?? 0);
}

/** Uses a separate connection and slices, because all rows are read even if few of them lack a digest. */
async function countRowsWithoutDigest(database: SqliteDatabase): Promise<number> {
  if (hasAllDigests(database)) return 0;
  const counted = await readInSnapshot(database, async (snapshot) => {
    let found = 0;
    for (const { name } of DIGEST_TABLES) found += await countMissingIn(snapshot, name, MOST_COUNTED - found);
    return found;
  });
  return counted ?? 0;
}

async function countMissingIn(snapshot: SqliteDatabase, table: string, most: number): Promise<number> {
  const rows = snapshot.handle.prepare(`SELECT digest IS NULL AS found FROM ${table}`).iterate();
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

/** The space of the folder's disk, because a file in it may be replaced; nothing if the system does not report it. */
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
    // For root, access() always succeeds, so the mode decides.
    return ((await stat(path)).mode & 0o200) === 0;
  } catch {
    return true;
  }
}
