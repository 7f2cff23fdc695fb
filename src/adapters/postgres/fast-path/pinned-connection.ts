import type { PostgresConnection, PostgresPool, Row } from "../database/connection.ts";
import {
  acquireConnection,
  createStatement,
  type PostgresConnectionSettings,
  type SqlStatement,
  toQuery,
  toSearchPath,
} from "../database/connection.ts";
import { getSqlState, isConnectionLost } from "../database/errors.ts";
import { WARM_UP_STATEMENTS } from "../database/user-rows.ts";
import { createRawCopyReceiver, type RawRow } from "./raw-copy.ts";

/**
 * A connection that is kept out of the pool while there is something to read, for reads of one statement: each is of one
 * moment by itself and needs no transaction, and all that come at once share the way there and back. What a transaction
 * sets for itself is set once for the whole stay; the pool gets the connection back as it was.
 */
export interface PinnedConnection {
  /** The rows of a statement, with those of one project in reach, if it names one; nothing where there can be no lane, or a table is not to be had. */
  query(project: string | undefined, asked: SqlStatement): Promise<readonly Row[] | undefined>;
  /**
   * Gives the rows of a COPY as bytes, to be taken at once; the first column of each is the number that `sql` is given. False
   * where there can be no lane, or none for bytes: then nothing was done.
   */
  copy(project: string, sql: (tag: number) => string, take: (row: RawRow) => void): Promise<boolean>;
  /** Gives the connection back, for good. */
  close(): Promise<void>;
}

/** One connection may listen for erasures, one is the lane, and one at least is for everything else. */
const MIN_POOL_SIZE = 3;
/** It is given back when nothing was read for so long. */
const IDLE_MS = 1000;
/** Whoever waits longer for a table that is being written anew waits elsewhere: all who come later wait behind them. */
const LOCK_MS = 50;
const LOCK_NOT_AVAILABLE = "55P03";

// The role comes last: what is set after it would be set by another one.
const SETTING_NAMES =
  "search_path keepsake.project keepsake.reach statement_timeout lock_timeout default_transaction_read_only enable_seqscan plan_cache_mode max_parallel_workers_per_gather role".split(
    " ",
  );
const READ_SETTINGS = createStatement(
  `SELECT pg_backend_pid() AS process, ${SETTING_NAMES.map((name, i) => `coalesce(current_setting('${name}', true), '') AS s${i}`).join(", ")}`,
);
const SET_SESSION_CONFIG = `SELECT ${SETTING_NAMES.map((name, i) => `set_config('${name}', $${i + 1}, false)`).join(", ")}`;
const SET_PROJECT = "SELECT set_config('keepsake.project', $1, false)";

/** Connections on which what is likely to be asked next has been planned. */
const preparedConnections = new WeakSet<PostgresConnection>();

interface PinnedConnectionLease {
  /**
   * Whether nothing stands between that hands each transaction to whatever connection is free (PgBouncer does): what is set
   * would be others' then. Nothing is set before it is known.
   */
  isDirect(): Promise<boolean>;
  /** Nothing where it is being given back, or a table is not to be had now. */
  query(project: string | undefined, asked: SqlStatement): Promise<readonly Row[] | undefined>;
  copy(project: string, sql: (tag: number) => string, take: (row: RawRow) => void): Promise<boolean>;
  /** Gives the connection back when all that was asked is answered. */
  release(): Promise<void>;
  readonly isBusy: boolean;
}

export function createPinnedConnection(
  pool: PostgresPool,
  settings: PostgresConnectionSettings,
  onLost: () => void,
): PinnedConnection {
  const { max = MIN_POOL_SIZE, pipeline }: PostgresPool["options"] & object = pool.options ?? {
    pipeline: true,
  };
  let isUnfit = max < MIN_POOL_SIZE || !pipeline;
  let stay: Promise<PinnedConnectionLease | undefined> | undefined;
  let isDirect = false;
  let used = 0;

  const enter = async (lost: () => void): Promise<PinnedConnectionLease | undefined> => {
    const connection = await acquireConnection(pool, settings.connectMs);
    const one = leaseConnection(connection, settings, lost);
    isDirect ||= connection.pipeline === true && (await one.isDirect());
    isUnfit ||= !isDirect;
    if (!isUnfit) return one;
    await one.release();
    return undefined;
  };
  const leave = async (): Promise<void> => {
    const leaving = stay;
    stay = undefined;
    await (await leaving?.catch(() => undefined))?.release();
  };
  /** Others that wait for a connection come first. */
  const leaveWhenIdle = (entered: Promise<PinnedConnectionLease | undefined>): void => {
    const watch = setInterval(async () => {
      const one = await entered.catch(() => undefined);
      const isWanted = one?.isBusy || performance.now() - used < IDLE_MS;
      if (stay === entered && isWanted && !pool.waitingCount) return;
      clearInterval(watch);
      if (stay === entered) await leave();
    }, IDLE_MS);
    watch.unref();
  };
  const begin = (): Promise<PinnedConnectionLease | undefined> => {
    const entered = enter(() => {
      if (stay === entered) stay = undefined;
      onLost();
    });
    stay = entered;
    entered.catch(() => {
      if (stay === entered) stay = undefined;
    });
    leaveWhenIdle(entered);
    return entered;
  };
  const entered = async (): Promise<PinnedConnectionLease | undefined> => {
    if (isUnfit || (!stay && !hasFreeConnection(pool))) return undefined;
    used = performance.now();
    return stay ?? begin();
  };
  return {
    query: async (project, asked) => (await entered())?.query(project, asked),
    copy: async (project, sql, take) => (await (await entered())?.copy(project, sql, take)) ?? false,
    close() {
      isUnfit = true;
      return leave();
    },
  };
}

