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
import { fetchStoredAnswers } from "./answer-cache.ts";
import { createStatement, quoteIdentifier, type Row } from "./database/connection.ts";
import { ALL_PROJECTS, type PostgresDatabase } from "./database/database.ts";
import { decodeText, findUserNumber, toAccessScope } from "./database/user-rows.ts";
import { fetchRowsOfAllProjects } from "./read.ts";

interface PostgresScrubCount {
  readonly place: string;
  readonly found: number;
}

/** The place in receipts, and in what remains. */
const FREED_SPACE = "PostgreSQL: freed space of its tables";

/**
 * Says how many of the texts stand in each place of the scope, and writes the tables anew that they were in. Where that
 * cannot be done at once it is done in the background, and `remains` has said until when.
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
  const words = receipts.map(parseBody<KeptReceipt>).flatMap(collectReceiptTexts);
  const isWrittenAnew = await rewriteSmallTables(database, await markTablesForRewrite(database, person));
  // After the last of it was written.
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
    { place: "receipts", found: countOccurringTexts(texts, [...words, ...answers]) },
    ...(isWrittenAnew ? [{ place: FREED_SPACE, found: 0 }] : []),
  ];
}

/**
 * What an erasure cannot reach at once: freed space, until the tables are written anew, and the log, for as long as the
 * server and its archives keep it: told, or known where nobody else keeps it and the background turns it over.
 */
export async function fetchRemainders(
  database: PostgresDatabase,
  logKeptMs: number | undefined,
): Promise<{ readonly place: string; readonly forMs?: number }[]> {
  const forMs = logKeptMs ?? ((await isWalPrivate(database)) ? REWRITE_WITHIN_MS : undefined);
  return [
    { place: FREED_SPACE, forMs: REWRITE_WITHIN_MS },
    { place: "PostgreSQL: write-ahead log", ...(forMs === undefined ? {} : { forMs }) },
  ];
}

/**
 * PostgreSQL takes a row away by marking it: its bytes stay in the freed space of the table until they are overwritten, and
 * VACUUM leaves them there, too. Only a table that is written anew (VACUUM FULL) holds its rows and nothing else. That shuts it
 * to everybody meanwhile, and takes the server's time from them: some hundredths of a second for the smallest, which are done
 * at once; others wait in the background for more that goes out of them, the larger they are the longer.
 */
const IMMEDIATE_REWRITE_BYTES = 8 * 1024 * 1024;
const SOON_BYTES = 64 * 1024 * 1024;
const SOON_INTERVAL = "1 hour";
/** By then every table has been written anew; the background begins well before. */
const REWRITE_WITHIN_MS: number = 7 * 86_400_000;
const DUE_INTERVAL = "3 days";
/** So long an hour the background begins with another one: they would come to seconds, one after the other. */
const BATCH_MS = 1000;
/** How long everybody else may have to wait for the one that waits for a table. */
const LOCK_MS = 1000;
const REWRITE_MS = 600_000;
const SNAPSHOTS_MS = 1000;
/** How long nobody is waited for much, once somebody stayed for the whole of a wait: others wait behind it. */
const SHORT_WAIT_PERIOD_MS = 5000;
const SHORT_WAIT_MS = 50;

/** What holds words of a user: tables of everybody's, and those of the user's part. */
const UNPARTITIONED_TABLES = ["receipts", "answers"];
const PARTITIONED_TABLES = ["messages", "versions", "units", "blocks"];

const SELECT_PARTITION =
  "SELECT part FROM generate_series(0, 15) AS part " +
  "WHERE satisfies_hash_partition('messages'::regclass, 16, part, $1::bigint)";

/** Notes that a user's rows went out of tables. */
async function markTablesForRewrite(database: PostgresDatabase, person: number): Promise<string[]> {
  const [row] = await fetchRowsOfAllProjects(database, createStatement(SELECT_PARTITION, person));
  const names = [...UNPARTITIONED_TABLES, ...PARTITIONED_TABLES.map((table) => `${table}_${row?.part}`)];
  await database.write(ALL_PROJECTS, async (transaction) => {
    transaction.queue(
      "INSERT INTO freed (name) SELECT name FROM unnest($1::text[]) AS row (name) ORDER BY name " +
        "ON CONFLICT (name) DO UPDATE SET last = now()",
      names,
    );
  });
  return names;
}

