import type { RowStream } from "./stream.ts";

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
