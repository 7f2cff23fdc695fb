import { createHash } from "node:crypto";
import { takeConnectionInTime } from "../../shared/pool-connections.ts";
import {
  createNoConnectionError,
  isConnectionLost,
  type TransientRetryWindow,
  UnknownOutcomeError,
} from "./errors.ts";

/** The part of a `pg` pool that this adapter uses. Any object with these methods works. */
export interface PostgresPool {
  /** The maximum number of connections, and how they work: see `PostgresConnection`. */
  readonly options?: { readonly max?: number; readonly pipeline?: boolean | undefined };
  /** The number of connections, of idle connections, and of callers that wait for one. */
  readonly totalCount?: number;
  readonly idleCount?: number;
  readonly waitingCount?: number;
  connect(): Promise<PostgresConnection>;
  on(event: "connect", listener: (connection: PostgresConnection) => void): unknown;
  on(event: "error", listener: (error: Error) => void): unknown;
  removeListener(event: "error", listener: (error: Error) => void): unknown;
}

/** A connection taken from the pool. */
export interface PostgresConnection {
  /** If true, queries are sent one after the other without waiting for answers: `pipeline: true` of a `pg` pool. */
  readonly pipeline?: boolean;
  query(query: PostgresQuery): Promise<{ readonly rows: readonly Row[] }>;
  on(event: "error", listener: (error: Error) => void): unknown;
  on(event: "notification", listener: (message: PostgresNotification) => void): unknown;
  removeListener(event: "error", listener: (error: Error) => void): unknown;
  removeListener(event: "notification", listener: (message: PostgresNotification) => void): unknown;
  /** Returns it to the pool, or closes it if an error is given. */
  release(error?: Error | boolean): void;
}

/** A statement, as the package `pg` takes it. */
export interface PostgresQuery {
  readonly text: string;
  readonly values?: unknown[];
  /** The name under which each connection prepares it once. */
  readonly name?: string;
  /** In ms; the connection is unusable after a timeout. */
  readonly query_timeout?: number;
  /** How columns are parsed: always as the text that the server sends, whatever parsers the program has set. */
  readonly types?: { getTypeParser(): (text: string) => string };
}

export interface PostgresNotification {
  readonly channel: string;
  readonly payload?: string | undefined;
}

/** Every value as text, as the server sends it. */
export interface Row {
  readonly [column: string]: string | null;
}

/** SQL with its values. The SQL is a constant of this program, so that each connection can prepare it once. */
export interface SqlStatement {
  readonly sql: string;
  readonly values: readonly unknown[];
  /** Not prepared under a name: its text varies. */
  readonly isUnnamed?: boolean;
}

export function createStatement(sql: string, ...values: readonly unknown[]): SqlStatement {
  return { sql, values };
}

/** Statements of one transaction. */
export interface PostgresTransaction {
  /** Sends the queued statements and these, and gives the rows of each of these. */
  queryAll(...statements: readonly SqlStatement[]): Promise<(readonly Row[])[]>;
  /** The rows of one statement. */
  query(sql: string, ...values: readonly unknown[]): Promise<readonly Row[]>;
  /** Like `queryAll`, and commits; in one round trip if the connection supports it. Nothing may follow. */
  queryAndCommit(...statements: readonly SqlStatement[]): Promise<(readonly Row[])[]>;
  /** Queues a statement, which is sent with the next ones or with the COMMIT. Its answer is not awaited separately. */
  queue(sql: string, ...values: readonly unknown[]): void;
}

interface OpenPostgresTransaction extends PostgresTransaction {
  /** Sends the queued statements and COMMIT. Throws `UnknownOutcomeError` if the connection is lost meanwhile. */
  commit(): Promise<void>;
}

const COMMIT: SqlStatement = { sql: "COMMIT", values: [] };

