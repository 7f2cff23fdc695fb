import { MemoryError } from "../../errors.ts";
import type { Secret } from "../../ports/system.ts";
import {
  createMariadbDatabase,
  type MariadbDatabase,
  type MariadbPool,
  type MariadbRow,
  type MariadbTimeouts,
} from "./database.ts";
import { buildMariadbMigrations } from "./schema.ts";

/** Options of `openMariadbStore`. */
export interface MariadbOptions {
  /** A pool of `mysql2/promise`. It belongs to the caller and stays open. Its database holds the tables, and nothing else. */
  readonly pool: MariadbPool;
  /** If given, the database keeps a mark of it. Opening it with a different secret throws `forbidden`. */
  readonly secret?: Secret;
  /**
   * How long the server keeps its redo log, undo log and binary log at most, in ms, with all copies. Erasure receipts state until
   * when these may contain erased data. By default, they state that the time is unknown.
   */
  readonly logKeptMs?: number;
  /** Timeout of one statement, in ms (default: 10,000). */
  readonly timeoutMs?: number;
  /** How long to wait for a connection, in ms (default: 5,000). */
  readonly connectMs?: number;
  /** How long to retry a call that a server restart, a deadlock or a wait for a lock interrupted, in ms (default: 2,000). */
  readonly patienceMs?: number;
}

interface OpenedMariadbDatabase {
  readonly database: MariadbDatabase;
  /** Notices for the operator: server settings that weaken the guarantees. */
  readonly notices: readonly string[];
  /** Names of the settings that reduce what survives a power failure. */
  readonly reducedBy: readonly string[];
}

const MIGRATING_MS = 600_000;
const MIN_PACKET_BYTES = 16_000_000;

/**
 * Opens the store in a database, and creates or migrates its tables, one server at a time. Throws `unavailable` if the server
 * cannot be reached. Throws `unsupported` if the database belongs to another program or a newer version, or the server cannot
 * hold it. Throws `forbidden` if the login lacks a privilege, or the secret differs.
 */
export async function openMariadbDatabase(options: MariadbOptions): Promise<OpenedMariadbDatabase> {
  const settings: MariadbTimeouts = {
    timeoutMs: options.timeoutMs ?? 10_000,
    connectMs: options.connectMs ?? 5000,
    patienceMs: options.patienceMs ?? 2000,
  };
  const database = createMariadbDatabase(options.pool, settings);
  const server = await readServer(database);
  await runMigrations(database, server);
  if (options.secret) await checkSecret(database, options.secret);
  const notices = [
    ...server.reducedBy.map((name) => DURABILITY_NOTICES[name] ?? name),
    ...server.statementLogs.map(
      (name) =>
        `MariaDB: ${name} is on. Its file contains what users say, and no erasure reaches it. Turn it off.`,
    ),
  ];
  return { database, notices, reducedBy: server.reducedBy };
}

interface ServerFacts {
  readonly database: string;
  readonly collation: string;
  /** Logs of the server that contain statements, and so the words of users. */
  readonly statementLogs: readonly string[];
  readonly reducedBy: readonly string[];
}

const DURABILITY_NOTICES: { readonly [name: string]: string } = {
  innodb_flush_log_at_trx_commit:
    "MariaDB: innodb_flush_log_at_trx_commit is not 1. After a power failure, acknowledged writes may be lost. Set it to 1.",
  sync_binlog:
    "MariaDB: the binary log is on and sync_binlog is not 1. After a power failure, acknowledged writes may be lost or missing " +
    "on replicas. Set it to 1.",
  innodb_doublewrite:
    "MariaDB: innodb_doublewrite is off. A power failure may damage the tables. Turn it on.",
};

const SELECT_SERVER =
  "SELECT VERSION() AS version, DATABASE() AS name, @@innodb_flush_log_at_trx_commit AS flush, @@log_bin AS binlog, " +
  "@@sync_binlog AS sync, @@binlog_format AS format, @@innodb_doublewrite AS doublewrite, @@max_allowed_packet AS packet, " +
  "@@general_log AS general, @@slow_query_log AS slow";
/** The oldest release of each server; the one that is tested is in docs/backends/mariadb.md. */
const MIN_MARIADB = [10, 6] as const;
const MIN_MYSQL = [8, 0] as const;
/** Collations that compare every character, and trailing spaces too: of MariaDB, and of MySQL. */
const COLLATIONS = ["utf8mb4_nopad_bin", "utf8mb4_0900_bin"];

