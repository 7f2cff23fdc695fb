import { invalid, isMemoryError, MemoryError } from "../../errors.ts";
import type { VectorIndexSpace } from "../../ports/vector-index.ts";
import { withTimeout } from "../shared/model-calls/remote-call.ts";
import { handleConnectionErrors, handlePoolErrors } from "../shared/pool-connections.ts";

/** The tables of one index. */
interface IndexTables {
  readonly entries: string;
  /** One row: the space of the entries. */
  readonly space: string;
}

export function toTableNames(prefix: string): IndexTables {
  return { entries: `${prefix}_index`, space: `${prefix}_index_space` };
}

/** The most dimensions that pgvector can index, with 32-bit and with 16-bit numbers. */
const MAX_FULL_DIMENSIONS = 2000;
const MAX_HALF_DIMENSIONS = 4000;

export type PgvectorType = "vector" | "halfvec";

/** The column type for a number of dimensions. Throws `invalid_input` if no index supports it. */
export function getPgvectorType(dimensions: number): PgvectorType {
  if (dimensions <= MAX_FULL_DIMENSIONS) return "vector";
  if (dimensions <= MAX_HALF_DIMENSIONS) return "halfvec";
  throw invalid(`pgvector indexes vectors of at most ${MAX_HALF_DIMENSIONS} numbers, not ${dimensions}.`);
}

/** Creates the tables and their index if they do not exist, and recreates them for another space. One process at a time. */
export async function prepareTables(
  query: RunIndexQuery,
  tables: IndexTables,
  space: VectorIndexSpace,
): Promise<void> {
  const kind = getPgvectorType(space.dimensions);
  if (await isPrepared(query, tables, space)) return;
  await ensureExtension(query);
  await inTransaction(query, [], async () => {
    await query("SELECT pg_advisory_xact_lock(hashtextextended($1, 0))", [`keepsake ${tables.entries}`]);
    if (await isPrepared(query, tables, space)) return;
    await query(`DROP TABLE IF EXISTS ${tables.entries}`);
    await query(
      `CREATE TABLE ${tables.entries} (owner_key text COLLATE "C", id text COLLATE "C", ` +
        `vector ${kind}(${space.dimensions}) NOT NULL, type text NOT NULL, owner text NOT NULL, ` +
        "at double precision NOT NULL, kind text, session text, PRIMARY KEY (owner_key, id))",
    );
    // The server's catalogue keeps samples for its plans, which no erasure reaches.
    await query(`ALTER TABLE ${tables.entries} ALTER vector SET STATISTICS 0`);
    await query(`CREATE INDEX ON ${tables.entries} USING hnsw (vector ${kind}_cosine_ops)`);
    await query(
      `CREATE TABLE IF NOT EXISTS ${tables.space} ` +
        "(one boolean PRIMARY KEY DEFAULT true CHECK (one), fingerprint text NOT NULL, dimensions integer NOT NULL)",
    );
    await query(
      `INSERT INTO ${tables.space} (fingerprint, dimensions) VALUES ($1, $2) ` +
        "ON CONFLICT (one) DO UPDATE SET fingerprint = excluded.fingerprint, dimensions = excluded.dimensions",
      [space.fingerprint, space.dimensions],
    );
  });
}

async function isPrepared(
  query: RunIndexQuery,
  { entries, space: table }: IndexTables,
  space: VectorIndexSpace,
): Promise<boolean> {
  const [tables] = await query("SELECT to_regclass($1) AS entries, to_regclass($2) AS space", [
    entries,
    table,
  ]);
  if (!tables?.entries || !tables.space) return false;
  const [stored] = await query(`SELECT fingerprint, dimensions FROM ${table}`);
  return stored?.fingerprint === space.fingerprint && Number(stored.dimensions) === space.dimensions;
}

async function ensureExtension(query: RunIndexQuery): Promise<void> {
  try {
    await query("CREATE EXTENSION IF NOT EXISTS vector");
  } catch (error) {
    // A concurrent process created it.
    if (getIndexErrorCode(error) === "23505" || getIndexErrorCode(error) === "42710") return;
    if (getIndexErrorCode(error) === "" || getIndexErrorCode(error).startsWith("08")) throw error;
    throw new MemoryError(
      "unsupported",
      "The index in PostgreSQL needs the extension pgvector (0.8 or newer). Install it, and have an administrator run " +
        "CREATE EXTENSION vector in this database.",
    );
  }
}

