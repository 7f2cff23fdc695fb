import type { Memory } from "../../domain/memory.ts";
import type { Message } from "../../domain/message.ts";
import type { KeptReceipt } from "../../domain/receipt.ts";
import type { Scope } from "../../domain/scope.ts";
import { isMemoryError } from "../../errors.ts";
import type { CompactedSize } from "../../ports/memory-store.ts";
import {
  collectMemoryTexts,
  collectMessageTexts,
  collectReceiptTexts,
  countOccurringTexts,
} from "../shared/erased-texts.ts";
import { parseBody } from "../shared/stored-rows.ts";
import type { MariadbDatabase } from "./database.ts";
import { findMariadbUser } from "./keys.ts";
import { selectMariadbAnswers } from "./tables/answer-cache.ts";
import { SERVER_NOW } from "./tables/job-store.ts";

interface MariadbScrubCount {
  readonly place: string;
  readonly found: number;
}

/** The place names in receipts and in remainders. */
const FREED_SPACE = "MariaDB: freed space of its tables";
const SERVER_LOGS = "MariaDB: redo log, undo log and doublewrite buffer";
const BINARY_LOG = "MariaDB: binary log";

/** Tables with words of users. */
const WORD_TABLES: readonly string[] = [
  "messages",
  "attachments",
  "versions",
  "units",
  "blocks",
  "receipts",
  "answers",
  "shares",
];

/**
 * A deleted row's bytes stay in the table's file until they are overwritten. Only a rebuilt table contains nothing but its rows.
 * Small tables are rebuilt at once; larger ones by the background, together for several erasures.
 */
const IMMEDIATE_REBUILD_BYTES = 8 * 1024 * 1024;
const SOON_BYTES = 64 * 1024 * 1024;
const SOON_MS = 3_600_000;
const DUE_MS = 3 * 86_400_000;
/** By then, every table has been rebuilt; the background starts well before. */
const REBUILD_WITHIN_MS = 7 * 86_400_000;
/** In each hourly run, no further rebuild starts after this many ms. */
const BATCH_MS = 1000;
const REBUILD_MS = 600_000;
/** How long a rebuild may wait for its lock, in seconds: everyone else queues behind it. */
const LOCK_SECONDS = 1;

/** Counts the texts in each place of the scope, and rebuilds the tables that contained them. */
export async function scrubMariadbTables(
  database: MariadbDatabase,
  scope: Scope,
  texts: readonly string[],
): Promise<MariadbScrubCount[]> {
  const rows = await database.snapshot(async (transaction) => {
    const person = (await findMariadbUser(transaction, scope))?.number ?? -1;
    const select = (sql: string) => transaction.query(`SELECT ${sql} WHERE person = ?`, person);
    return {
      messages: await select("body FROM messages"),
      versions: await select("body FROM versions"),
      units: await select("terms FROM units"),
      receipts: await select("body FROM receipts"),
    };
  });
  const answers = (await selectMariadbAnswers(database, scope)).map(({ body }) => body);
  const receiptTexts = rows.receipts.map(parseBody<KeptReceipt>).flatMap(collectReceiptTexts);
  await markForRebuild(database);
  const isRebuilt = await rebuildTables(database, ({ bytes }) => bytes <= IMMEDIATE_REBUILD_BYTES);
  const count = (place: string, words: readonly string[]): MariadbScrubCount => ({
    place,
    found: countOccurringTexts(texts, words),
  });
  return [
    count("messages", rows.messages.map(parseBody<Message>).flatMap(collectMessageTexts)),
    count("memories", rows.versions.map(parseBody<Memory>).flatMap(collectMemoryTexts)),
    count(
      "text index",
      rows.units.map(({ terms }) => String(terms)),
    ),
    count("receipts", [...receiptTexts, ...answers]),
    ...(isRebuilt ? [{ place: FREED_SPACE, found: 0 }] : []),
  ];
}

/** Records that rows were deleted from tables. */
async function markForRebuild(database: MariadbDatabase): Promise<void> {
  await database.write((transaction) =>
    transaction.run(
      `INSERT INTO freed (name, since, last) VALUES ${WORD_TABLES.map(() => `(?, ${SERVER_NOW}, ${SERVER_NOW})`).join(", ")} ` +
        "ON DUPLICATE KEY UPDATE last = GREATEST(last + 1, VALUES(last))",
      ...WORD_TABLES,
    ),
  );
}

