/** The part of a pool of the package `pg` that this adapter uses. Any object with these methods will do. */
export interface IndexPool {
  connect(): Promise<IndexConnection>;
  on(event: "connect", listener: (connection: IndexConnection) => void): unknown;
}

/** One connection, taken from the pool. */
export interface IndexConnection {
  on(event: "error", listener: (error: Error) => void): unknown;
  query(query: IndexQuery): Promise<{ readonly rows: readonly IndexRow[] }>;
  /** Gives it back to the pool; with true, closes it. */
  release(isBroken?: boolean): void;
}

export interface IndexQuery {
  readonly text: string;
  readonly values?: unknown[];
  /** How columns are read: here always as the text that the server sends, whatever parsers the program has set. */
  readonly types?: { getTypeParser(): (text: string) => string };
}

/** Every value as text. */
export interface IndexRow {
  readonly [column: string]: string | null;
}
