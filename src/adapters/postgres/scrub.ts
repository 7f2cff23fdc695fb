import { setTimeout as pause } from "node:timers/promises";
import type { Memory } from "../../domain/memory.ts";
import type { Message } from "../../domain/message.ts";
import type { KeptReceipt } from "../../domain/receipt.ts";
import type { Scope } from "../../domain/scope.ts";
import { isMemoryError } from "../../errors.ts";
import {
  collectMemoryTexts,
  collectMessageTexts,
  collectReceiptTexts,
  countOccurringTexts,
} from "../shared/erased-texts.ts";
import { parseBody } from "../shared/stored-rows.ts";
import {
  buildShardRewrite,
  findUserShards,
  haveOlderTransactionsEnded,
  mayKeepRowsForever,
  replaceLostShard,
  SELECT_DUE_SHARDS,
  SELECT_SHARD_SIZE,
} from "./citus/shard-rewrites.ts";
import { createStatement, quoteIdentifier, type Row } from "./database/connection.ts";
import { ALL_PROJECTS, type PostgresDatabase } from "./database/database.ts";
import { buildLastingHolderCount, buildRowHolderCount } from "./database/row-holders.ts";
import { decodeText, findUserNumber, toAccessScope, toScopeKeys } from "./database/user-rows.ts";
import { fetchRowsOfAllProjects } from "./read.ts";
import { fetchStoredAnswers } from "./tables/answer-cache.ts";

interface PostgresScrubCount {
  readonly place: string;
  readonly found: number;
}

/** The place name in receipts and in remainders. */
const FREED_SPACE = "PostgreSQL: freed space of its tables";

/**
 * Counts the texts in each place of the scope, and rewrites the tables that contained them. Large tables are rewritten in the
 * background; `remains` gives the deadline.
 */
export async function scrubTables(
  database: PostgresDatabase,
  scope: Scope,
  texts: readonly string[],
): Promise<PostgresScrubCount[]> {
  const person = await findUserNumber(database, scope);
  const [messages = [], versions = [], terms = [], receipts = []] = await database.query(
    toAccessScope(scope),
    createStatement("SELECT body FROM messages WHERE person = $1", person),
    createStatement("SELECT body FROM versions WHERE person = $1", person),
    createStatement("SELECT terms FROM units WHERE person = $1", person),
    createStatement("SELECT body FROM receipts WHERE person = $1", person),
  );
  const answers = (await fetchStoredAnswers(database, scope)).map(({ body }) => body);
  const receiptTexts = receipts.map(parseBody<KeptReceipt>).flatMap(collectReceiptTexts);
  const isRewritten = await rewriteSmallTables(database, await markTablesForRewrite(database, scope, person));
  // After the last write.
  await markWalPosition(database);
  return [
    {
      place: "messages",
      found: countOccurringTexts(texts, messages.map(parseBody<Message>).flatMap(collectMessageTexts)),
    },
    {
      place: "memories",
      found: countOccurringTexts(texts, versions.map(parseBody<Memory>).flatMap(collectMemoryTexts)),
    },
    {
      place: "text index",
      found: countOccurringTexts(
        texts,
        terms.map((row) => decodeText(row.terms)),
      ),
    },
    { place: "receipts", found: countOccurringTexts(texts, [...receiptTexts, ...answers]) },
    ...(isRewritten ? [{ place: FREED_SPACE, found: 0 }] : []),
  ];
}

/**
 * Places that an erasure cannot clean at once: freed space until the tables are rewritten, and the write-ahead log. The freed
 * space has no time while something keeps deleted rows that may never end by itself. The log's time is configured, or known if
 * only the server keeps it and background jobs rotate it.
 */
export async function fetchRemainders(
  database: PostgresDatabase,
  logKeptMs: number | undefined,
): Promise<{ readonly place: string; readonly forMs?: number }[]> {
  const forMs = logKeptMs ?? ((await isWalPrivate(database)) ? REWRITE_WITHIN_MS : undefined);
  return [
    { place: FREED_SPACE, ...((await areRowsKept(database)) ? {} : { forMs: REWRITE_WITHIN_MS }) },
    { place: "PostgreSQL: write-ahead log", ...(forMs === undefined ? {} : { forMs }) },
  ];
}

const COUNT_LASTING_HOLDERS = buildLastingHolderCount(0);

