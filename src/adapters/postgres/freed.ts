import { setTimeout as pause } from "node:timers/promises";
import { isMemoryError } from "../../errors.ts";
import { type Database, EVERYBODY } from "./database.ts";
import type { Row } from "./pool.ts";
import { everybodys } from "./read.ts";
import { quoted } from "./settings.ts";
import { statement } from "./statement.ts";

/**
 * PostgreSQL takes a row away by marking it: its bytes stay in the freed space of the table until they are overwritten, and
 * VACUUM leaves them there, too. Only a table that is written anew (VACUUM FULL) holds its rows and nothing else. That shuts it
 * to everybody meanwhile, and takes the server's time from them: some hundredths of a second for the smallest, which are done
 * at once; others wait in the background for more that goes out of them, the larger they are the longer.
 */
const AT_ONCE_BYTES = 8 * 1024 * 1024;
const SOON_BYTES = 64 * 1024 * 1024;
const SOON = "1 hour";
/** By then every table has been written anew; the background begins well before. */
export const KEPT_MS: number = 7 * 86_400_000;
const DUE = "3 days";
/** So long an hour the background begins with another one: they would come to seconds, one after the other. */
const IN_A_GO_MS = 1000;
/** How long everybody else may have to wait for the one that waits for a table. */
const LOCK_MS = 1000;
const REWRITE_MS = 600_000;
const SNAPSHOTS_MS = 1000;
/** How long nobody is waited for much, once somebody stayed for the whole of a wait: others wait behind it. */
const HURRIED_FOR_MS = 5000;
const HURRIED_MS = 50;

/** What holds words of a user: tables of everybody's, and those of the user's part. */
const WHOLE = ["receipts", "answers"];
const PARTED = ["messages", "versions", "units", "blocks"];

const PARTS =
  "SELECT part FROM generate_series(0, 15) AS part " +
  "WHERE satisfies_hash_partition('messages'::regclass, 16, part, $1::bigint)";

/** Notes that a user's rows went out of tables. */
export async function noteFreed(database: Database, person: number): Promise<string[]> {
  const [row] = await everybodys(database, statement(PARTS, person));
  const names = [...WHOLE, ...PARTED.map((table) => `${table}_${row?.part}`)];
  await database.write(EVERYBODY, async (transaction) => {
    transaction.later(
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
export async function rewriteSmall(database: Database, names: readonly string[]): Promise<boolean> {
  let isDone = true;
  for (const name of names) {
    isDone = (await inTurn(database, () => rewrittenIfSmall(database, name))) && isDone;
  }
  return isDone;
}

interface Turns {
  /** Over with the last that waits. */
  last: Promise<unknown>;
  /** Until when nobody is waited for much. */
  hurriedUntil: number;
}

const turns = new WeakMap<Database, Turns>();

function turnsOf(database: Database): Turns {
  const own = turns.get(database) ?? { last: Promise.resolve(), hurriedUntil: 0 };
  turns.set(database, own);
  return own;
}

/**
 * One table at a time: two at once would keep each other's dead rows alive, and take the server's time from everybody else.
 * It is waited for here and not in the server, where who waits is somebody who began before.
 */
function inTurn(database: Database, work: () => Promise<boolean>): Promise<boolean> {
  const own = turnsOf(database);
  const turn = own.last.then(work);
  own.last = turn.catch(() => {});
  return turn;
}

async function rewrittenIfSmall(database: Database, name: string): Promise<boolean> {
  if (!(await notedOf(database, name))) return true;
  if ((await sizeOf(database, name)) > AT_ONCE_BYTES) return false;
  return rewritten(database, name);
}

const WAITED =
  `SELECT name FROM freed WHERE name <> '' AND since < now() - CASE WHEN pg_total_relation_size(nullif(name, '')::regclass) ` +
  `<= ${SOON_BYTES} THEN interval '${SOON}' ELSE interval '${DUE}' END ORDER BY since`;

/** Writes tables anew that have waited for long enough, one after the other, for a while. Gives how many. */
export async function rewriteDue(database: Database): Promise<number> {
  const begun = performance.now();
  let done = 0;
  for (const { name } of await everybodys(database, statement(WAITED))) {
    if (done > 0 && performance.now() - begun > IN_A_GO_MS) break;
    if (await inTurn(database, () => rewritten(database, name ?? ""))) done += 1;
  }
  return done;
}

/** When rows last went out of a table, and in which transaction; nothing where it was written anew since. */
async function notedOf(database: Database, name: string): Promise<Row | undefined> {
  const noted = "SELECT last, xmin::text AS made FROM freed WHERE name = $1";
  return (await everybodys(database, statement(noted, name)))[0];
}

async function sizeOf(database: Database, name: string): Promise<number> {
  const rows = await everybodys(
    database,
    statement("SELECT pg_total_relation_size($1::regclass) AS bytes", name),
  );
  return Number(rows[0]?.bytes);
}

/** False where somebody holds it, or reads what was before, for too long, or this login may not. */
async function rewritten(database: Database, name: string): Promise<boolean> {
  const table = `${quoted(database.settings.schema)}.${quoted(name)}`;
  const before = await notedOf(database, name);
  if (!before) return true;
  if (!(await snapshotsPast(database, before.made ?? "0"))) return false;
  try {
    await database.alone([`SET lock_timeout = ${LOCK_MS}`, `VACUUM (FULL) ${table}`], {
      after: "RESET lock_timeout",
      timeoutMs: REWRITE_MS,
    });
  } catch (error) {
    if (isMemoryError(error) && error.code !== "corrupt") return false;
    throw error;
  }
  await database.write(EVERYBODY, async (transaction) => {
    // What was erased meanwhile is noted anew.
    transaction.later("DELETE FROM freed WHERE name = $1 AND last = $2::timestamptz", name, before.last);
  });
  return true;
}

const OLDER =
  "SELECT count(*) AS found FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND datname = current_database() " +
  "AND greatest(age(backend_xmin), age(backend_xid)) >= age($1::text::xid)";

/**
 * What somebody may still read, or who began before, is written anew with the rest: waits a moment until nobody can. False where
 * somebody still does: then it would look as if it were done.
 */
async function snapshotsPast(database: Database, xid: string): Promise<boolean> {
  const own = turnsOf(database);
  const begun = performance.now();
  const isHurried = begun < own.hurriedUntil;
  const end = begun + (isHurried ? HURRIED_MS : SNAPSHOTS_MS);
  for (;;) {
    const [row] = await everybodys(database, statement(OLDER, xid));
    if (Number(row?.found) === 0) return true;
    if (performance.now() >= end) break;
    await pause(20);
  }
  if (!isHurried) own.hurriedUntil = performance.now() + HURRIED_FOR_MS;
  return false;
}
