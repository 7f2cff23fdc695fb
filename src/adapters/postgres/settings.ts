import { noConnection } from "./errors.ts";
import type { Patience } from "./patience.ts";
import type { PostgresConnection, PostgresPool } from "./pool.ts";

/** What is known once the database is open. */
export interface Settings {
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
  readonly patience: Patience;
}

/** Where tables and types are looked for. */
export function pathOf({ schema, vectors }: Settings): string {
  return vectors === undefined || vectors === schema
    ? quoted(schema)
    : `${quoted(schema)}, ${quoted(vectors)}`;
}

/** A name as SQL has it. */
export function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

/** A connection of the pool; `unavailable` where none comes in time, whatever the pool's own settings. */
export function taken(pool: PostgresPool, forMs: number): Promise<PostgresConnection> {
  return new Promise((resolve, reject) => {
    let isLate = false;
    const timer = setTimeout(() => {
      isLate = true;
      reject(noConnection());
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