/** Whether deleted rows are kept by what may never end. */
async function areRowsKept(database: PostgresDatabase): Promise<boolean> {
  if (database.settings.isDistributed) return mayKeepRowsForever(database);
  const [row] = await fetchRowsOfAllProjects(database, COUNT_LASTING_HOLDERS);
  return Number(row?.found) > 0;
}

/**
 * PostgreSQL deletes a row by marking it: its bytes stay in the table's freed space until they are overwritten, even after VACUUM.
 * Only a rewritten table (VACUUM FULL) contains nothing but its rows. A rewrite locks the table and loads the server: some
 * hundredths of a second for the smallest tables, which are rewritten at once. Others wait in the background for further
 * erasures, larger ones longer.
 */
const IMMEDIATE_REWRITE_BYTES = 8 * 1024 * 1024;
const SOON_BYTES = 64 * 1024 * 1024;
const SOON_INTERVAL = "1 hour";
/** Within this time (ms), every table is rewritten; the background starts well before. `doctor` names those that are not. */
export const REWRITE_WITHIN_MS: number = 7 * 86_400_000;
const DUE_INTERVAL = "3 days";
/** In each hourly run, no further rewrite starts after this many ms; together they would take seconds. */
const BATCH_MS = 1000;
/** How long a rewrite may wait for its lock, in ms: everyone else queues behind it. */
const LOCK_MS = 1000;
const REWRITE_MS = 600_000;
const HOLDERS_MS = 1000;
/** How long waits are kept short after a transaction outlasted a full wait, in ms: others queue behind it. */
const SHORT_WAIT_PERIOD_MS = 5000;
const SHORT_WAIT_MS = 50;

/** Tables with words of users: unpartitioned tables, and partitioned ones, which only change in the user's partition. */
const UNPARTITIONED_TABLES = ["receipts", "answers", "shares"];
const PARTITIONED_TABLES = ["messages", "attachments", "versions", "units", "blocks"];

const SELECT_PARTITION =
  "SELECT part FROM generate_series(0, 15) AS part " +
  "WHERE satisfies_hash_partition('messages'::regclass, 16, part, $1::bigint)";

/** Records that a user's rows were deleted from tables. */
async function markTablesForRewrite(
  database: PostgresDatabase,
  scope: Scope,
  person: number,
): Promise<string[]> {
  const names = await findTablesOfUser(database, scope, person);
  await database.execute(
    ALL_PROJECTS,
    "INSERT INTO freed (name) SELECT name FROM unnest($1::text[]) AS row (name) ORDER BY name " +
      "ON CONFLICT (name) DO UPDATE SET last = now()",
    names,
  );
  return [...names];
}

/** The partitions and tables, or on Citus the shards, with words of a user. */
async function findTablesOfUser(
  database: PostgresDatabase,
  scope: Scope,
  person: number,
): Promise<readonly string[]> {
  if (database.settings.isDistributed) {
    const [project] = toScopeKeys(scope);
    return findUserShards(database, ["receipts", "answers", ...PARTITIONED_TABLES], { person, project });
  }
  const [row] = await fetchRowsOfAllProjects(database, SELECT_PARTITION, person);
  return [...UNPARTITIONED_TABLES, ...PARTITIONED_TABLES.map((table) => `${table}_${row?.part}`)];
}

/**
 * Rewrites the tables that are small enough. False if one is too large or locked; it is rewritten later. Concurrent erasures
 * share a rewrite that starts after all of them were recorded.
 */
async function rewriteSmallTables(database: PostgresDatabase, names: readonly string[]): Promise<boolean> {
  let isDone = true;
  for (const name of names) {
    isDone = (await runExclusively(database, () => rewriteIfSmall(database, name))) && isDone;
  }
  return isDone;
}

interface RewriteQueue {
  /** Settles with the last queued rewrite. */
  last: Promise<unknown>;
  /** The time until which waits are kept short. */
  hurriedUntil: number;
}

const rewriteQueues = new WeakMap<PostgresDatabase, RewriteQueue>();

function getRewriteQueue(database: PostgresDatabase): RewriteQueue {
  const queue = rewriteQueues.get(database) ?? { last: Promise.resolve(), hurriedUntil: 0 };
  rewriteQueues.set(database, queue);
  return queue;
}

