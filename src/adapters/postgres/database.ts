import { randomUUID } from "node:crypto";
import type { Scope } from "../../domain/scope.ts";
import { MemoryError } from "../../errors.ts";
import type { Raw } from "./copied.ts";
import { isLost, isPassing, translate, UnknownOutcome } from "./errors.ts";
import { laneOf } from "./lane.ts";
import { patiently } from "./patience.ts";
import type { PostgresConnection, PostgresPool, Row } from "./pool.ts";
import { pathOf, type Settings, taken } from "./settings.ts";
import { type Statement, statement, type Transaction, transactionOn } from "./statement.ts";

/** Whose rows a transaction may see and write: those of one project, or all. The database itself holds it to that. */
export type Reach = { readonly project: string } | "everybody";
export const EVERYBODY: Reach = "everybody";

/** How a write whose COMMIT got no answer is looked up: what it gave, where it was stored. */
export type Settle<Result> = (transaction: Transaction) => Promise<{ readonly was: Result } | undefined>;

export interface Database {
  readonly pool: PostgresPool;
  readonly settings: Settings;
  /** The numbers of users met so far: they never change while this program is connected. */
  readonly people: Map<string, number>;
  /** Whose numbers they are; also of those that were forgotten when a connection broke. */
  readonly scopes: Map<number, Scope> & { isPartial?: boolean };
  /** Tells this one from others on the same database. */
  readonly instance: string;
  /** Reads, all as of one moment. */
  ask(reach: Reach, ...statements: readonly Statement[]): Promise<(readonly Row[])[]>;
  /** One short read of a project's rows, or of what is no project's, on its way with others: without a transaction, where that can be. */
  quick(project: string | undefined, asked: Statement): Promise<readonly Row[]>;
  /** As bytes: see `Lane.copy`. False where it has to be asked for otherwise. Rows may come again, after a lost connection. */
  copied(project: string, sql: (tag: number) => string, take: (row: Raw) => void): Promise<boolean>;
  /** The same, with work in between. */
  read<Result>(
    reach: Reach,
    work: (transaction: Transaction) => Promise<Result>,
    timeoutMs?: number,
  ): Promise<Result>;
  /**
   * Writes, all or nothing. Tried again after a lost connection, and after a COMMIT without an answer: then `settle` says
   * first whether it was stored. Without `settle`, doing it twice must be the same as doing it once.
   */
  write<Result>(
    reach: Reach,
    work: (transaction: Transaction) => Promise<Result>,
    settle?: Settle<Result>,
  ): Promise<Result>;
  /**
   * Statements one after the other, each its own transaction, as the role that the pool logs in with: the owner of the tables.
   * Not tried again. `after` is done in any case: the connection is the caller's, and is given back as it was.
   */
  alone(
    statements: readonly string[],
    options?: { readonly after?: string; readonly timeoutMs?: number },
  ): Promise<void>;
  /** Nothing can be asked after it. The pool stays open, with all its connections. */
  close(): Promise<void>;
}

const READING: Statement = statement("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY");
const WRITING: Statement = statement("BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE");
const ROLLBACK_MS = 1000;
const SET =
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
const OF_ONE = ["off", "force_generic_plan", "0"] as const;
const OF_ALL = ["on", "auto", null] as const;

export function databaseOf(pool: PostgresPool, settings: Settings): Database {
  const people = new Map<string, number>();
  let isClosed = false;
  // Whoever listens to nothing is ended by the first idle connection that breaks. A server that comes back may be another.
  const forget = (): void => people.clear();
  pool.on("error", forget);
  const lane = laneOf(pool, settings, forget);

  const attempt = async <Result>(
    begin: readonly Statement[],
    timeoutMs: number,
    work: (transaction: Transaction) => Promise<Result>,
  ): Promise<Result> => {
    if (isClosed) throw closed();
    const connection = await taken(pool, settings.connectMs);
    return onConnection(connection, forget, async () => {
      const transaction = transactionOn(connection, begin, timeoutMs);
      const result = await work(transaction);
      await transaction.end();
      return result;
    });
  };
  const begin = (first: Statement, reach: Reach, timeoutMs: number): Statement[] => [
    first,
    settingsOf(settings, reach, timeoutMs),
  ];
  const run = <Result>(work: () => Promise<Result>): Promise<Result> =>
    patiently(settings.patience, work).catch((error: unknown) => {
      throw translate(error);
    });

  const read: Database["read"] = (reach, work, timeoutMs = settings.timeoutMs) =>
    // A read has no outcome: where its COMMIT is lost, its answers are whole all the same, or it is done again.
    run(() => attempt(begin(READING, reach, timeoutMs), timeoutMs, work).catch(withoutOutcome));
  return {
    pool,
    settings,
    people,
    scopes: new Map<number, Scope>(),
    instance: randomUUID(),
    read,
    ask: (reach, ...statements) => read(reach, (transaction) => transaction.last(...statements)),
    async quick(project, asked) {
      if (isClosed) throw closed();
      const rows = await run(() => lane.ask(project, asked));
      if (rows) return rows;
      const reach = project === undefined ? EVERYBODY : { project };
      return (await read(reach, (transaction) => transaction.last(asked)))[0] ?? [];
    },
    write(reach, work, settle) {
      let isUnknown = false;
      const { timeoutMs } = settings;
      return run(async () => {
        if (isUnknown && settle) {
          const found = await attempt(begin(WRITING, reach, timeoutMs), timeoutMs, settle).catch(
            stillUnknown,
          );
          if (found) return found.was;
        }
        isUnknown = false;
        try {
          return await attempt(begin(WRITING, reach, timeoutMs), timeoutMs, work);
        } catch (error) {
          isUnknown = error instanceof UnknownOutcome;
          throw error;
        }
      });
    },
    async alone(statements, { after, timeoutMs = settings.timeoutMs } = {}) {
      if (isClosed) throw closed();
      try {
        const connection = await taken(pool, settings.connectMs);
        await onConnection(connection, forget, () => oneByOne(connection, statements, { after, timeoutMs }));
      } catch (error) {
        throw translate(error);
      }
    },
    async copied(project, sql, take) {
      if (isClosed) throw closed();
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

function settingsOf(settings: Settings, reach: Reach, timeoutMs: number): Statement {
  const { role, synchronous } = settings;
  const path = pathOf(settings);
  const [project, all] = reach === "everybody" ? ["", "everybody"] : [reach.project, ""];
  const plans = reach === "everybody" ? OF_ALL : OF_ONE;
  return statement(SET, path, project, all, String(timeoutMs), synchronous, ...plans, role);
}

async function oneByOne(
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
export async function onConnection<Result>(
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
    if (error instanceof UnknownOutcome || isLost(error)) broken ??= error as Error;
    else await connection.query({ text: "ROLLBACK", query_timeout: ROLLBACK_MS }).catch(onError);
    throw error;
  } finally {
    connection.removeListener("error", onError);
    if (broken) onLost();
    connection.release(broken);
  }
}

function withoutOutcome(error: unknown): never {
  throw error instanceof UnknownOutcome ? error.cause : error;
}

/** A look-up that fails leaves it as unknown as it was. */
function stillUnknown(error: unknown): never {
  throw isPassing(error) ? new UnknownOutcome("commit", { cause: error }) : error;
}

function closed(): MemoryError {
  return new MemoryError("unavailable", "PostgreSQL: the record is closed. Open it again.");
}
