import { setTimeout as pause } from "node:timers/promises";
import { isMemoryError, MemoryError } from "../../errors.ts";
import { handleConnectionErrors, takeConnectionInTime } from "../shared/pool-connections.ts";
import {
  isLockWait,
  isLostConnection,
  isRolledBack,
  MariadbOutcomeError,
  toMariadbMemoryError,
} from "./errors.ts";

/** The part of a pool of `mysql2/promise` that this adapter uses. */
export interface MariadbPool {
  getConnection(): Promise<MariadbConnection>;
}

/** A connection taken from the pool. */
export interface MariadbConnection {
  query(query: MariadbQuery): Promise<[unknown, unknown]>;
  /** Returns it to the pool. */
  release(): void;
  /** Closes it. */
  destroy(): void;
  /** The connection below, which stays the same each time the pool lends it. */
  readonly connection: object;
}

/** A statement, as `mysql2` takes it. The values are escaped by `mysql2`, under the settings of `SESSION_STATEMENTS`. */
export interface MariadbQuery {
  readonly sql: string;
  readonly values: unknown[];
  /** In ms; the connection is unusable after a timeout. */
  readonly timeout: number;
  readonly rowsAsArray: false;
  readonly nestTables: false;
  readonly namedPlaceholders: false;
}

export interface MariadbRow {
  readonly [column: string]: unknown;
}

/** Statements of one transaction, which run one after the other. */
export interface MariadbTransaction {
  /** The rows of a statement. In `values`, an array is a list, and an array of arrays is several rows. */
  query(sql: string, ...values: readonly unknown[]): Promise<readonly MariadbRow[]>;
  /** Runs a statement that writes. Gives the number of inserted and deleted rows; of updated rows, it may be any number. */
  run(sql: string, ...values: readonly unknown[]): Promise<number>;
}

/** Settings of an open store. */
export interface MariadbTimeouts {
  readonly timeoutMs: number;
  readonly connectMs: number;
  /** How long to retry a call that a server restart, a deadlock or a wait for a lock interrupted, in ms. */
  readonly patienceMs: number;
}

/** Looks up a write whose COMMIT got no answer. Gives its result if it was stored. */
type MariadbOutcomeLookup<Result> = (
  transaction: MariadbTransaction,
) => Promise<{ readonly was: Result } | undefined>;

export interface MariadbDatabase {
  readonly settings: MariadbTimeouts;
  /** The rows of one statement, which is a snapshot of its own. */
  query(sql: string, ...values: readonly unknown[]): Promise<readonly MariadbRow[]>;
  /** Reads from one snapshot. */
  snapshot<Result>(
    work: (transaction: MariadbTransaction) => Promise<Result>,
    timeoutMs?: number,
  ): Promise<Result>;
  /**
   * Writes atomically. It retries after a deadlock, a lost connection, and a COMMIT without an answer. In the last case,
   * `settle` first looks up whether it was stored. Without `settle`, the write must be idempotent.
   */
  write<Result>(
    work: (transaction: MariadbTransaction) => Promise<Result>,
    settle?: MariadbOutcomeLookup<Result>,
  ): Promise<Result>;
  /** Runs statements on one connection, without a transaction around them. It does not retry; `after` always runs. */
  runOutsideTransaction(
    statements: readonly string[],
    options: { readonly after?: string; readonly timeoutMs: number },
  ): Promise<(readonly MariadbRow[])[]>;
  /** Rejects all calls from now on. The pool stays open. */
  close(): Promise<void>;
}

/**
 * The settings of a session. Values are escaped with backslashes, so `NO_BACKSLASH_ESCAPES` must be off. A strict mode refuses
 * values that do not fit. Times are in UTC, because the clock of leases would otherwise jump with daylight saving time.
 */
const SESSION_STATEMENTS = (lockSeconds: number): readonly string[] => [
  "SET NAMES utf8mb4",
  "SET SESSION sql_mode = 'STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION,ERROR_FOR_DIVISION_BY_ZERO', autocommit = 1, " +
    "foreign_key_checks = 1, unique_checks = 1, sql_safe_updates = 0, time_zone = '+00:00', " +
    `innodb_lock_wait_timeout = ${lockSeconds}, lock_wait_timeout = ${lockSeconds}`,
  "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED",
];