/**
 * Runs one rewrite at a time. Two at once would keep each other's dead rows alive and slow the server down. It queues here instead
 * of in the server, where a waiting session would itself be an older transaction to wait for.
 */
function runExclusively(database: PostgresDatabase, work: () => Promise<boolean>): Promise<boolean> {
  const queue = getRewriteQueue(database);
  const turn = queue.last.then(work);
  queue.last = turn.catch(() => {});
  return turn;
}

async function rewriteIfSmall(database: PostgresDatabase, name: string): Promise<boolean> {
  if (!(await findRewriteMark(database, name))) return true;
  if ((await fetchTableSize(database, name)) > IMMEDIATE_REWRITE_BYTES) return false;
  return rewriteTable(database, name);
}

const SELECT_DUE_TABLES =
  `SELECT name FROM freed WHERE name <> '' AND since < now() - CASE WHEN pg_total_relation_size(nullif(name, '')::regclass) ` +
  `<= ${SOON_BYTES} THEN interval '${SOON_INTERVAL}' ELSE interval '${DUE_INTERVAL}' END ORDER BY since`;

/** Rewrites the due tables one after the other, for a limited time. Gives how many it rewrote. */
export async function rewriteDueTables(database: PostgresDatabase): Promise<number> {
  const begun = performance.now();
  let done = 0;
  const due = database.settings.isDistributed
    ? fetchRowsOfAllProjects(database, SELECT_DUE_SHARDS, SOON_BYTES, SOON_INTERVAL, DUE_INTERVAL)
    : fetchRowsOfAllProjects(database, SELECT_DUE_TABLES);
  for (const { name } of await due) {
    if (done > 0 && performance.now() - begun > BATCH_MS) break;
    if (await runExclusively(database, () => rewriteTable(database, name ?? ""))) done += 1;
  }
  return done;
}

/** When rows were last deleted from a table, and in which transaction; undefined if it was rewritten since. */
async function findRewriteMark(database: PostgresDatabase, name: string): Promise<Row | undefined> {
  const sql = "SELECT last, xmin::text AS made FROM freed WHERE name = $1";
  return (await fetchRowsOfAllProjects(database, sql, name))[0];
}

async function fetchTableSize(database: PostgresDatabase, name: string): Promise<number> {
  const rows = await fetchRowsOfAllProjects(
    database,
    database.settings.isDistributed
      ? SELECT_SHARD_SIZE
      : "SELECT pg_total_relation_size($1::regclass) AS bytes",
    name,
  );
  return Number(rows[0]?.bytes ?? 0);
}

/**
 * False if the table is locked, or something keeps its deleted rows for too long, or this login lacks the privilege. On Citus also
 * if a node is away, or a copy of the shard is elsewhere.
 */
async function rewriteTable(database: PostgresDatabase, name: string): Promise<boolean> {
  const { schema, isDistributed } = database.settings;
  const rewrite = isDistributed
    ? buildShardRewrite(schema, name)
    : `VACUUM (FULL) ${quoteIdentifier(schema)}.${quoteIdentifier(name)}`;
  const before = await findRewriteMark(database, name);
  if (!before) return true;
  const isRewritten =
    (await waitForOlderHolders(database, name, before)) &&
    (await runRewrite(database, rewrite)) &&
    // A replica that came back meanwhile may read older rows than those before it.
    (await haveOlderHoldersEnded(database, name, before));
  if (!isRewritten) {
    if (isDistributed) await replaceLostShard(database, name);
    return false;
  }
  // Erasures during the rewrite are recorded with a later time.
  await database.write(ALL_PROJECTS, async (transaction) => {
    transaction.queue("DELETE FROM freed WHERE name = $1 AND last = $2::timestamptz", name, before.last);
    transaction.queue("UPDATE freed SET since = $2::timestamptz WHERE name = $1", name, before.last);
  });
  return true;
}

async function runRewrite(database: PostgresDatabase, rewrite: string): Promise<boolean> {
  try {
    await database.runOutsideTransaction([`SET lock_timeout = ${LOCK_MS}`, rewrite], {
      after: "RESET lock_timeout",
      timeoutMs: REWRITE_MS,
    });
    return true;
  } catch (error) {
    if (isMemoryError(error) && error.code !== "corrupt") return false;
    throw error;
  }
}

const COUNT_OLDER_HOLDERS = buildRowHolderCount("$1::text::xid");

