import { checkCount } from "../../domain/limits.ts";
import { invalid, MemoryError } from "../../errors.ts";
import type { VectorIndex, VectorIndexEntry, VectorIndexSpace } from "../../ports/vector-index.ts";
import { toScopeHash } from "../shared/vector-request.ts";
import type { IndexPool } from "./tables.ts";
import {
  createIndexRunner,
  getPgvectorType,
  inTransaction,
  type PgvectorType,
  prepareTables,
  toTableNames,
} from "./tables.ts";
import { toWhereSql } from "./where.ts";

export type { IndexConnection, IndexPool, IndexQuery, IndexRow } from "./tables.ts";

/** Options of `createPgvectorIndex`. */
export interface PgvectorIndexOptions {
  /** A `Pool` of the package `pg` that belongs to the caller; it stays open. */
  readonly pool: IndexPool;
  /** The prefix of our two tables (default: "keepsake"). Two programs on one schema need different prefixes. */
  readonly prefix?: string;
  /** Timeout of one call, in ms (default: 30,000). */
  readonly timeoutMs?: number;
}

/** Entries per statement, and ids per page. */
const ENTRIES_PER_STATEMENT = 500;
const PAGE_IDS = 1000;
/** The limit of pgvector. */
const MOST_SEARCHED = 1000;
/** The most entries of all users that a search examines for one user before it stops. */
const MOST_SCANNED = 200_000;

/**
 * A vector index with pgvector's HNSW (0.8 or newer), in its own table, in the database of the store or any other. If the user has few
 * of the entries, PostgreSQL scans those. Otherwise it walks the index until it has found enough of the user's. Throws
 * `invalid_input` for invalid options.
 */
export function createPgvectorIndex(options: PgvectorIndexOptions): VectorIndex {
  const { pool, prefix = "keepsake" } = options;
  if (!/^[a-z_][a-z0-9_]{0,39}$/.test(prefix)) {
    throw invalid(
      "prefix: use at most 40 lowercase letters, digits and underscores, not beginning with a digit.",
    );
  }
  const run = createIndexRunner(pool, checkCount(options.timeoutMs ?? 30_000, "timeoutMs", 1, 600_000));
  const tables = toTableNames(prefix);
  const { entries } = tables;
  let space: VectorIndexSpace | undefined;
  let isClosed = false;

  const begin = (signal: AbortSignal | undefined): void => {
    signal?.throwIfAborted();
    if (isClosed) throw new MemoryError("unavailable", "The index in PostgreSQL is closed. Open it again.");
  };
  const checkVector = ({ length }: Float32Array): PgvectorType => {
    if (!space) throw invalid("The index in PostgreSQL is not prepared: call prepare() first.");
    if (length === space.dimensions) return getPgvectorType(length);
    throw invalid(`The index in PostgreSQL takes vectors of ${space.dimensions} numbers, not ${length}.`);
  };

  return {
    name: "pgvector",
    remains: [{ place: `dead rows of the table ${entries}, until PostgreSQL vacuums it, and its log (WAL)` }],

    async prepare(wanted, { signal } = {}) {
      begin(signal);
      await run(signal, (query) => prepareTables(query, tables, wanted));
      space = { ...wanted };
    },

    async put(of, given, { signal } = {}) {
      begin(signal);
      // Of two with one id, the last wins, and a statement must not contain both.
      const unique = [...new Map(given.map((one) => [one.id, one])).values()];
      const [kind] = given.map(({ vector }) => checkVector(vector));
      const key = toScopeHash(of);
      for (let at = 0; at < unique.length; at += ENTRIES_PER_STATEMENT) {
        const batch = unique.slice(at, at + ENTRIES_PER_STATEMENT);
        await run(signal, (query) =>
          query(buildPutSql(entries, kind ?? "vector"), [key, ...toColumns(batch)]),
        );
      }
    },

    async drop(of, ids, { signal } = {}) {
      begin(signal);
      if (ids.length === 0) return;
      await run(signal, (query) =>
        query(`DELETE FROM ${entries} WHERE owner_key = $1 AND id = ANY ($2::text[])`, [
          toScopeHash(of),
          [...ids],
        ]),
      );
    },

    async dropUser(of, { signal } = {}) {
      begin(signal);
      await run(signal, (query) => query(`DELETE FROM ${entries} WHERE owner_key = $1`, [toScopeHash(of)]));
    },

    async nearest(of, vector, { limit, where = {}, signal }) {
      begin(signal);
      const kind = checkVector(vector);
      const values: unknown[] = [toScopeHash(of), toVectorText(vector), limit];
      const filter = toWhereSql(where, values);
      const rows = await run(signal, (query) =>
        inTransaction(query, toSearchSettings(limit), () =>
          query(
            `SELECT id, 1 - (vector <=> $2::${kind}) AS score FROM ${entries} ` +
              `WHERE owner_key = $1 AND ${filter} ORDER BY vector <=> $2::${kind} LIMIT $3`,
            values,
          ),
        ),
      );
      return rows.map(({ id, score }) => ({
        id: id ?? "",
        score: Math.max(-1, Math.min(1, Number(score))),
      }));
    },

    async held(of, ids, { signal } = {}) {
      begin(signal);
      if (ids.length === 0) return [];
      const rows = await run(signal, (query) =>
        query(`SELECT id FROM ${entries} WHERE owner_key = $1 AND id = ANY ($2::text[])`, [
          toScopeHash(of),
          [...ids],
        ]),
      );
      return rows.map(({ id }) => id ?? "");
    },

    async *entries(of, { signal } = {}) {
      let last = "";
      for (;;) {
        begin(signal);
        const after = last;
        const rows = await run(signal, (query) =>
          query(`SELECT id FROM ${entries} WHERE owner_key = $1 AND id > $2 ORDER BY id LIMIT ${PAGE_IDS}`, [
            toScopeHash(of),
            after,
          ]),
        );
        if (rows.length > 0) yield rows.map(({ id }) => id ?? "");
        if (rows.length < PAGE_IDS) return;
        last = rows.at(-1)?.id ?? "";
      }
    },

    async clear({ signal } = {}) {
      begin(signal);
      await run(signal, (query) => query(`TRUNCATE ${entries}`));
    },

    async close() {
      isClosed = true;
    },
  };
}