/** A lost COMMIT is looked up for this long, in ms: its outcome matters more than the time. */
const OUTCOME_MS = 10_000;
/** A deadlock is retried at least so often, whatever the time: the server reports it at once. */
const MIN_ATTEMPTS = 8;
const RETRY_PAUSE_MS = 20;

export function createMariadbDatabase(pool: MariadbPool, settings: MariadbTimeouts): MariadbDatabase {
  let isClosed = false;
  const lend = async <Result>(work: (connection: MariadbConnection) => Promise<Result>): Promise<Result> => {
    if (isClosed) throw new MemoryError("unavailable", "MariaDB: the database is closed. Open it again.");
    return withMariadbConnection(pool, settings, work);
  };
  const toTransaction = (
    connection: MariadbConnection,
    timeoutMs: number = settings.timeoutMs,
  ): MariadbTransaction => ({
    query: async (sql, ...values) =>
      (await sendStatement(connection, sql, values, timeoutMs)) as readonly MariadbRow[],
    run: async (sql, ...values) => {
      const result = await sendStatement(connection, sql, values, timeoutMs);
      return Number((result as { readonly affectedRows?: number }).affectedRows ?? 0);
    },
  });
  const runTransaction = <Result>(
    begin: readonly string[],
    work: (transaction: MariadbTransaction) => Promise<Result>,
    timeoutMs?: number,
  ): Promise<Result> =>
    lend(async (connection) => {
      const transaction = toTransaction(connection, timeoutMs);
      for (const sql of begin) await transaction.run(sql);
      const result = await work(transaction);
      try {
        await transaction.run("COMMIT");
      } catch (error) {
        throw isLostConnection(error) ? new MariadbOutcomeError("commit", { cause: error }) : error;
      }
      return result;
    });
  const attemptWrite = <Result>(work: (transaction: MariadbTransaction) => Promise<Result>) =>
    runTransaction(BEGIN_WRITE, work);
  return {
    settings,
    query: (sql, ...values) =>
      retryTransient(settings, () => lend((connection) => toTransaction(connection).query(sql, ...values))),
    snapshot: (work, timeoutMs) =>
      retryTransient(settings, () => runTransaction(BEGIN_SNAPSHOT, work, timeoutMs)),
    write: (work, settle) => writeUntilKnown(settings, attemptWrite, work, settle),
    runOutsideTransaction: async (statements, { after, timeoutMs }) => {
      try {
        return await lend(async (connection) => {
          const transaction = toTransaction(connection, timeoutMs);
          const found: (readonly MariadbRow[])[] = [];
          try {
            for (const sql of statements) found.push(await transaction.query(sql));
          } finally {
            if (after !== undefined) await transaction.run(after).catch(() => connection.destroy());
          }
          return found;
        });
      } catch (error) {
        throw toMariadbMemoryError(error);
      }
    },
    async close() {
      isClosed = true;
    },
  };
}

const BEGIN_WRITE: readonly string[] = ["START TRANSACTION"];
const BEGIN_SNAPSHOT: readonly string[] = [
  "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ",
  "START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY",
];

async function writeUntilKnown<Result>(
  settings: MariadbTimeouts,
  attempt: (work: (transaction: MariadbTransaction) => Promise<Result>) => Promise<Result>,
  work: (transaction: MariadbTransaction) => Promise<Result>,
  settle: MariadbOutcomeLookup<Result> | undefined,
): Promise<Result> {
  let isUnknown = false;
  return retryTransient(settings, async () => {
    try {
      return await attempt(async (transaction) => {
        const stored = isUnknown && settle ? await settle(transaction) : undefined;
        if (stored) return stored.was;
        return work(transaction);
      });
    } catch (error) {
      if (error instanceof MariadbOutcomeError) {
        isUnknown = true;
        throw error;
      }
      // The lookup failed for now: what became of the write is still unknown.
      const isAway = isMemoryError(error) && error.code === "unavailable";
      if (isUnknown && (isAway || isLockWait(error) || isLostConnection(error)))
        throw new MariadbOutcomeError("commit", { cause: error });
      throw error;
    }
  });
}

