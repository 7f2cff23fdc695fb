import { createHash } from "node:crypto";
import { isLost, UnknownOutcome } from "./errors.ts";
import type { PostgresConnection, PostgresQuery, Row } from "./pool.ts";

/** SQL with its values; the SQL is a constant of this program, so that it can be prepared once on each connection. */
export interface Statement {
  readonly sql: string;
  readonly values: readonly unknown[];
}

export function statement(sql: string, ...values: readonly unknown[]): Statement {
  return { sql, values };
}

/** Statements of one transaction. */
export interface Transaction {
  /** Sends statements, and what waits, and gives the rows of each. */
  all(...statements: readonly Statement[]): Promise<(readonly Row[])[]>;
  /** The rows of one. */
  rows(sql: string, ...values: readonly unknown[]): Promise<readonly Row[]>;
  /** The same, and the end with it: one way there and back for all, where the connection can. Nothing may follow. */
  last(...statements: readonly Statement[]): Promise<(readonly Row[])[]>;
  /** Sends a statement with the next ones, or with the end: nobody waits for its answer alone. */
  later(sql: string, ...values: readonly unknown[]): void;
}

export interface OpenTransaction extends Transaction {
  /** Sends what waits, and COMMIT. `UnknownOutcome` where the connection was lost in between. */
  end(): Promise<void>;
}

const COMMIT: Statement = { sql: "COMMIT", values: [] };

/** A transaction over a connection; `begin` goes with its first statements. */
export function transactionOn(
  connection: PostgresConnection,
  begin: readonly Statement[],
  timeoutMs: number,
): OpenTransaction {
  const waiting = [...begin];
  const send = (more: readonly Statement[]) => sent(connection, [...waiting.splice(0), ...more], timeoutMs);
  const all: Transaction["all"] = async (...statements) => (await send(statements)).slice(-statements.length);
  let isEnded = false;
  const last: Transaction["last"] = async (...statements) => {
    isEnded = true;
    try {
      return (await send([...statements, COMMIT])).slice(-statements.length - 1, -1);
    } catch (error) {
      if (isLost(error)) throw new UnknownOutcome("commit", { cause: error });
      throw error;
    }
  };
  return {
    all,
    last,
    rows: async (sql, ...values) => (await all({ sql, values }))[0] ?? [],
    later: (sql, ...values) => void waiting.push({ sql, values }),
    async end() {
      if (!isEnded) await last();
    },
  };
}

/** Whatever is written meanwhile leaves in one piece: each by itself costs a call of the system, and wakes the server. */
function inOneGo<Result>({ connection: line }: PostgresConnection, work: () => Result): Result {
  line?.stream?.cork?.();
  try {
    return work();
  } finally {
    line?.stream?.uncork?.();
  }
}

/** Sends statements in one go where the connection can, else one after the other; throws the first fault. */
async function sent(
  connection: PostgresConnection,
  statements: readonly Statement[],
  timeoutMs: number,
): Promise<(readonly Row[])[]> {
  const ask = async (one: Statement) => (await connection.query(queryOf(one, timeoutMs))).rows;
  if (connection.pipeline !== true) {
    const found: (readonly Row[])[] = [];
    for (const one of statements) found.push(await ask(one));
    return found;
  }
  const settled = await Promise.allSettled(inOneGo(connection, () => statements.map(ask)));
  return settled.map((one) => {
    if (one.status === "rejected") throw one.reason;
    return one.value;
  });
}

const AS_TEXT: { getTypeParser(): (text: string) => string } = {
  getTypeParser: () => asItCame,
};

function asItCame(text: string): string {
  return text;
}

/** The server's own limit speaks first: it leaves the connection whole. */
const GRACE_MS = 1000;

/** As `pg` takes it: prepared under a name of its own where it has values. */
export function queryOf({ sql, values }: Statement, timeoutMs: number): PostgresQuery {
  const query = { text: sql, types: AS_TEXT, query_timeout: timeoutMs + GRACE_MS };
  return values.length === 0 ? query : { ...query, name: nameOf(sql), values: [...values] };
}

const NAMES = new Map<string, string>();

/** By what it says, so that two copies of this program on one pool never mean two things by one name. */
function nameOf(sql: string): string {
  const known = NAMES.get(sql);
  if (known !== undefined) return known;
  const name = `keepsake_${createHash("sha256").update(sql).digest("hex").slice(0, 16)}`;
  NAMES.set(sql, name);
  return name;
}
