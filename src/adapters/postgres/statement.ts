import { createHash } from "node:crypto";
import { isConnectionLost, UnknownOutcomeError } from "./errors.ts";
import type { PostgresConnection, PostgresQuery, Row } from "./pool.ts";

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

export interface OpenPostgresTransaction extends PostgresTransaction {
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
