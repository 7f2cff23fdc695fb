import { createHash } from "node:crypto";
import type { RowStream } from "../fast-path/copy-stream.ts";
import {
  createNoConnectionError,
  isConnectionLost,
  type TransientRetryWindow,
  UnknownOutcomeError,
} from "./errors.ts";

/** The part of a pool of the package `pg` that this adapter uses. Any object with these methods will do. */
export interface PostgresPool {
  /** How many connections it may have, and how they work: see `PostgresConnection`. */
  readonly options?: { readonly max?: number; readonly pipeline?: boolean | undefined };
  /** How many it has, how many of them nobody uses, and how many callers wait for one. */
  readonly totalCount?: number;
  readonly idleCount?: number;
  readonly waitingCount?: number;
  connect(): Promise<PostgresConnection>;
  on(event: "connect", listener: (connection: PostgresConnection) => void): unknown;
  on(event: "error", listener: (error: Error) => void): unknown;
  removeListener(event: "error", listener: (error: Error) => void): unknown;
}

/** One connection, taken from the pool. */
export interface PostgresConnection {
  /** Where true, queries are sent one after the other without waiting for answers: `pipeline: true` of a pool of `pg`. */
  readonly pipeline?: boolean;
  /** The number of the server's process at its other end, as it was told when it was made. */
  readonly processID?: number | null;
  /**
   * The line beneath it, which tells what a COPY sends, as bytes; its stream, which may tell so before (`postgresStream`), and can hold
   * back what is written, to send it in one go.
   */
  readonly connection?: {
    readonly stream?: Partial<RowStream> & { cork?(): void; uncork?(): void };
    on(event: "copyData", listener: (message: { readonly chunk: Uint8Array }) => void): unknown;
    removeListener(event: "copyData", listener: (message: { readonly chunk: Uint8Array }) => void): unknown;
  };
  query(query: PostgresQuery): Promise<{ readonly rows: readonly Row[] }>;
  on(event: "error", listener: (error: Error) => void): unknown;
  on(event: "notification", listener: (message: PostgresNotification) => void): unknown;
  removeListener(event: "error", listener: (error: Error) => void): unknown;
  removeListener(event: "notification", listener: (message: PostgresNotification) => void): unknown;
  /** Gives it back to the pool, or closes it where there is an error. */
  release(error?: Error | boolean): void;
}

