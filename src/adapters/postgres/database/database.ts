import { randomUUID } from "node:crypto";
import type { Scope } from "../../../domain/scope.ts";
import { MemoryError } from "../../../errors.ts";
import { buildNodeSettings } from "../citus/node-settings.ts";
import { writeOutRows } from "../citus/row-lists.ts";
import type { PostgresConnection, PostgresPool, Row } from "./connection.ts";
import {
  acquireConnection,
  createStatement,
  createTransaction,
  type PostgresConnectionSettings,
  type PostgresTransaction,
  type SqlStatement,
  toSearchPath,
} from "./connection.ts";
import {
  isConnectionLost,
  isTransientFault,
  retryTransientFaults,
  toPostgresMemoryError,
  UnknownOutcomeError,
} from "./errors.ts";

/** Which rows a transaction may see and write: those of one project, or all. The database enforces it. */
export type AccessScope = { readonly project: string } | "everybody";
export const ALL_PROJECTS: AccessScope = "everybody";

/** Looks up a write whose COMMIT got no answer. Gives its result if it was stored. */
type OutcomeLookup<Result> = (
  transaction: PostgresTransaction,
) => Promise<{ readonly was: Result } | undefined>;

/** The pieces of a user's search index that a read asks for: from the first one, up to the last one without it. */
export interface SearchIndexRange {
  readonly person: number;
  readonly from: number;
  readonly to: number;
}

/** A piece of a stored search index. */
export interface SearchIndexPiece {
  readonly revision: number;
  /** The bytes of the complete index. */
  readonly size: number;
  /** The number of the piece, from 0. */
  readonly piece: number;
  /** Valid until the receiving call returns. */
  readonly bytes: Uint8Array;
}

/** A faster way for short reads. Each call may decline; a transaction then reads the same rows. */
export interface FastReads {
  /** The rows of a statement, which may access one project if given. Undefined if it declines. */
  query(project: string | undefined, statement: SqlStatement): Promise<readonly Row[] | undefined>;
  /** Passes the pieces of a search index. False if it declines; nothing was passed then. */
  copySearchIndex(
    project: string,
    range: SearchIndexRange,
    take: (piece: SearchIndexPiece) => void,
  ): Promise<boolean>;
  /** Returns all connections for good. */
  close(): Promise<void>;
}

/** `onLost` is called when a connection breaks. */
export type CreateFastReads = (
  pool: PostgresPool,
  settings: PostgresConnectionSettings,
  onLost: () => void,
) => FastReads;

export interface PostgresDatabase {
  readonly pool: PostgresPool;
  readonly settings: PostgresConnectionSettings;
  /** Numbers of the users seen so far. They never change while this program is connected. */
  readonly userNumbers: Map<string, number>;
  /** The users of these numbers, including those forgotten when a connection broke. */
  readonly scopesByNumber: Map<number, Scope> & { isPartial?: boolean };
  /** Distinguishes this instance from others on the same database. */
  readonly instance: string;
  /** Reads from one snapshot. */
  query(reach: AccessScope, ...statements: readonly SqlStatement[]): Promise<(readonly Row[])[]>;
  /** The rows of one statement: those of a project, or rows without a project. It takes the fast path if there is one. */
  queryOnce(project: string | undefined, statement: SqlStatement): Promise<readonly Row[]>;
  /** Passes the pieces of a search index by the fast path. False if a query is needed. Pieces repeat after a lost connection. */
  copySearchIndex: FastReads["copySearchIndex"];
  /** Like `query`, with work between the statements. */
  read<Result>(
    reach: AccessScope,
    work: (transaction: PostgresTransaction) => Promise<Result>,
    timeoutMs?: number,
  ): Promise<Result>;
  /**
   * Writes atomically. It retries after a lost connection, and after a COMMIT without an answer. In the second case, `settle`
   * first looks up whether it was stored. Without `settle`, the write must be idempotent.
   */
  write<Result>(
    reach: AccessScope,
    work: (transaction: PostgresTransaction) => Promise<Result>,
    settle?: OutcomeLookup<Result>,
  ): Promise<Result>;
  /** Writes by one statement, which must be idempotent. */
  execute(reach: AccessScope, sql: string, ...values: readonly unknown[]): Promise<void>;
  /**
   * Runs statements one after the other, each in its own transaction, as the pool's login role: the owner of the tables.
   * It does not retry. `after` always runs, because the connection belongs to the caller and is returned unchanged.
   */
  runOutsideTransaction(
    statements: readonly string[],
    options?: { readonly after?: string; readonly timeoutMs?: number },
  ): Promise<void>;
  /** Rejects all calls from now on. The pool stays open, with all its connections. */
  close(): Promise<void>;
}