/** A filtered search gives too few hits unless it continues iteratively (pgvector 0.8). */
function toSearchSettings(limit: number): string[] {
  return [
    `hnsw.ef_search = ${Math.max(1, Math.min(MOST_SEARCHED, 2 * limit))}`,
    "hnsw.iterative_scan = strict_order",
    `hnsw.max_scan_tuples = ${MOST_SCANNED}`,
  ];
}

function buildPutSql(table: string, kind: PgvectorType): string {
  return (
    `INSERT INTO ${table} (owner_key, id, vector, type, owner, at, kind, session) ` +
    `SELECT $1, id, vector::${kind}, type, owner, at, kind, session FROM unnest($2::text[], $3::text[], $4::text[], ` +
    "$5::text[], $6::double precision[], $7::text[], $8::text[]) AS put (id, vector, type, owner, at, kind, session) " +
    "ON CONFLICT (owner_key, id) DO UPDATE SET vector = excluded.vector, type = excluded.type, owner = excluded.owner, " +
    "at = excluded.at, kind = excluded.kind, session = excluded.session"
  );
}

function toColumns(entries: readonly VectorIndexEntry[]): unknown[] {
  return [
    entries.map(({ id }) => id),
    entries.map(({ vector }) => toVectorText(vector)),
    entries.map(({ metadata }) => metadata.type),
    entries.map(({ metadata }) => metadata.owner),
    entries.map(({ metadata }) => metadata.at),
    entries.map(({ metadata }) => metadata.kind ?? null),
    entries.map(({ metadata }) => metadata.session ?? null),
  ];
}

function toVectorText(vector: Float32Array): string {
  return `[${vector.join(",")}]`;
}

/** Earlier names, kept until version 1.0. */
export { createPgvectorIndex as postgresFollower, type PgvectorIndexOptions as PostgresFollowerOptions };