export interface PostgresQuery {
  readonly text: string;
  readonly values?: unknown[];
  /** Prepared once on each connection under this name. */
  readonly name?: string;
  /** In ms; the connection is no good after it. */
  readonly query_timeout?: number;
  /** How columns are read: here always as the text that the server sends, whatever parsers the program has set. */
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

/** SQL with its values; the SQL is a constant of this program, so that it can be prepared once on each connection. */
export interface SqlStatement {
  readonly sql: string;
  readonly values: readonly unknown[];
}

export function createStatement(sql: string, ...values: readonly unknown[]): SqlStatement {
  return { sql, values };
}

/** Statements of one transaction. */
export interface PostgresTransaction {
  /** Sends statements, and what waits, and gives the rows of each. */
  queryAll(...statements: readonly SqlStatement[]): Promise<(readonly Row[])[]>;
  /** The rows of one. */
  query(sql: string, ...values: readonly unknown[]): Promise<readonly Row[]>;
  /** The same, and the end with it: one way there and back for all, where the connection can. Nothing may follow. */
  queryAndCommit(...statements: readonly SqlStatement[]): Promise<(readonly Row[])[]>;
  /** Sends a statement with the next ones, or with the end: nobody waits for its answer alone. */
  queue(sql: string, ...values: readonly unknown[]): void;
}

interface OpenPostgresTransaction extends PostgresTransaction {
  /** Sends what waits, and COMMIT. `UnknownOutcome` where the connection was lost in between. */
  commit(): Promise<void>;
}

const COMMIT: SqlStatement = { sql: "COMMIT", values: [] };

/** A transaction over a connection; `begin` goes with its first statements. */
export function createTransaction(
  connection: PostgresConnection,
  begin: readonly SqlStatement[],
  timeoutMs: number,
): OpenPostgresTransaction {
  const waiting = [...begin];
  const send = (more: readonly SqlStatement[]) =>
    sendStatements(connection, [...waiting.splice(0), ...more], timeoutMs);
  const all: PostgresTransaction["queryAll"] = async (...statements) =>
    (await send(statements)).slice(-statements.length);
  let isEnded = false;
  const last: PostgresTransaction["queryAndCommit"] = async (...statements) => {
    isEnded = true;
    try {
      return (await send([...statements, COMMIT])).slice(-statements.length - 1, -1);
    } catch (error) {
      if (isConnectionLost(error)) throw new UnknownOutcomeError("commit", { cause: error });
      throw error;
    }
  };
  return {
    queryAll: all,
    queryAndCommit: last,
    query: async (sql, ...values) => (await all({ sql, values }))[0] ?? [],
    queue: (sql, ...values) => void waiting.push({ sql, values }),
    async commit() {
      if (!isEnded) await last();
    },
  };
}

/** Whatever is written meanwhile leaves in one piece: each by itself costs a call of the system, and wakes the server. */
function withCorkedSocket<Result>({ connection: line }: PostgresConnection, work: () => Result): Result {
  line?.stream?.cork?.();
  try {
    return work();
  } finally {
    line?.stream?.uncork?.();
  }
}

/** Sends statements in one go where the connection can, else one after the other; throws the first fault. */
async function sendStatements(
  connection: PostgresConnection,
  statements: readonly SqlStatement[],
  timeoutMs: number,
): Promise<(readonly Row[])[]> {
  const ask = async (one: SqlStatement) => (await connection.query(toQuery(one, timeoutMs))).rows;
  if (connection.pipeline !== true) {
    const found: (readonly Row[])[] = [];
    for (const one of statements) found.push(await ask(one));
    return found;
  }
  const settled = await Promise.allSettled(withCorkedSocket(connection, () => statements.map(ask)));
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

/** The server's own limit speaks first: it leaves the connection whole. */
const CLIENT_GRACE_MS = 1000;

/** As `pg` takes it: prepared under a name of its own where it has values. */
export function toQuery({ sql, values }: SqlStatement, timeoutMs: number): PostgresQuery {
  const query = { text: sql, types: AS_TEXT, query_timeout: timeoutMs + CLIENT_GRACE_MS };
  return values.length === 0 ? query : { ...query, name: getStatementName(sql), values: [...values] };
}

const STATEMENT_NAMES = new Map<string, string>();

/** By what it says, so that two copies of this program on one pool never mean two things by one name. */
function getStatementName(sql: string): string {
  const known = STATEMENT_NAMES.get(sql);
  if (known !== undefined) return known;
  const name = `keepsake_${createHash("sha256").update(sql).digest("hex").slice(0, 16)}`;
  STATEMENT_NAMES.set(sql, name);
  return name;
}

/** What is known once the database is open. */
export interface PostgresConnectionSettings {
  /** The schema that holds the tables. */
  readonly schema: string;
  /** Where the type `vector` lives, if pgvector is installed. */
  readonly vectors?: string;
  /** The role that transactions take on; "none" where there is none to be had. */
  readonly role: string;
  /** "on" where the server would acknowledge before it is durable. */
  readonly synchronous: string;
  readonly timeoutMs: number;
  readonly connectMs: number;
  readonly patience: TransientRetryWindow;
}

/** Where tables and types are looked for. */
export function toSearchPath({ schema, vectors }: PostgresConnectionSettings): string {
  return vectors === undefined || vectors === schema
    ? quoteIdentifier(schema)
    : `${quoteIdentifier(schema)}, ${quoteIdentifier(vectors)}`;
}

/** A name as SQL has it. */
export function quoteIdentifier(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

/** A connection of the pool; `unavailable` where none comes in time, whatever the pool's own settings. */
export function acquireConnection(pool: PostgresPool, forMs: number): Promise<PostgresConnection> {
  return new Promise((resolve, reject) => {
    let isLate = false;
    const timer = setTimeout(() => {
      isLate = true;
      reject(createNoConnectionError());
    }, forMs);
    pool.connect().then(
      (connection) => {
        clearTimeout(timer);
        if (isLate) connection.release();
        else resolve(connection);
      },
      (error: unknown) => {
        clearTimeout(timer);
        reject(error);
      },
    );
  });
}