/** Runs a query on one connection. */
type RunIndexQuery = (text: string, values?: unknown[]) => Promise<readonly IndexRow[]>;

/** Runs work on a connection, with a deadline. */
type RunOnIndexConnection = <Value>(
  signal: AbortSignal | undefined,
  work: (query: RunIndexQuery) => Promise<Value>,
) => Promise<Value>;

const AS_TEXT = { getTypeParser: () => (text: string) => text };

/**
 * Runs work on connections of a pool, each with a deadline in ms for all its statements. A connection that gave no answer is closed
 * instead of returned to the pool.
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
      // It may still arrive: then it is returned unused.
      connecting.then((one) => one.release()).catch(() => {});
      throw toIndexError(error, signal);
    }
    const acquired = connection;
    handleConnectionErrors(acquired);
    const query: RunIndexQuery = async (text, values = []) =>
      (await acquired.query({ text, types: AS_TEXT, ...(values.length > 0 ? { values } : {}) })).rows;
    try {
      const value = await withTimeout(work(query), left(), createTimeoutError, signal);
      acquired.release();
      return value;
    } catch (error) {
      acquired.release(!isServerAnswer(error));
      throw toIndexError(error, signal);
    }
  };
}

/** Runs work in a transaction. */
export async function inTransaction<Value>(
  query: RunIndexQuery,
  settings: readonly string[],
  work: () => Promise<Value>,
): Promise<Value> {
  await query(["BEGIN", ...settings.map((one) => `SET LOCAL ${one}`)].join("; "));
  try {
    const value = await work();
    await query("COMMIT");
    return value;
  } catch (error) {
    if (isServerAnswer(error)) await query("ROLLBACK").catch(() => {});
    throw error;
  }
}

/** SQLSTATE codes (PostgreSQL manual, appendix A) of permanent errors. */
const LASTING_ERRORS: { readonly [code: string]: readonly ["forbidden" | "invalid_input", string] } = {
  "28": ["forbidden", "the server rejects this name and password"],
  "42501": ["forbidden", "the role lacks a privilege: it needs a schema in which it may create tables"],
  "22": ["invalid_input", "the server rejects such a value"],
};

function toIndexError(error: unknown, signal: AbortSignal | undefined): unknown {
  if (signal?.aborted) return signal.reason;
  if (isMemoryError(error) || error instanceof TypeError || error instanceof RangeError) return error;
  const code = getIndexErrorCode(error);
  const [known, what] = (code && (LASTING_ERRORS[code] ?? LASTING_ERRORS[code.slice(0, 2)])) || [
    "unavailable",
    "",
  ];
  const problem = what === "" ? `the server cannot be reached${code === "" ? "" : ` (${code})`}` : what;
  return new MemoryError(known as "unavailable", `The index in PostgreSQL: ${problem}.`);
}

/** Whether the server answered with an error, so that its connection is still usable. */
function isServerAnswer(error: unknown): boolean {
  return isMemoryError(error) ? error.code !== "unavailable" : /^[0-9A-Z]{5}$/.test(getIndexErrorCode(error));
}

/** The error code of the server or the system. */
function getIndexErrorCode(error: unknown): string {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : "";
}

function createTimeoutError(): MemoryError {
  return new MemoryError("unavailable", "The index in PostgreSQL gave no answer in time. Try again later.");
}

/** The part of a `pg` pool that this adapter uses. Any object with these methods works. */
export interface IndexPool {
  connect(): Promise<IndexConnection>;
  on(event: "connect", listener: (connection: IndexConnection) => void): unknown;
}

/** A connection taken from the pool. */
export interface IndexConnection {
  on(event: "error", listener: (error: Error) => void): unknown;
  query(query: IndexQuery): Promise<{ readonly rows: readonly IndexRow[] }>;
  /** Returns it to the pool; with true, closes it. */
  release(isBroken?: boolean): void;
}

/** A statement, as the package `pg` takes it. */
export interface IndexQuery {
  readonly text: string;
  readonly values?: unknown[];
  /** How columns are parsed: always as the text that the server sends, whatever parsers the program has set. */
  readonly types?: { getTypeParser(): (text: string) => string };
}

/** Every value as text. */
export interface IndexRow {
  readonly [column: string]: string | null;
}
