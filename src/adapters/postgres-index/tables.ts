import { invalid, isMemoryError, MemoryError } from "../../errors.ts";
import type { VectorIndexSpace } from "../../ports/vector-index.ts";
import { handleConnectionErrors, handlePoolErrors } from "../shared/pool-errors.ts";
import { withTimeout } from "../shared/remote-call.ts";

/** The tables of one index. */
interface IndexTables {
  readonly entries: string;
  /** One row: the space that the entries are of. */
  readonly space: string;
}

export function toTableNames(prefix: string): IndexTables {
  return { entries: `${prefix}_index`, space: `${prefix}_index_space` };
}

/** Up to so many numbers of 32 bits pgvector can index, and up to so many of 16. */
const MAX_FULL_DIMENSIONS = 2000;
const MAX_HALF_DIMENSIONS = 4000;

export type PgvectorType = "vector" | "halfvec";

/** How vectors of so many numbers are kept. `invalid_input` where no index takes them. */
export function getPgvectorType(dimensions: number): PgvectorType {
  if (dimensions <= MAX_FULL_DIMENSIONS) return "vector";
  if (dimensions <= MAX_HALF_DIMENSIONS) return "halfvec";
  throw invalid(`pgvector indexes vectors of at most ${MAX_HALF_DIMENSIONS} numbers, not ${dimensions}.`);
}

/** Makes the tables and their index where they are not there, and makes them anew for another space. One process at a time. */
export async function prepareTables(
  ask: RunIndexQuery,
  tables: IndexTables,
  space: VectorIndexSpace,
): Promise<void> {
  const kind = getPgvectorType(space.dimensions);
  if (await isPrepared(ask, tables, space)) return;
  await ensureExtension(ask);
  await inTransaction(ask, [], async () => {
    await ask("SELECT pg_advisory_xact_lock(hashtextextended($1, 0))", [`keepsake ${tables.entries}`]);
    if (await isPrepared(ask, tables, space)) return;
    await ask(`DROP TABLE IF EXISTS ${tables.entries}`);
    await ask(
      `CREATE TABLE ${tables.entries} (owner_key text COLLATE "C", id text COLLATE "C", ` +
        `vector ${kind}(${space.dimensions}) NOT NULL, type text NOT NULL, owner text NOT NULL, ` +
        "at double precision NOT NULL, kind text, session text, PRIMARY KEY (owner_key, id))",
    );
    // Samples for plans stand in the server's catalogue, which no erasure reaches.
    await ask(`ALTER TABLE ${tables.entries} ALTER vector SET STATISTICS 0`);
    await ask(`CREATE INDEX ON ${tables.entries} USING hnsw (vector ${kind}_cosine_ops)`);
    await ask(
      `CREATE TABLE IF NOT EXISTS ${tables.space} ` +
        "(one boolean PRIMARY KEY DEFAULT true CHECK (one), fingerprint text NOT NULL, dimensions integer NOT NULL)",
    );
    await ask(
      `INSERT INTO ${tables.space} (fingerprint, dimensions) VALUES ($1, $2) ` +
        "ON CONFLICT (one) DO UPDATE SET fingerprint = excluded.fingerprint, dimensions = excluded.dimensions",
      [space.fingerprint, space.dimensions],
    );
  });
}

async function isPrepared(
  ask: RunIndexQuery,
  { entries, space: table }: IndexTables,
  space: VectorIndexSpace,
): Promise<boolean> {
  const [there] = await ask("SELECT to_regclass($1) AS entries, to_regclass($2) AS space", [entries, table]);
  if (!there?.entries || !there.space) return false;
  const [held] = await ask(`SELECT fingerprint, dimensions FROM ${table}`);
  return held?.fingerprint === space.fingerprint && Number(held.dimensions) === space.dimensions;
}

async function ensureExtension(ask: RunIndexQuery): Promise<void> {
  try {
    await ask("CREATE EXTENSION IF NOT EXISTS vector");
  } catch (error) {
    // Two at once: the other one has made it.
    if (getIndexErrorCode(error) === "23505" || getIndexErrorCode(error) === "42710") return;
    if (getIndexErrorCode(error) === "" || getIndexErrorCode(error).startsWith("08")) throw error;
    throw new MemoryError(
      "unsupported",
      "The index in PostgreSQL needs the extension pgvector (0.8 or newer). Install it, and have an administrator run " +
        "CREATE EXTENSION vector in this database.",
    );
  }
}

