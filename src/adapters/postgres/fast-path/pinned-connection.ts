import type { PostgresPool, Row } from "../database/connection.ts";
import {
  acquireConnection,
  createStatement,
  type PostgresConnectionSettings,
  type SqlStatement,
  toQuery,
  toSearchPath,
} from "../database/connection.ts";
import type { FastReads, SearchIndexPiece, SearchIndexRange } from "../database/database.ts";
import { getSqlState, isConnectionLost } from "../database/errors.ts";
import { NO_USER, SELECT_BODIES, SELECT_VECTORS } from "../database/recall-statements.ts";
import {
  buildSearchIndexCopy,
  createRawCopyReceiver,
  type DriverConnection,
  parseSearchIndexPiece,
} from "./raw-copy.ts";

/** One connection may listen for erasures, one is pinned, and at least one is for everything else. */
const MIN_POOL_SIZE = 3;
/** The connection is returned after this long without a read, in ms. */
const IDLE_MS = 1000;
/** How long to wait for a table that is being rewritten, in ms. Longer waits go elsewhere, because all later reads queue behind them. */
const LOCK_MS = 50;
const LOCK_NOT_AVAILABLE = "55P03";

// The role comes last, because anything after it would be set by the new role.
const SETTING_NAMES =
  "search_path keepsake.project keepsake.reach statement_timeout lock_timeout default_transaction_read_only enable_seqscan plan_cache_mode max_parallel_workers_per_gather role".split(
    " ",
  );
const READ_SETTINGS = createStatement(
  `SELECT pg_backend_pid() AS process, ${SETTING_NAMES.map((name, i) => `coalesce(current_setting('${name}', true), '') AS s${i}`).join(", ")}`,
);
const SET_SESSION_CONFIG = `SELECT ${SETTING_NAMES.map((name, i) => `set_config('${name}', $${i + 1}, false)`).join(", ")}`;
const SET_PROJECT = "SELECT set_config('keepsake.project', $1, false)";

/**
 * The statements of every recall, for a user who does not exist. Planning them takes longer than running them, and each connection
 * plans them once. The last one only loads the table of search columns into the server's cache, because its COPY is planned each time.
 */
const WARM_UP_STATEMENTS: readonly SqlStatement[] = [
  createStatement(SELECT_VECTORS, NO_USER, [], ""),
  createStatement(SELECT_BODIES, NO_USER, [], []),
  createStatement(
    "SELECT piece FROM blocks WHERE person = $1 AND piece >= 0 AND piece < 1 ORDER BY piece",
    NO_USER,
  ),
];
/** Connections on which they have been planned. */
const preparedConnections = new WeakSet<DriverConnection>();

interface PinnedConnectionLease {
  /**
   * Whether no pooler such as PgBouncer hands each transaction to any free connection. Behind one, session settings would
   * apply to others. Nothing is set before this is known.
   */
  isDirect(): Promise<boolean>;
  /** Undefined while it is being returned, or if a table is locked. */
  query(project: string | undefined, statement: SqlStatement): Promise<readonly Row[] | undefined>;
  copySearchIndex: FastReads["copySearchIndex"];
  /** Returns the connection when all pending queries are answered. */
  release(): Promise<void>;
  readonly isBusy: boolean;
}

/**
 * A connection that is kept out of the pool while there are reads, for reads of one statement. Such a read is consistent by
 * itself and needs no transaction, and concurrent reads share a round trip. Session settings are set once for the whole
 * lease; the connection returns to the pool with its original settings. It declines if no connection can be pinned, if a
 * table is locked, or if the client gives no bytes.
 */
export function createPinnedConnection(
  pool: PostgresPool,
  settings: PostgresConnectionSettings,
  onLost: () => void,
): FastReads {
  const { max = MIN_POOL_SIZE, pipeline }: PostgresPool["options"] & object = pool.options ?? {
    pipeline: true,
  };
  let isUnfit = max < MIN_POOL_SIZE || !pipeline;
  let lease: Promise<PinnedConnectionLease | undefined> | undefined;
  let isDirect = false;
  let usedAt = 0;

  const takeLease = async (onConnectionLost: () => void): Promise<PinnedConnectionLease | undefined> => {
    const connection: DriverConnection = await acquireConnection(pool, settings.connectMs);
    const one = leaseConnection(connection, settings, onConnectionLost);
    isDirect ||= connection.pipeline === true && (await one.isDirect());
    isUnfit ||= !isDirect;
    if (!isUnfit) return one;
    await one.release();
    return undefined;
  };
  const returnLease = async (): Promise<void> => {
    const current = lease;
    lease = undefined;
    await (await current?.catch(() => undefined))?.release();
  };
  /** Returns the connection when it is idle, or when others wait for one. */
  const returnWhenIdle = (leased: Promise<PinnedConnectionLease | undefined>): void => {
    const watch = setInterval(async () => {
      const one = await leased.catch(() => undefined);
      const isWanted = one?.isBusy || performance.now() - usedAt < IDLE_MS;
      if (lease === leased && isWanted && !pool.waitingCount) return;
      clearInterval(watch);
      if (lease === leased) await returnLease();
    }, IDLE_MS);
    watch.unref();
  };
  const begin = (): Promise<PinnedConnectionLease | undefined> => {
    const leased = takeLease(() => {
      if (lease === leased) lease = undefined;
      onLost();
    });
    lease = leased;
    leased.catch(() => {
      if (lease === leased) lease = undefined;
    });
    returnWhenIdle(leased);
    return leased;
  };
  const acquireLease = async (): Promise<PinnedConnectionLease | undefined> => {
    if (isUnfit || (!lease && !hasFreeConnection(pool))) return undefined;
    usedAt = performance.now();
    return lease ?? begin();
  };
  return {
    query: async (project, statement) => (await acquireLease())?.query(project, statement),
    copySearchIndex: async (project, range, take) =>
      (await (await acquireLease())?.copySearchIndex(project, range, take)) ?? false,
    close() {
      isUnfit = true;
      return returnLease();
    },
  };
}