async function haveOlderHoldersEnded(
  database: PostgresDatabase,
  name: string,
  { made, last }: Row,
): Promise<boolean> {
  if (database.settings.isDistributed) return haveOlderTransactionsEnded(database, name, last ?? "");
  const [row] = await fetchRowsOfAllProjects(database, COUNT_OLDER_HOLDERS, made ?? "0");
  return Number(row?.found) === 0;
}

/**
 * Waits briefly for what is older than the erasure, because rows that it may still read survive a rewrite. False if something
 * remains: the rewrite would seem done without being so.
 */
async function waitForOlderHolders(database: PostgresDatabase, name: string, mark: Row): Promise<boolean> {
  const queue = getRewriteQueue(database);
  const begun = performance.now();
  const isHurried = begun < queue.hurriedUntil;
  const end = begun + (isHurried ? SHORT_WAIT_MS : HOLDERS_MS);
  for (;;) {
    if (await haveOlderHoldersEnded(database, name, mark)) return true;
    if (performance.now() >= end) break;
    await pause(20);
  }
  if (!isHurried) queue.hurriedUntil = performance.now() + SHORT_WAIT_PERIOD_MS;
  return false;
}

/**
 * The write-ahead log contains old writes until its files are overwritten. A quiet server writes little, so recycled files could
 * contain erased words for months. So the log is rotated: each switch to a new file fills the previous one with zeros. This
 * reaches neither archives nor replicas.
 */
const MIN_SWITCHES = 3;
/** The rotation is spread over this many hourly rounds: three days. */
const ROTATION_ROUNDS = 72;

const SELECT_WAL_KEEPERS =
  "SELECT current_setting('archive_mode') AS archives, (SELECT count(*) FROM pg_replication_slots) AS slots, " +
  "current_setting('wal_keep_size') AS kept, has_function_privilege(session_user, 'pg_switch_wal()', 'EXECUTE') AS may";

/** Whether only the server itself keeps the log, and this login may rotate it. */
async function isWalPrivate(database: PostgresDatabase): Promise<boolean> {
  // On Citus, each node has a log of its own, which is not rotated from here.
  if (database.settings.isDistributed) return false;
  const [row] = await fetchRowsOfAllProjects(database, SELECT_WAL_KEEPERS);
  return row?.archives === "off" && row.slots === "0" && row.kept === "0" && row.may === "t";
}

/** Records that the log up to its current position contains erased data. */
async function markWalPosition(database: PostgresDatabase): Promise<void> {
  await database.execute(
    ALL_PROJECTS,
    "INSERT INTO freed (name, up_to) VALUES ('', pg_current_wal_insert_lsn()) " +
      "ON CONFLICT (name) DO UPDATE SET last = now(), up_to = excluded.up_to",
  );
}

// Twice as many bytes as the server may keep in recycled files: by then, each of them has been overwritten.
const SELECT_WAL_FILES_LEFT =
  "SELECT coalesce(ceil((2 * (pg_size_bytes(current_setting('max_wal_size')) + 2 * segment) " +
  "- pg_wal_lsn_diff(pg_current_wal_insert_lsn(), up_to)) / segment), 0) AS files " +
  "FROM freed, pg_size_bytes(current_setting('wal_segment_size')) AS segment WHERE name = ''";

/** Rotates the log by a few files if it contains erased data. Gives how many. */
export async function rotateWal(database: PostgresDatabase): Promise<number> {
  const [row] = await fetchRowsOfAllProjects(database, SELECT_WAL_FILES_LEFT);
  if (!row) return 0;
  const left = Number(row.files);
  if (left <= 0) {
    await database.execute(ALL_PROJECTS, "DELETE FROM freed WHERE name = ''");
    return 0;
  }
  if (!(await isWalPrivate(database))) return 0;
  const count = Math.min(left, Math.max(MIN_SWITCHES, Math.ceil(left / ROTATION_ROUNDS)));
  const statements = ["SELECT pg_logical_emit_message(false, 'keepsake', '')", "SELECT pg_switch_wal()"];
  try {
    for (let switched = 0; switched < count; switched += 1) await database.runOutsideTransaction(statements);
  } catch (error) {
    // The next hourly run tries again.
    if (isMemoryError(error)) return 0;
    throw error;
  }
  return count;
}