function hasFreeConnection({ options, totalCount = 0, idleCount = 0 }: PostgresPool): boolean {
  return idleCount > 0 || totalCount < (options?.max ?? MIN_POOL_SIZE);
}

function leaseConnection(
  connection: PostgresConnection,
  settings: PostgresConnectionSettings,
  onLost: () => void,
): PinnedConnectionLease {
  const { timeoutMs, role } = settings;
  let isOver = false;
  let isLeaving = false;
  let waiting = 0;
  let current = "";
  const holdBack = createCorker(connection);
  const send = async (one: SqlStatement): Promise<readonly Row[]> => {
    holdBack(waiting);
    return (await connection.query(toQuery(one, timeoutMs))).rows;
  };
  const broke = (error: Error): void => {
    if (isOver) return;
    isOver = true;
    isLeaving = true;
    connection.removeListener("error", broke);
    copies?.end();
    onLost();
    connection.release(error);
  };
  connection.on("error", broke);
  const before = send(READ_SETTINGS);
  before.catch(broke);
  const copies = createRawCopyReceiver(connection);
  let copied = 0;
  let set: Promise<unknown> | undefined;
  const begin = (): Promise<unknown> => {
    const [path, wait] = [toSearchPath(settings), String(timeoutMs)];
    const first = send(
      createStatement(
        SET_SESSION_CONFIG,
        path,
        current,
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
    first.catch(broke);
    return first;
  };
  const ask: PinnedConnectionLease["query"] = async (project, asked) => {
    if (isLeaving) return undefined;
    set ??= begin();
    if (project !== undefined && project !== current) {
      current = project;
      set = Promise.all([set, send(createStatement(SET_PROJECT, project))]);
      set.catch(broke);
    }
    waiting += 1;
    try {
      const [rows] = await Promise.all([send(asked), set]);
      prepareWarmUpStatements(connection, send);
      return rows;
    } catch (error) {
      if (getSqlState(error) === LOCK_NOT_AVAILABLE) return undefined;
      if (isConnectionLost(error)) broke(error as Error);
      throw error;
    } finally {
      waiting -= 1;
    }
  };
  return {
    async isDirect() {
      const [row] = await before;
      return Number(row?.process) === connection.processID;
    },
    get isBusy() {
      return waiting > 0;
    },
    query: ask,
    async copy(project, sql, take) {
      if (!copies || isLeaving) return false;
      copied += 1;
      const tag = copied;
      copies.subscribe(tag, take);
      try {
        return (await ask(project, createStatement(sql(tag)))) !== undefined;
      } finally {
        copies.unsubscribe(tag);
      }
    },
    async release() {
      isLeaving = true;
      if (isOver) return;
      try {
        const [was = {}] = await before;
        if (set)
          await send(createStatement(SET_SESSION_CONFIG, ...SETTING_NAMES.map((_, i) => was[`s${i}`] ?? "")));
        if (isOver) return;
        isOver = true;
        connection.removeListener("error", broke);
        copies?.end();
        connection.release();
      } catch (error) {
        broke(error as Error);
      }
    },
  };
}

/** With more than this many reads on their way, more than one caller asks. */
const CORK_THRESHOLD = 3;

/**
 * Holds back what is asked while more may be about to be asked, to send all of it in one piece: each piece costs a call of the system
 * and wakes the server. That is until the end of the work at hand; under load until all who were let in at once have asked.
 */
function createCorker({ connection: line }: PostgresConnection): (waiting: number) => void {
  const stream = line?.stream;
  if (!stream?.cork || !stream.uncork) return () => undefined;
  let isHeld = false;
  const send = (): void => {
    isHeld = false;
    stream.uncork?.();
  };
  return (waiting) => {
    if (isHeld) return;
    isHeld = true;
    stream.cork?.();
    if (waiting > CORK_THRESHOLD) setImmediate(send);
    else process.nextTick(send);
  };
}

/** Nobody waits for it; what is wrong with it shows when it is asked in earnest. */
function prepareWarmUpStatements(
  connection: PostgresConnection,
  send: (one: SqlStatement) => Promise<unknown>,
): void {
  if (preparedConnections.has(connection)) return;
  preparedConnections.add(connection);
  for (const one of WARM_UP_STATEMENTS) void send(one).catch(() => undefined);
}