/** Asks on one connection. */
type RunIndexQuery = (text: string, values?: unknown[]) => Promise<readonly IndexRow[]>;

/** Runs work on a connection, within a deadline. */
type RunOnIndexConnection = <Value>(
  signal: AbortSignal | undefined,
  work: (ask: RunIndexQuery) => Promise<Value>,
) => Promise<Value>;

const AS_TEXT = { getTypeParser: () => (text: string) => text };

/**
 * Runs pieces of work on connections of a pool, each within so long (ms) altogether. The server ends a statement that takes longer; a
 * connection that gave no answer is closed, and never given back.
 */
export function createIndexRunner(pool: IndexPool, timeoutMs: number): RunOnIndexConnection {
  handlePoolErrors(pool);
  return async (signal, work) => {
    signal?.throwIfAborted();
    const end = performance.now() + timeoutMs;
    const left = (): number => Math.max(1, end - performance.now());
    const connecting = pool.connect();
    let connection: IndexConnection | undefined;
    try {
      connection = await withTimeout(connecting, left(), createTimeoutError, signal);
    } catch (error) {
      // It may come yet: nobody waits for it then, and it goes back.
      connecting.then((one) => one.release()).catch(() => {});
      throw toIndexError(error, signal);
    }
    const held = connection;
    handleConnectionErrors(held);
    const ask: RunIndexQuery = async (text, values = []) =>
      (await held.query({ text, types: AS_TEXT, ...(values.length > 0 ? { values } : {}) })).rows;
    try {
      const value = await withTimeout(work(ask), left(), createTimeoutError, signal);
      held.release();
      return value;
    } catch (error) {
      held.release(!isServerAnswer(error));
      throw toIndexError(error, signal);
    }
  };
}

/** All of it, or nothing. */
export async function inTransaction<Value>(
  ask: RunIndexQuery,
  settings: readonly string[],
  work: () => Promise<Value>,
): Promise<Value> {
  await ask(["BEGIN", ...settings.map((one) => `SET LOCAL ${one}`)].join("; "));
  try {
    const value = await work();
    await ask("COMMIT");
    return value;
  } catch (error) {
    if (isServerAnswer(error)) await ask("ROLLBACK").catch(() => {});
    throw error;
  }
}

/** Codes of PostgreSQL (SQLSTATE, Appendix A of its manual) that are no trouble that passes. */
const LASTING_ERRORS: { readonly [code: string]: readonly ["forbidden" | "invalid_input", string] } = {
  "28": ["forbidden", "it does not take this name and password"],
  "42501": ["forbidden", "the role may not do this: it needs a schema where it may make tables"],
  "22": ["invalid_input", "it does not take such a value"],
};

function toIndexError(error: unknown, signal: AbortSignal | undefined): unknown {
  if (signal?.aborted) return signal.reason;
  if (isMemoryError(error) || error instanceof TypeError || error instanceof RangeError) return error;
  const code = getIndexErrorCode(error);
  const [known, what] = (code && (LASTING_ERRORS[code] ?? LASTING_ERRORS[code.slice(0, 2)])) || [
    "unavailable",
    "",
  ];
  const said = what === "" ? `it cannot be asked now${code === "" ? "" : ` (${code})`}` : what;
  return new MemoryError(known as "unavailable", `The index in PostgreSQL: ${said}.`);
}

/** Whether the server answered with an error: its connection is good for more. */
function isServerAnswer(error: unknown): boolean {
  return isMemoryError(error) ? error.code !== "unavailable" : /^[0-9A-Z]{5}$/.test(getIndexErrorCode(error));
}

/** The code that the server, or the system, gave. */
function getIndexErrorCode(error: unknown): string {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : "";
}

function createTimeoutError(): MemoryError {
  return new MemoryError("unavailable", "The index in PostgreSQL gave no answer in time.");
}

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
