import { createHash } from "node:crypto";
import type { Scope } from "../../domain/scope.ts";
import { toCanonicalJson } from "../../domain/text/canonical-json.ts";
import type { Cache } from "../../ports/cache.ts";
import type { CallOptions } from "../../ports/call-options.ts";
import type { Embedder } from "../../ports/language/embedder.ts";
import type { MemoryStore } from "../../ports/memory-store.ts";
import type { Secret } from "../../ports/system.ts";
import type { Meter } from "../../ports/telemetry.ts";
import { embedQuery } from "../query-embedding.ts";
import { bytesOfIndex, type EmbeddingSpace, type SearchIndex } from "../search-index/search-index.ts";
import { deserializeIndex, serializeIndex } from "../search-index/serialization.ts";
import { tryStore } from "./try-store.ts";

/** Search columns of frequent users, shared between servers, so that another server need not build them. */
export interface SharedSearchIndexes {
  /** The columns that another server shared, at this revision or an older one. */
  take(scope: Scope, revision: number): Promise<SearchIndex | undefined>;
  /** Shares frequently used columns if that is worthwhile; no caller waits for it. */
  offer(scope: Scope, searchIndex: SearchIndex, seen: IndexUsage): void;
}

/** What this process knows about one user's columns. */
interface IndexUsage {
  /** Number of requests for the columns. */
  uses: number;
  /** Number of units when the columns were last shared or loaded. */
  sharedUnits?: number;
}

export interface SharingOptions {
  readonly cache: Cache;
  /** Columns are shared after this many uses (5). */
  readonly hotAfter?: number;
}

const HOT_AFTER_USES = 5;
/** With fewer new units than this, or than a tenth of all, sharing is not worthwhile. */
const WORTH_SHARING = 200;
const MAX_SHARED_BYTES = 8_000_000;
/**
 * After sharing, a pause of this many times its duration: a server that was just started has all users to
 * share.
 */
const REST_FACTOR = 29;
const STAMP_BYTES = 32;
const INDEX_CACHE_LABELS = { cache: "shared users" } as const;

export function createSharedSearchIndexes(
  store: Pick<MemoryStore, "log">,
  space: EmbeddingSpace,
  { cache, hotAfter = HOT_AFTER_USES, meter }: SharingOptions & { readonly meter: Meter },
): SharedSearchIndexes {
  const name = `searchIndex ${space.fingerprint}`;
  const stampOf = async (scope: Scope, revision: number): Promise<Buffer> => {
    const [entry] = await store.log(scope, { before: revision + 1, limit: 1 });
    return createHash("sha256")
      .update(toCanonicalJson(entry ?? null))
      .digest();
  };
  const share = async (
    { project, user }: Scope,
    searchIndex: SearchIndex,
    seen: IndexUsage,
  ): Promise<void> => {
    const { revision } = searchIndex;
    const { count } = searchIndex.units;
    const packed = await serializeIndex(searchIndex);
    if (!packed || packed.length > MAX_SHARED_BYTES) return;
    seen.sharedUnits = count;
    const bytes = Buffer.concat([await stampOf({ project, user }, revision), packed]);
    await cache.put({ project, user }, name, bytes, { revision });
  };
  let last: Promise<void> = Promise.resolve();
  const shareInTurn = async (scope: Scope, searchIndex: SearchIndex, usage: IndexUsage): Promise<void> => {
    const begun = performance.now();
    if (searchIndex.isReleased) usage.sharedUnits = 0;
    else await tryStore({ meter }, "cache", () => share(scope, searchIndex, usage));
    const rest = (performance.now() - begun) * REST_FACTOR;
    await new Promise<void>((resolve) => void setTimeout(resolve, rest).unref());
  };
  return {
    async take({ project, user }, revision) {
      const cached = await tryStore({ meter }, "cache", () => cache.get({ project, user }, name));
      const searchIndex = cached && deserializeIndex(cached.slice(STAMP_BYTES), space);
      // A restored store may reuse a revision number for other content.
      const isOurs =
        searchIndex &&
        searchIndex.revision <= revision &&
        (await stampOf({ project, user }, searchIndex.revision)).equals(cached.subarray(0, STAMP_BYTES));
      meter.count(isOurs ? "cache_hits_total" : "cache_misses_total", INDEX_CACHE_LABELS);
      return isOurs ? searchIndex : undefined;
    },
    offer(scope, searchIndex, seen) {
      seen.uses += 1;
      const units = searchIndex.units.count;
      const fresh = units - (seen.sharedUnits ?? 0);
      if (seen.uses < hotAfter || fresh < WORTH_SHARING || fresh < units / 10) return;
      if (bytesOfIndex(searchIndex) > MAX_SHARED_BYTES * 2) return;
      // Not again before it is done, or has failed and there are more units.
      seen.sharedUnits = units;
      // Outside the caller's own time.
      setImmediate(() => {
        last = last.then(() => shareInTurn(scope, searchIndex, seen));
      });
    },
  };
}

interface SharedVectorPorts {
  readonly embedder: Embedder;
  readonly store: MemoryStore;
  readonly cache?: Cache;
  readonly secret?: Secret;
  readonly meter?: Meter;
}

const VECTOR_CACHE_LABELS = { cache: "shared vectors" } as const;

/**
 * The vector of a query, as `embedQuery` gives it. A vector that any server recently requested from a remote
 * embedder comes from the shared cache. It is stored under a keyed hash of the query, only for the user who
 * asked.
 */
export async function getSharedQueryVector(
  ports: SharedVectorPorts,
  { project, user }: Scope,
  text: string,
  call: CallOptions = {},
): Promise<Float32Array | undefined> {
  const { embedder, store, cache, secret, meter } = ports;
  if (!cache || !secret || embedder.local) return embedQuery(embedder, text, call);
  const of = { project, user };
  const name = `vector ${embedder.fingerprint} ${secret.sign(`query ${text}`)}`;
  // Before the vector is computed, so that an erasure meanwhile prevents its storage.
  const [cached, revision] = await Promise.all([
    tryStore(ports, "cache", () => cache.get(of, name)),
    store.revision(of),
  ]);
  call.signal?.throwIfAborted();
  if (cached?.length === embedder.dimensions * Float32Array.BYTES_PER_ELEMENT) {
    meter?.count("cache_hits_total", VECTOR_CACHE_LABELS);
    return new Float32Array(cached.slice().buffer);
  }
  meter?.count("cache_misses_total", VECTOR_CACHE_LABELS);
  const vector = await embedQuery(embedder, text, call);
  if (vector) {
    const bytes = new Uint8Array(vector.buffer, vector.byteOffset, vector.byteLength).slice();
    void tryStore(ports, "cache", () => cache.put(of, name, bytes, { revision }));
  }
  return vector;
}
