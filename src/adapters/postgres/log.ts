import { isMemoryError } from "../../errors.ts";
import { ALL_PROJECTS, type PostgresDatabase } from "./database.ts";
import { fetchRowsOfAllProjects } from "./read.ts";
import { createStatement } from "./statement.ts";

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
export async function isWalPrivate(database: PostgresDatabase): Promise<boolean> {
  const [row] = await fetchRowsOfAllProjects(database, createStatement(SELECT_WAL_KEEPERS));
  return row?.archives === "off" && row.slots === "0" && row.kept === "0" && row.may === "t";
}

/** Notes that what stands in the log up to here holds what was erased. */
export async function markWalPosition(database: PostgresDatabase): Promise<void> {
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