const BEGIN_READ: SqlStatement = createStatement("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY");
const BEGIN_WRITE: SqlStatement = createStatement("BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE");
const ROLLBACK_MS = 1000;
const SET_LOCAL_CONFIG =
  "SELECT set_config('search_path', $1, true), set_config('keepsake.project', $2, true), " +
  "set_config('keepsake.reach', $3, true), set_config('statement_timeout', $4, true), " +
  "set_config('lock_timeout', $4, true), set_config('idle_in_transaction_session_timeout', $4, true), " +
  "set_config('synchronous_commit', $5, true), set_config('bytea_output', 'hex', true), " +
  // A query for one user uses an index, whatever the statistics say, and is planned once: planning takes longer than
  // execution.
  "set_config('enable_seqscan', $6, true), set_config('plan_cache_mode', $7, true), " +
  // Starting parallel workers for a few rows takes the server ten times as long as reading them.
  "set_config('max_parallel_workers_per_gather', coalesce($8, current_setting('max_parallel_workers_per_gather')), true), " +
  "set_config('role', $9, true)";
const SINGLE_PROJECT_PLANNING = ["off", "force_generic_plan", "0"] as const;
const ALL_PROJECTS_PLANNING = ["on", "auto", null] as const;

export function createPostgresDatabase(
  pool: PostgresPool,
  settings: PostgresConnectionSettings,
  createFastReads?: CreateFastReads,
): PostgresDatabase {
  const userNumbers = new Map<string, number>();
  let isClosed = false;
  // Without a listener, the first idle connection that breaks ends the program. A server that restarts may be a different one.
  const forget = (): void => userNumbers.clear();
  pool.on("error", forget);
  const rewrite = settings.isDistributed ? writeOutRows : undefined;
  const fastReads = createFastReads?.(pool, settings, forget);

  const attempt = async <Result>(
    begin: readonly SqlStatement[],
    timeoutMs: number,
    work: (transaction: PostgresTransaction) => Promise<Result>,
  ): Promise<Result> => {
    if (isClosed) throw createClosedError();
    const connection = await acquireConnection(pool, settings.connectMs);
    return withConnection(connection, forget, async () => {
      const transaction = createTransaction(connection, begin, timeoutMs, rewrite);
      const result = await work(transaction);
      await transaction.commit();
      return result;
    });
  };
  const begin = (first: SqlStatement, reach: AccessScope, timeoutMs: number): SqlStatement[] => [
    first,
    ...buildSettingsStatements(settings, reach, timeoutMs),
  ];
  const run = <Result>(work: () => Promise<Result>): Promise<Result> =>
    retryTransientFaults(settings.patience, work).catch((error: unknown) => {
      throw toPostgresMemoryError(error);
    });

  const read: PostgresDatabase["read"] = (reach, work, timeoutMs = settings.timeoutMs) =>
    // A read has no outcome: if its COMMIT is lost, its answers are complete anyway, or it is repeated.
    run(() => attempt(begin(BEGIN_READ, reach, timeoutMs), timeoutMs, work).catch(rethrowCause));
  const write: PostgresDatabase["write"] = (reach, work, settle) => {
    let isUnknown = false;
    const { timeoutMs } = settings;
    return run(async () => {
      if (isUnknown && settle) {
        const found = await attempt(begin(BEGIN_WRITE, reach, timeoutMs), timeoutMs, settle).catch(
          rethrowUnknownOutcome,
        );
        if (found) return found.was;
      }
      isUnknown = false;
      try {
        return await attempt(begin(BEGIN_WRITE, reach, timeoutMs), timeoutMs, work);
      } catch (error) {
        isUnknown = error instanceof UnknownOutcomeError;
        throw error;
      }
    });
  };
  return {
    pool,
    settings,
    userNumbers,
    scopesByNumber: new Map<number, Scope>(),
    instance: randomUUID(),
    read,
    query: (reach, ...statements) => read(reach, (transaction) => transaction.queryAndCommit(...statements)),
    async queryOnce(project, statement) {
      if (isClosed) throw createClosedError();
      const rows = fastReads && (await run(() => fastReads.query(project, statement)));
      if (rows) return rows;
      const reach = project === undefined ? ALL_PROJECTS : { project };
      return (await read(reach, (transaction) => transaction.queryAndCommit(statement)))[0] ?? [];
    },
    write,
    execute: (reach, sql, ...values) =>
      write(reach, async (transaction) => void transaction.queue(sql, ...values)),
    async runOutsideTransaction(statements, { after, timeoutMs = settings.timeoutMs } = {}) {
      if (isClosed) throw createClosedError();
      try {
        const connection = await acquireConnection(pool, settings.connectMs);
        await withConnection(connection, forget, () =>
          runSequentially(connection, statements, { after, timeoutMs }),
        );
      } catch (error) {
        throw toPostgresMemoryError(error);
      }
    },
    async copySearchIndex(project, range, take) {
      if (isClosed) throw createClosedError();
      return fastReads ? run(() => fastReads.copySearchIndex(project, range, take)) : false;
    },
    async close() {
      isClosed = true;
      userNumbers.clear();
      await fastReads?.close();
      pool.removeListener("error", forget);
    },
  };
}