/** A transaction on a connection. The statements of `begin` are sent with its first ones; `rewrite` adapts those of callers. */
export function createTransaction(
  connection: PostgresConnection,
  begin: readonly SqlStatement[],
  timeoutMs: number,
  rewrite: (statement: SqlStatement) => readonly SqlStatement[] = (statement) => [statement],
): OpenPostgresTransaction {
  const queued = [...begin];
  const send = (more: readonly SqlStatement[]) =>
    sendStatements(connection, [...queued.splice(0), ...more], timeoutMs);
  const queryAll: PostgresTransaction["queryAll"] = async (...statements) =>
    (await send(statements.flatMap(rewrite))).slice(-statements.length);
  let isEnded = false;
  const queryAndCommit: PostgresTransaction["queryAndCommit"] = async (...statements) => {
    isEnded = true;
    try {
      return (await send([...statements, COMMIT])).slice(-statements.length - 1, -1);
    } catch (error) {
      if (isConnectionLost(error)) throw new UnknownOutcomeError("commit", { cause: error });
      throw error;
    }
  };
  return {
    queryAll,
    queryAndCommit,
    query: async (sql, ...values) => (await queryAll({ sql, values }))[0] ?? [],
    queue: (sql, ...values) => void queued.push(...rewrite({ sql, values })),
    async commit() {
      if (!isEnded) await queryAndCommit();
    },
  };
}

/** Sends statements at once if the connection can, or else one after the other. Throws the first error. */
async function sendStatements(
  connection: PostgresConnection,
  statements: readonly SqlStatement[],
  timeoutMs: number,
): Promise<(readonly Row[])[]> {
  const runStatement = async (one: SqlStatement) => (await connection.query(toQuery(one, timeoutMs))).rows;
  if (connection.pipeline !== true) {
    const found: (readonly Row[])[] = [];
    for (const one of statements) found.push(await runStatement(one));
    return found;
  }
  const settled = await Promise.allSettled(statements.map(runStatement));
  return settled.map((one) => {
    if (one.status === "rejected") throw one.reason;
    return one.value;
  });
}

const AS_TEXT: { getTypeParser(): (text: string) => string } = {
  getTypeParser: () => returnUnchanged,
};

function returnUnchanged(text: string): string {
  return text;
}

/** The server's own limit applies first, because it leaves the connection usable. */
const CLIENT_GRACE_MS = 1000;

/** The query for `pg`: prepared under its own name if it has values. */
export function toQuery({ sql, values, isUnnamed }: SqlStatement, timeoutMs: number): PostgresQuery {
  const query = { text: sql, types: AS_TEXT, query_timeout: timeoutMs + CLIENT_GRACE_MS };
  if (isUnnamed) return { ...query, values: [...values] };
  return values.length === 0 ? query : { ...query, name: getStatementName(sql), values: [...values] };
}

const STATEMENT_NAMES = new Map<string, string>();

/** The name is a hash of the SQL, so that two copies of this program on one pool never use one name for two statements. */
function getStatementName(sql: string): string {
  const known = STATEMENT_NAMES.get(sql);
  if (known !== undefined) return known;
  const name = `keepsake_${createHash("sha256").update(sql).digest("hex").slice(0, 16)}`;
  STATEMENT_NAMES.set(sql, name);
  return name;
}

/** Settings that are known once the database is open. */
export interface PostgresConnectionSettings {
  /** The schema that holds the tables. */
  readonly schema: string;
  /** The schema of the type `vector`, if pgvector is installed. */
  readonly vectors?: string;
  /** The role that transactions assume; "none" if there is none. */
  readonly role: string;
  /** Whether Citus spreads the tables over nodes. */
  readonly isDistributed: boolean;
  /** "on" if the server would acknowledge a commit before it is durable. */
  readonly synchronous: string;
  readonly timeoutMs: number;
  readonly connectMs: number;
  readonly patience: TransientRetryWindow;
}

/** The search path for tables and types. */
export function toSearchPath({ schema, vectors }: PostgresConnectionSettings): string {
  return vectors === undefined || vectors === schema
    ? quoteIdentifier(schema)
    : `${quoteIdentifier(schema)}, ${quoteIdentifier(vectors)}`;
}

/** A name quoted for SQL. */
export function quoteIdentifier(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

/** Takes a connection from the pool. Throws `unavailable` if none is free in time, whatever the pool's own settings. */
export function acquireConnection(pool: PostgresPool, forMs: number): Promise<PostgresConnection> {
  return takeConnectionInTime(() => pool.connect(), forMs, createNoConnectionError);
}