/** Retries after a deadlock, and in time after a wait for a lock or a lost connection. Gives errors of the store. */
async function retryTransient<Result>(
  { patienceMs }: MariadbTimeouts,
  work: () => Promise<Result>,
): Promise<Result> {
  const begun = performance.now();
  let forMs = patienceMs;
  for (let attempts = 1; ; attempts += 1) {
    try {
      return await work();
    } catch (error) {
      if (error instanceof MariadbOutcomeError) forMs = Math.max(forMs, OUTCOME_MS);
      const isInTime = performance.now() - begun < forMs;
      const mayRetry = isRolledBack(error)
        ? isInTime || attempts < MIN_ATTEMPTS
        : isInTime && (isLockWait(error) || isLostConnection(error));
      if (!mayRetry) throw toMariadbMemoryError(error);
      await pause(RETRY_PAUSE_MS * (0.5 + Math.random()));
    }
  }
}

const preparedConnections = new WeakMap<object, number>();

/** Lends a connection for some work. It is closed if it broke, and rolled back if the work failed. */
export async function withMariadbConnection<Result>(
  pool: MariadbPool,
  settings: MariadbTimeouts,
  work: (connection: MariadbConnection) => Promise<Result>,
): Promise<Result> {
  const connection = await takeConnection(pool, settings.connectMs);
  try {
    await prepareConnection(connection, settings);
    const result = await work(connection);
    connection.release();
    return result;
  } catch (error) {
    if (error instanceof MariadbOutcomeError || isLostConnection(error)) connection.destroy();
    else await rollBack(connection, settings);
    throw error;
  }
}

/** The server ends a wait for a lock a second before the statement times out, which would cost the connection. */
function toLockSeconds(timeoutMs: number): number {
  return Math.max(1, Math.floor(timeoutMs / 1000) - 1);
}

async function prepareConnection(connection: MariadbConnection, settings: MariadbTimeouts): Promise<void> {
  const lockSeconds = toLockSeconds(settings.timeoutMs);
  const below = connection.connection;
  if (preparedConnections.get(below) === lockSeconds) return;
  handleConnectionErrors(below as Parameters<typeof handleConnectionErrors>[0]);
  for (const sql of SESSION_STATEMENTS(lockSeconds)) {
    await sendStatement(connection, sql, [], settings.timeoutMs);
  }
  preparedConnections.set(below, lockSeconds);
}

async function rollBack(connection: MariadbConnection, { timeoutMs }: MariadbTimeouts): Promise<void> {
  try {
    await sendStatement(connection, "ROLLBACK", [], timeoutMs);
    connection.release();
  } catch {
    connection.destroy();
  }
}

async function sendStatement(
  connection: MariadbConnection,
  sql: string,
  values: readonly unknown[],
  timeout: number,
): Promise<unknown> {
  const query = { sql, values: [...values], timeout, ...PLAIN_ROWS };
  const [result] = await connection.query(query);
  return result;
}

/** However the pool is configured. */
const PLAIN_ROWS = { rowsAsArray: false, nestTables: false, namedPlaceholders: false } as const;

function takeConnection(pool: MariadbPool, forMs: number): Promise<MariadbConnection> {
  return takeConnectionInTime(
    () => pool.getConnection(),
    forMs,
    () => new MemoryError("unavailable", "MariaDB: no connection became free in time. Try again."),
  );
}

/** The largest statement that inserts rows, in bytes, and its rows: a server takes 16 MB or more. */
const INSERT_BYTES = 2_000_000;
const INSERT_ROWS = 1000;

/** Inserts rows, in their order. `suffix` says what happens to an existing row. */
export async function insertMariadbRows(
  transaction: MariadbTransaction,
  table: string,
  rows: readonly MariadbRow[],
  suffix = "",
): Promise<void> {
  const columns = Object.keys(rows[0] ?? {});
  const names = columns.map((column) => `\`${column}\``).join(", ");
  const sql = `INSERT INTO ${table} (${names}) VALUES ? ${suffix}`;
  let slice: unknown[][] = [];
  let bytes = 0;
  for (const row of rows) {
    const cells = columns.map((column) => row[column] ?? null);
    const size = cells.reduce((sum: number, cell) => sum + measureCell(cell), 0);
    if (slice.length > 0 && (bytes + size > INSERT_BYTES || slice.length === INSERT_ROWS)) {
      await transaction.run(sql, slice);
      slice = [];
      bytes = 0;
    }
    slice.push(cells);
    bytes += size;
  }
  if (slice.length > 0) await transaction.run(sql, slice);
}

/** About the bytes of a value in a statement. */
function measureCell(cell: unknown): number {
  if (typeof cell === "string") return cell.length;
  return cell instanceof Uint8Array ? 2 * cell.length : 8;
}
