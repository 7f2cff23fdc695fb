import { randomUUID } from "node:crypto";
import type { Scope } from "../../../domain/scope.ts";
import { MemoryError } from "../../../errors.ts";
import { createPinnedConnection } from "../fast-path/pinned-connection.ts";
import type { RawRow } from "../fast-path/raw-copy.ts";
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

/** Whose rows a transaction may see and write: those of one project, or all. The database itself holds it to that. */
export type AccessScope = { readonly project: string } | "everybody";
export const ALL_PROJECTS: AccessScope = "everybody";

/** How a write whose COMMIT got no answer is looked up: what it gave, where it was stored. */
export type OutcomeLookup<Result> = (
  transaction: PostgresTransaction,
) => Promise<{ readonly was: Result } | undefined>;

export interface PostgresDatabase {
  readonly pool: PostgresPool;
  readonly settings: PostgresConnectionSettings;
  /** The numbers of users met so far: they never change while this program is connected. */
  readonly userNumbers: Map<string, number>;
  /** Whose numbers they are; also of those that were forgotten when a connection broke. */
  readonly scopesByNumber: Map<number, Scope> & { isPartial?: boolean };
  /** Tells this one from others on the same database. */
  readonly instance: string;
  /** Reads, all as of one moment. */
  query(reach: AccessScope, ...statements: readonly SqlStatement[]): Promise<(readonly Row[])[]>;
  /** One short read of a project's rows, or of what is no project's, on its way with others: without a transaction, where that can be. */
  queryPinned(project: string | undefined, asked: SqlStatement): Promise<readonly Row[]>;
  /** As bytes: see `Lane.copy`. False where it has to be asked for otherwise. Rows may come again, after a lost connection. */
  copyRows(project: string, sql: (tag: number) => string, take: (row: RawRow) => void): Promise<boolean>;
  /** The same, with work in between. */
  read<Result>(
    reach: AccessScope,
    work: (transaction: PostgresTransaction) => Promise<Result>,
    timeoutMs?: number,
  ): Promise<Result>;
  /**
   * Writes, all or nothing. Tried again after a lost connection, and after a COMMIT without an answer: then `settle` says
   * first whether it was stored. Without `settle`, doing it twice must be the same as doing it once.
   */
  write<Result>(
    reach: AccessScope,
    work: (transaction: PostgresTransaction) => Promise<Result>,
    settle?: OutcomeLookup<Result>,
  ): Promise<Result>;
  /**
   * Statements one after the other, each its own transaction, as the role that the pool logs in with: the owner of the tables.
   * Not tried again. `after` is done in any case: the connection is the caller's, and is given back as it was.
   */
  runOutsideTransaction(
    statements: readonly string[],
    options?: { readonly after?: string; readonly timeoutMs?: number },
  ): Promise<void>;
  /** Nothing can be asked after it. The pool stays open, with all its connections. */
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
  // What asks for one user goes by an index, whatever is known of sizes yet, and its plan is made once: to make it takes
  // longer than to carry it out.
  "set_config('enable_seqscan', $6, true), set_config('plan_cache_mode', $7, true), " +
  // To begin helpers for a few rows takes the server ten times as long as to read them.
  "set_config('max_parallel_workers_per_gather', coalesce($8, current_setting('max_parallel_workers_per_gather')), true), " +
  "set_config('role', $9, true)";
const SINGLE_PROJECT_PLANNING = ["off", "force_generic_plan", "0"] as const;
const ALL_PROJECTS_PLANNING = ["on", "auto", null] as const;

export function createPostgresDatabase(
  pool: PostgresPool,
  settings: PostgresConnectionSettings,
): PostgresDatabase {
  const people = new Map<string, number>();
  let isClosed = false;
  // Whoever listens to nothing is ended by the first idle connection that breaks. A server that comes back may be another.
  const forget = (): void => people.clear();
  pool.on("error", forget);
  const lane = createPinnedConnection(pool, settings, forget);

  const attempt = async <Result>(
    begin: readonly SqlStatement[],
    timeoutMs: number,
    work: (transaction: PostgresTransaction) => Promise<Result>,
  ): Promise<Result> => {
    if (isClosed) throw createClosedError();
    const connection = await acquireConnection(pool, settings.connectMs);
    return withConnection(connection, forget, async () => {
      const transaction = createTransaction(connection, begin, timeoutMs);
      const result = await work(transaction);
      await transaction.commit();
      return result;
    });
  };
  const begin = (first: SqlStatement, reach: AccessScope, timeoutMs: number): SqlStatement[] => [
    first,
    buildSettingsStatement(settings, reach, timeoutMs),
  ];
  const run = <Result>(work: () => Promise<Result>): Promise<Result> =>
    retryTransientFaults(settings.patience, work).catch((error: unknown) => {
      throw toPostgresMemoryError(error);
    });

  const read: PostgresDatabase["read"] = (reach, work, timeoutMs = settings.timeoutMs) =>
    // A read has no outcome: where its COMMIT is lost, its answers are whole all the same, or it is done again.
    run(() => attempt(begin(BEGIN_READ, reach, timeoutMs), timeoutMs, work).catch(rethrowCause));
  return {
    pool,
    settings,
    userNumbers: people,
    scopesByNumber: new Map<number, Scope>(),
    instance: randomUUID(),
    read,
    query: (reach, ...statements) => read(reach, (transaction) => transaction.queryAndCommit(...statements)),
    async queryPinned(project, asked) {
      if (isClosed) throw createClosedError();
      const rows = await run(() => lane.query(project, asked));
      if (rows) return rows;
      const reach = project === undefined ? ALL_PROJECTS : { project };
      return (await read(reach, (transaction) => transaction.queryAndCommit(asked)))[0] ?? [];
    },
    write(reach, work, settle) {
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
    },
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
    async copyRows(project, sql, take) {
      if (isClosed) throw createClosedError();
      return run(() => lane.copy(project, sql, take));
    },
    async close() {
      isClosed = true;
      people.clear();
      await lane.close();
      pool.removeListener("error", forget);
    },
  };
}

function buildSettingsStatement(
  settings: PostgresConnectionSettings,
  reach: AccessScope,
  timeoutMs: number,
): SqlStatement {
  const { role, synchronous } = settings;
  const path = toSearchPath(settings);
  const [project, all] = reach === "everybody" ? ["", "everybody"] : [reach.project, ""];
  const plans = reach === "everybody" ? ALL_PROJECTS_PLANNING : SINGLE_PROJECT_PLANNING;
  return createStatement(
    SET_LOCAL_CONFIG,
    path,
    project,
    all,
    String(timeoutMs),
    synchronous,
    ...plans,
    role,
  );
}

async function runSequentially(
  connection: PostgresConnection,
  statements: readonly string[],
  { after, timeoutMs }: { readonly after: string | undefined; readonly timeoutMs: number },
): Promise<void> {
  try {
    for (const text of statements) await connection.query({ text, query_timeout: timeoutMs });
  } finally {
    // Where the connection is gone, so is what was set.
    if (after !== undefined) {
      await connection.query({ text: after, query_timeout: ROLLBACK_MS }).catch(() => undefined);
    }
  }
}

/** Runs work on a connection and gives it back: whole, rolled back, or closed. */
export async function withConnection<Result>(
  connection: PostgresConnection,
  onLost: () => void,
  work: () => Promise<Result>,
): Promise<Result> {
  let broken: Error | undefined;
  const onError = (error: Error): void => {
    broken = error;
  };
  // While it is out, nobody else listens: a broken connection would end the program.
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

/** A look-up that fails leaves it as unknown as it was. */
function rethrowUnknownOutcome(error: unknown): never {
  throw isTransientFault(error) ? new UnknownOutcomeError("commit", { cause: error }) : error;
}

function createClosedError(): MemoryError {
  return new MemoryError("unavailable", "PostgreSQL: the record is closed. Open it again.");
}