function hasFreeConnection({ options, totalCount = 0, idleCount = 0 }: PostgresPool): boolean {
  return idleCount > 0 || totalCount < (options?.max ?? MIN_POOL_SIZE);
}

function leaseConnection(
  connection: DriverConnection,
  settings: PostgresConnectionSettings,
  onLost: () => void,
): PinnedConnectionLease {
  const { timeoutMs, role } = settings;
  let isReleased = false;
  let isReleasing = false;
  let pending = 0;
  let currentProject = "";
  const send = async (one: SqlStatement): Promise<readonly Row[]> =>
    (await connection.query(toQuery(one, timeoutMs))).rows;
  const onBroken = (error: Error): void => {
    if (isReleased) return;
    isReleased = true;
    isReleasing = true;
    connection.removeListener("error", onBroken);
    copies?.end();
    onLost();
    connection.release(error);
  };
  connection.on("error", onBroken);
  const original = send(READ_SETTINGS);
  original.catch(onBroken);
  const copies = createRawCopyReceiver(connection);
  let lastTag = 0;
  let configured: Promise<unknown> | undefined;
  const configure = (): Promise<unknown> => {
    const [path, wait] = [toSearchPath(settings), String(timeoutMs)];
    const first = send(
      createStatement(
        SET_SESSION_CONFIG,
        path,
        currentProject,
        "",
        wait,
        String(LOCK_MS),
        "on",
        "off",
        "force_generic_plan",
        "0",
        role,
      ),
    );
    first.catch(onBroken);
    return first;
  };
  const runQuery: PinnedConnectionLease["query"] = async (project, statement) => {
    if (isReleasing) return undefined;
    configured ??= configure();
    if (project !== undefined && project !== currentProject) {
      currentProject = project;
      configured = Promise.all([configured, send(createStatement(SET_PROJECT, project))]);
      configured.catch(onBroken);
    }
    pending += 1;
    try {
      const [rows] = await Promise.all([send(statement), configured]);
      prepareWarmUpStatements(connection, send);
      return rows;
    } catch (error) {
      if (getSqlState(error) === LOCK_NOT_AVAILABLE) return undefined;
      if (isConnectionLost(error)) onBroken(error as Error);
      throw error;
    } finally {
      pending -= 1;
    }
  };
  return {
    async isDirect() {
      const [row] = await original;
      return Number(row?.process) === connection.processID;
    },
    get isBusy() {
      return pending > 0;
    },
    query: runQuery,
    async copySearchIndex(project: string, range: SearchIndexRange, take: (piece: SearchIndexPiece) => void) {
      if (!copies || isReleasing) return false;
      lastTag += 1;
      const tag = lastTag;
      copies.subscribe(tag, (row) => take(parseSearchIndexPiece(row)));
      try {
        return (await runQuery(project, createStatement(buildSearchIndexCopy(tag, range)))) !== undefined;
      } finally {
        copies.unsubscribe(tag);
      }
    },
    async release() {
      isReleasing = true;
      if (isReleased) return;
      try {
        const [was = {}] = await original;
        if (configured)
          await send(createStatement(SET_SESSION_CONFIG, ...SETTING_NAMES.map((_, i) => was[`s${i}`] ?? "")));
        if (isReleased) return;
        isReleased = true;
        connection.removeListener("error", onBroken);
        copies?.end();
        connection.release();
      } catch (error) {
        onBroken(error as Error);
      }
    },
  };
}

/** Runs without being awaited; an error shows again when the statement is run for a caller. */
function prepareWarmUpStatements(
  connection: DriverConnection,
  send: (one: SqlStatement) => Promise<unknown>,
): void {
  if (preparedConnections.has(connection)) return;
  preparedConnections.add(connection);
  for (const one of WARM_UP_STATEMENTS) void send(one).catch(() => undefined);
}
