import { matchesFilter } from "../../domain/filters/metadata-filter.ts";
import { toScopeKey } from "../../domain/scope.ts";
import { invalid, MemoryError } from "../../errors.ts";
import type { CallOptions } from "../../ports/call-options.ts";
import type {
  VectorIndex,
  VectorIndexEntry,
  VectorIndexSpace,
  VectorIndexUser,
} from "../../ports/vector-index.ts";

type StoredVectorEntry = Pick<VectorIndexEntry, "id" | "vector" | "metadata">;

/** Entries in one page of `entries`. */
const PAGE_ENTRIES = 500;

/** The reference vector index: in process, not persistent, exact, and short enough to read as the specification. */
export function createInMemoryVectorIndex({ name = "memory" }: { readonly name?: string } = {}): VectorIndex {
  const users = new Map<string, Map<string, StoredVectorEntry>>();
  let space: VectorIndexSpace | undefined;
  let isClosed = false;

  /** Checks that every call makes first. */
  const begin = ({ signal }: CallOptions = {}): void => {
    signal?.throwIfAborted();
    if (isClosed) throw new MemoryError("unavailable", `the index "${name}" is closed. Open it again.`);
  };
  const of = (user: VectorIndexUser): Map<string, StoredVectorEntry> =>
    users.get(toScopeKey(user)) ?? new Map<string, StoredVectorEntry>();
  const checkLength = (vector: Float32Array): void => {
    if (!space) throw invalid(`the index "${name}" is not prepared: call prepare() first.`);
    if (vector.length === space.dimensions) return;
    throw invalid(`the index "${name}" takes vectors of ${space.dimensions} numbers, not ${vector.length}.`);
  };

  return {
    name,

    async prepare(wanted, options) {
      begin(options);
      if (space?.fingerprint !== wanted.fingerprint || space.dimensions !== wanted.dimensions) users.clear();
      space = { ...wanted };
    },

    async put(user, entries, options) {
      begin(options);
      for (const { vector } of entries) checkLength(vector);
      const stored = of(user);
      for (const { id, vector, metadata } of entries) {
        stored.set(id, { id, vector: vector.slice(), metadata: { ...metadata } });
      }
      users.set(toScopeKey(user), stored);
    },

    async drop(user, ids, options) {
      begin(options);
      const stored = of(user);
      for (const id of ids) stored.delete(id);
    },

    async dropUser(user, options) {
      begin(options);
      users.delete(toScopeKey(user));
    },

    async nearest(user, vector, { limit, where = {}, ...options }) {
      begin(options);
      checkLength(vector);
      return [...of(user).values()]
        .filter(({ metadata }) => matchesFilter(where, { ...metadata }))
        .map(({ id, vector: other }) => ({ id, score: computeCosine(vector, other) }))
        .sort((one, other) => other.score - one.score)
        .slice(0, limit);
    },

    async held(user, ids, options) {
      begin(options);
      const stored = of(user);
      return [...new Set(ids)].filter((id) => stored.has(id));
    },

    async *entries(user, options) {
      begin(options);
      const ids = [...of(user).keys()];
      for (let from = 0; from < ids.length; from += PAGE_ENTRIES) {
        begin(options);
        yield ids.slice(from, from + PAGE_ENTRIES);
      }
    },

    async clear(options) {
      begin(options);
      users.clear();
    },

    async close() {
      isClosed = true;
      users.clear();
    },
  };
}

/** The cosine of two unit vectors, clamped to -1 and 1 because of rounding. */
function computeCosine(one: Float32Array, other: Float32Array): number {
  const product = one.reduce((sum, part, i) => sum + part * (other[i] ?? 0), 0);
  return Math.max(-1, Math.min(1, product));
}