/**
 * Writes tables anew that are small enough. False where one is not, or is not to be had now: it is done later. Of erasures at
 * the same time, one has a table written anew for all that were noted by then.
 */
async function rewriteSmallTables(database: PostgresDatabase, names: readonly string[]): Promise<boolean> {
  let isDone = true;
  for (const name of names) {
    isDone = (await runExclusively(database, () => rewriteIfSmall(database, name))) && isDone;
  }
  return isDone;
}

interface RewriteQueue {
  /** Over with the last that waits. */
  last: Promise<unknown>;
  /** Until when nobody is waited for much. */
  hurriedUntil: number;
}

const rewriteQueues = new WeakMap<PostgresDatabase, RewriteQueue>();

function getRewriteQueue(database: PostgresDatabase): RewriteQueue {
  const own = rewriteQueues.get(database) ?? { last: Promise.resolve(), hurriedUntil: 0 };
  rewriteQueues.set(database, own);
  return own;
}

/**
 * One table at a time: two at once would keep each other's dead rows alive, and take the server's time from everybody else.
 * It is waited for here and not in the server, where who waits is somebody who began before.
 */
function runExclusively(database: PostgresDatabase, work: () => Promise<boolean>): Promise<boolean> {
  const own = getRewriteQueue(database);
  const turn = own.last.then(work);
  own.last = turn.catch(() => {});
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

/** Writes tables anew that have waited for long enough, one after the other, for a while. Gives how many. */
export async function rewriteDueTables(database: PostgresDatabase): Promise<number> {
  const begun = performance.now();
  let done = 0;
  for (const { name } of await fetchRowsOfAllProjects(database, createStatement(SELECT_DUE_TABLES))) {
    if (done > 0 && performance.now() - begun > BATCH_MS) break;
    if (await runExclusively(database, () => rewriteTable(database, name ?? ""))) done += 1;
  }
  return done;
}

/** When rows last went out of a table, and in which transaction; nothing where it was written anew since. */
async function findRewriteMark(database: PostgresDatabase, name: string): Promise<Row | undefined> {
  const noted = "SELECT last, xmin::text AS made FROM freed WHERE name = $1";
  return (await fetchRowsOfAllProjects(database, createStatement(noted, name)))[0];
}

async function fetchTableSize(database: PostgresDatabase, name: string): Promise<number> {
  const rows = await fetchRowsOfAllProjects(
    database,
    createStatement("SELECT pg_total_relation_size($1::regclass) AS bytes", name),
  );
  return Number(rows[0]?.bytes);
}

/** False where somebody holds it, or reads what was before, for too long, or this login may not. */
async function rewriteTable(database: PostgresDatabase, name: string): Promise<boolean> {
  const table = `${quoteIdentifier(database.settings.schema)}.${quoteIdentifier(name)}`;
  const before = await findRewriteMark(database, name);
  if (!before) return true;
  if (!(await waitForOldSnapshots(database, before.made ?? "0"))) return false;
  try {
    await database.runOutsideTransaction([`SET lock_timeout = ${LOCK_MS}`, `VACUUM (FULL) ${table}`], {
      after: "RESET lock_timeout",
      timeoutMs: REWRITE_MS,
    });
  } catch (error) {
    if (isMemoryError(error) && error.code !== "corrupt") return false;
    throw error;
  }
  await database.write(ALL_PROJECTS, async (transaction) => {
    // What was erased meanwhile is noted anew.
    transaction.queue("DELETE FROM freed WHERE name = $1 AND last = $2::timestamptz", name, before.last);
  });
  return true;
}

const COUNT_OLDER_SNAPSHOTS =
  "SELECT count(*) AS found FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND datname = current_database() " +
  "AND greatest(age(backend_xmin), age(backend_xid)) >= age($1::text::xid)";

/**
 * What somebody may still read, or who began before, is written anew with the rest: waits a moment until nobody can. False where
 * somebody still does: then it would look as if it were done.
 */
async function waitForOldSnapshots(database: PostgresDatabase, xid: string): Promise<boolean> {
  const own = getRewriteQueue(database);
  const begun = performance.now();
  const isHurried = begun < own.hurriedUntil;
  const end = begun + (isHurried ? SHORT_WAIT_MS : SNAPSHOTS_MS);
  for (;;) {
    const [row] = await fetchRowsOfAllProjects(database, createStatement(COUNT_OLDER_SNAPSHOTS, xid));
    if (Number(row?.found) === 0) return true;
    if (performance.now() >= end) break;
    await pause(20);
  }
  if (!isHurried) own.hurriedUntil = performance.now() + SHORT_WAIT_PERIOD_MS;
  return false;
}

/**
 * The write-ahead log holds what was written until its files are overwritten, and a quiet server writes little: its old files,
 * kept for new ones, would hold erased words for months. So it is turned over: each switch to a new file fills up
 * the one before with zeros. That reaches neither archives nor copies on other servers.
 */
const MIN_SWITCHES = 3;
/** It is done with in so many turns, an hour apart: within three days. */
const ROTATION_ROUNDS = 72;

const SELECT_WAL_KEEPERS =
  "SELECT current_setting('archive_mode') AS archives, (SELECT count(*) FROM pg_replication_slots) AS slots, " +
  "current_setting('wal_keep_size') AS kept, has_function_privilege(session_user, 'pg_switch_wal()', 'EXECUTE') AS may";

/** Whether nobody but the server itself keeps the log, and this login may turn it over. */
async function isWalPrivate(database: PostgresDatabase): Promise<boolean> {
  const [row] = await fetchRowsOfAllProjects(database, createStatement(SELECT_WAL_KEEPERS));
  return row?.archives === "off" && row.slots === "0" && row.kept === "0" && row.may === "t";
}

/** Notes that what stands in the log up to here holds what was erased. */
async function markWalPosition(database: PostgresDatabase): Promise<void> {
  await database.write(ALL_PROJECTS, async (transaction) => {
    transaction.queue(
      "INSERT INTO freed (name, up_to) VALUES ('', pg_current_wal_insert_lsn()) " +
        "ON CONFLICT (name) DO UPDATE SET last = now(), up_to = excluded.up_to",
    );
  });
}

// Twice as many bytes as the server may keep in files for new ones: until then, each of them has been written over.
const SELECT_WAL_FILES_LEFT =
  "SELECT coalesce(ceil((2 * (pg_size_bytes(current_setting('max_wal_size')) + 2 * segment) " +
  "- pg_wal_lsn_diff(pg_current_wal_insert_lsn(), up_to)) / segment), 0) AS files " +
  "FROM freed, pg_size_bytes(current_setting('wal_segment_size')) AS segment WHERE name = ''";

/** Turns the log over by a few files, where it holds something that was erased. Gives how many. */
export async function rotateWal(database: PostgresDatabase): Promise<number> {
  const [row] = await fetchRowsOfAllProjects(database, createStatement(SELECT_WAL_FILES_LEFT));
  if (!row) return 0;
  const left = Number(row.files);
  if (left <= 0) {
    await database.write(ALL_PROJECTS, async (transaction) => {
      transaction.queue("DELETE FROM freed WHERE name = ''");
    });
    return 0;
  }
  if (!(await isWalPrivate(database))) return 0;
  const count = Math.min(left, Math.max(MIN_SWITCHES, Math.ceil(left / ROTATION_ROUNDS)));
  const turn = ["SELECT pg_logical_emit_message(false, 'keepsake', '')", "SELECT pg_switch_wal()"];
  try {
    for (let turned = 0; turned < count; turned += 1) await database.runOutsideTransaction(turn);
  } catch (error) {
    // It is tried again in an hour.
    if (isMemoryError(error)) return 0;
    throw error;
  }
  return count;
}
