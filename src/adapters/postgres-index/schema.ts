import { invalid, MemoryError } from "../../errors.ts";
import type { VectorIndexSpace } from "../../ports/follower.ts";
import { getIndexErrorCode, inTransaction, type RunIndexQuery } from "./run.ts";

/** The tables of one index. */
export interface IndexTables {
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