interface FreedTable {
  readonly name: string;
  /** When the table last lost rows; a mark that each erasure changes. */
  readonly last: number;
  /** Since when it waits, in ms. */
  readonly waitedMs: number;
  readonly bytes: number;
}

const SELECT_FREED =
  `SELECT name, last, ${SERVER_NOW} - since AS waited, COALESCE(data_length + index_length, 0) AS bytes FROM freed ` +
  "LEFT JOIN information_schema.tables ON table_schema = DATABASE() AND table_name = CONVERT(name USING utf8mb3) ORDER BY since, name";

async function listFreedTables(database: MariadbDatabase): Promise<FreedTable[]> {
  return (await database.query(SELECT_FREED)).map((row) => ({
    name: String(row.name),
    last: Number(row.last),
    waitedMs: Number(row.waited),
    bytes: Number(row.bytes),
  }));
}

/** Rebuilds the tables that qualify. False if one that waits was not rebuilt. */
async function rebuildTables(
  database: MariadbDatabase,
  qualifies: (table: FreedTable) => boolean,
): Promise<boolean> {
  let isDone = true;
  for (const table of await listFreedTables(database)) {
    isDone = qualifies(table) && (await rebuildTable(database, table)) && isDone;
  }
  return isDone;
}

/** Rebuilds the tables that have waited long enough. Gives how many. */
export async function rebuildDueTables(database: MariadbDatabase): Promise<number> {
  const begun = performance.now();
  let done = 0;
  for (const table of await listFreedTables(database)) {
    const isDue = table.waitedMs > (table.bytes <= SOON_BYTES ? SOON_MS : DUE_MS);
    const mayStart = done === 0 || performance.now() - begun < BATCH_MS;
    if (isDue && mayStart && (await rebuildTable(database, table))) done += 1;
  }
  return done;
}

/** False if the table is locked for too long, or this login lacks the privilege. Reads and writes go on meanwhile. */
async function rebuildTable(database: MariadbDatabase, { name, last }: FreedTable): Promise<boolean> {
  try {
    await database.runOutsideTransaction(
      [`SET SESSION lock_wait_timeout = ${LOCK_SECONDS}`, `ALTER TABLE \`${name}\` FORCE`],
      {
        after: `SET SESSION lock_wait_timeout = ${Math.ceil(database.settings.timeoutMs / 1000)}`,
        timeoutMs: REBUILD_MS,
      },
    );
  } catch (error) {
    if (isMemoryError(error)) return false;
    throw error;
  }
  // An erasure during the rebuild has changed the mark.
  await database.write((transaction) =>
    transaction.run("DELETE FROM freed WHERE name = ? AND last = ?", name, last),
  );
  return true;
}

/**
 * Places that an erasure cannot clean at once: freed space until the tables are rebuilt, and the logs until the server overwrites or
 * deletes them. A quiet server does neither, so the time is unknown unless it is configured.
 */
export async function listMariadbRemainders(
  database: MariadbDatabase,
  logKeptMs: number | undefined,
): Promise<{ readonly place: string; readonly forMs?: number }[]> {
  const [row] = await database.query("SELECT @@log_bin AS binlog");
  const logs = Number(row?.binlog) === 1 ? [SERVER_LOGS, BINARY_LOG] : [SERVER_LOGS];
  return [
    { place: FREED_SPACE, forMs: REBUILD_WITHIN_MS },
    ...logs.map((place) => ({ place, ...(logKeptMs === undefined ? {} : { forMs: logKeptMs }) })),
  ];
}

const SELECT_SIZE =
  "SELECT COALESCE(SUM(data_length + index_length + data_free), 0) AS bytes FROM information_schema.tables " +
  "WHERE table_schema = DATABASE()";
const SELECT_TABLE_NAMES =
  "SELECT table_name AS name FROM information_schema.tables WHERE table_schema = DATABASE() ORDER BY table_name";

/** Rebuilds every table, which gives the space of deleted rows back. Reads and writes go on meanwhile. */
export async function compactMariadbTables(database: MariadbDatabase): Promise<CompactedSize> {
  const measure = async (): Promise<number> => Number((await database.query(SELECT_SIZE))[0]?.bytes ?? 0);
  const before = await measure();
  const freed = new Map((await listFreedTables(database)).map((table) => [table.name, table]));
  for (const { name } of await database.query(SELECT_TABLE_NAMES)) {
    const table = freed.get(String(name)) ?? { name: String(name), last: -1, waitedMs: 0, bytes: 0 };
    await rebuildTable(database, table);
  }
  return { before, after: await measure() };
}