/** Refuses a server that cannot host the store. */
async function readServer(database: MariadbDatabase): Promise<ServerFacts> {
  const [row = {}] = await database.query(SELECT_SERVER);
  if (row.name === null) throw refuse("the address names no database. Append its name: mysql://HOST/NAME.");
  if (Number(row.packet) < MIN_PACKET_BYTES)
    throw refuse("max_allowed_packet is less than 16 MB. Raise it on the server.");
  const hasBinaryLog = isOn(row.binlog);
  if (hasBinaryLog && row.format === "STATEMENT")
    throw refuse("binlog_format is STATEMENT, which cannot log these transactions. Use ROW or MIXED.");
  const known = await database.query(
    "SELECT collation_name AS name FROM information_schema.collations WHERE collation_name IN (?)",
    COLLATIONS,
  );
  const collation = COLLATIONS.find((name) => known.some((one) => one.name === name));
  if (collation === undefined || !isRecent(String(row.version)))
    throw refuse("the server is too old. MariaDB 10.6 or newer is required.");
  return {
    database: String(row.name),
    collation,
    statementLogs: [
      ...(isOn(row.general) ? ["general_log"] : []),
      ...(isOn(row.slow) ? ["slow_query_log"] : []),
    ],
    reducedBy: [
      ...(Number(row.flush) === 1 ? [] : ["innodb_flush_log_at_trx_commit"]),
      ...(hasBinaryLog && Number(row.sync) !== 1 ? ["sync_binlog"] : []),
      ...(isOn(row.doublewrite) ? [] : ["innodb_doublewrite"]),
    ],
  };
}

function isRecent(version: string): boolean {
  const [major, minor] = /MariaDB/i.test(version) ? MIN_MARIADB : MIN_MYSQL;
  const [, ownMajor = 0, ownMinor = 0] = (/^(\d+)\.(\d+)/.exec(version) ?? []).map(Number);
  return ownMajor > major || (ownMajor === major && ownMinor >= minor);
}

function isOn(value: unknown): boolean {
  return /^(?:1|on|true|detect_and_recover)$/i.test(String(value));
}

function refuse(text: string): MemoryError {
  return new MemoryError("unsupported", `MariaDB: ${text}`);
}

/** Runs the missing migrations. One server at a time: the others wait, then find them done. */
async function runMigrations(
  database: MariadbDatabase,
  { database: name, collation }: ServerFacts,
): Promise<void> {
  const migrations = buildMariadbMigrations(collation);
  if ((await countDoneMigrations(database)) === migrations.length) return;
  const lock = `keepsake ${name}`.slice(0, 60).replaceAll("'", "''");
  await database.write(async (transaction) => {
    const run = async (sql: string): Promise<readonly MariadbRow[]> => transaction.query(sql);
    const [taken] = await run(`SELECT GET_LOCK('${lock}', ${MIGRATING_MS / 1000}) AS found`);
    if (Number(taken?.found) !== 1)
      throw new MemoryError("unavailable", "MariaDB: another server is creating the tables. Try again.");
    try {
      await refuseForeignDatabase(run);
      await run(
        "CREATE TABLE IF NOT EXISTS keepsake_migrations (number INT NOT NULL PRIMARY KEY) ENGINE = InnoDB",
      );
      const [row] = await run(COUNT_DONE);
      const done = Number(row?.found);
      if (done > migrations.length)
        throw refuse(`a newer version of Keepsake created the tables. Update Keepsake. Nothing was changed.`);
      for (const [i, statements] of migrations.entries()) {
        if (i < done) continue;
        for (const sql of statements) await run(sql);
        await run(`INSERT INTO keepsake_migrations (number) VALUES (${i + 1})`);
        await run("COMMIT");
      }
    } finally {
      await run(`DO RELEASE_LOCK('${lock}')`).catch(() => undefined);
    }
  });
}

const COUNT_DONE = "SELECT COALESCE(MAX(number), 0) AS found FROM keepsake_migrations";
const COUNT_TABLES =
  "SELECT COUNT(*) AS tables_found, COALESCE(SUM(table_name = 'keepsake_migrations'), 0) AS ours " +
  "FROM information_schema.tables WHERE table_schema = DATABASE()";

/** The number of finished migrations; 0 for an empty database. */
async function countDoneMigrations(database: MariadbDatabase): Promise<number> {
  const [tables] = await database.query(COUNT_TABLES);
  if (Number(tables?.ours) === 0) return 0;
  return Number((await database.query(COUNT_DONE))[0]?.found);
}

async function refuseForeignDatabase(run: (sql: string) => Promise<readonly MariadbRow[]>): Promise<void> {
  const [row] = await run(COUNT_TABLES);
  if (Number(row?.tables_found) === 0 || Number(row?.ours) > 0) return;
  throw refuse("the database belongs to another program. Use an empty one. Nothing was changed.");
}

/** The mark by which a store recognises its secret. It depends on the store's identity, so that two stores do not reveal a shared secret. */
export function signMariadbMark(secret: Secret, identity: string): string {
  return secret.sign(`mark of the record ${identity}`);
}

/** All servers on one database must key tombstones alike. Otherwise erased data could come back. */
async function checkSecret(database: MariadbDatabase, secret: Secret): Promise<void> {
  const stored = await database.write(async (transaction) => {
    const [row] = await transaction.query("SELECT id, secret_mark FROM identity FOR UPDATE");
    const mark = signMariadbMark(secret, String(row?.id));
    if (row?.secret_mark !== null) return row?.secret_mark === mark;
    await transaction.run("UPDATE identity SET secret_mark = ?", mark);
    return true;
  });
  if (stored) return;
  throw new MemoryError(
    "forbidden",
    "MariaDB: this database was created with another KEEPSAKE_SECRET. Set the same one on every server.",
  );
}
