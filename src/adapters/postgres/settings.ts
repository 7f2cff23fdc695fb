import { createNoConnectionError } from "./errors.ts";
import type { TransientRetryWindow } from "./patience.ts";
import type { PostgresConnection, PostgresPool } from "./pool.ts";

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