function buildSettingsStatements(
  settings: PostgresConnectionSettings,
  reach: AccessScope,
  timeoutMs: number,
): SqlStatement[] {
  const { role, synchronous, isDistributed } = settings;
  const path = toSearchPath(settings);
  const [project, all] = reach === "everybody" ? ["", "everybody"] : [reach.project, ""];
  // A generic plan names no user, so Citus could not tell which node to ask.
  const plans = reach === "everybody" || isDistributed ? ALL_PROJECTS_PLANNING : SINGLE_PROJECT_PLANNING;
  const local = createStatement(
    SET_LOCAL_CONFIG,
    path,
    project,
    all,
    String(timeoutMs),
    synchronous,
    ...plans,
    role,
  );
  return isDistributed ? [...buildNodeSettings(project, all, synchronous), local] : [local];
}

async function runSequentially(
  connection: PostgresConnection,
  statements: readonly string[],
  { after, timeoutMs }: { readonly after: string | undefined; readonly timeoutMs: number },
): Promise<void> {
  try {
    for (const text of statements) await connection.query({ text, query_timeout: timeoutMs });
  } finally {
    // If the connection is gone, so are its settings.
    if (after !== undefined) {
      await connection.query({ text: after, query_timeout: ROLLBACK_MS }).catch(() => undefined);
    }
  }
}

/** Runs work on a connection, then returns it to the pool: after a commit, after a rollback, or closed. */
export async function withConnection<Result>(
  connection: PostgresConnection,
  onLost: () => void,
  work: () => Promise<Result>,
): Promise<Result> {
  let broken: Error | undefined;
  const onError = (error: Error): void => {
    broken = error;
  };
  // A connection taken from the pool has no other listener: an error on it would end the program.
  connection.on("error", onError);
  try {
    return await work();
  } catch (error) {
    if (error instanceof UnknownOutcomeError || isConnectionLost(error)) broken ??= error as Error;
    else await connection.query({ text: "ROLLBACK", query_timeout: ROLLBACK_MS }).catch(onError);
    throw error;
  } finally {
    connection.removeListener("error", onError);
    if (broken) onLost();
    connection.release(broken);
  }
}

function rethrowCause(error: unknown): never {
  throw error instanceof UnknownOutcomeError ? error.cause : error;
}

/** If the lookup itself fails, the outcome stays unknown. */
function rethrowUnknownOutcome(error: unknown): never {
  throw isTransientFault(error) ? new UnknownOutcomeError("commit", { cause: error }) : error;
}

function createClosedError(): MemoryError {
  return new MemoryError("unavailable", "PostgreSQL: the database is closed. Open it again.");
}
