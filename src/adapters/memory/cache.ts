import { toScopeKey } from "../../domain/scope.ts";
import type { Cache } from "../../ports/cache.ts";
import type { Clock } from "../../ports/system.ts";
import { createErasureBarriers } from "./erasure-barriers.ts";

/** Options of `memoryCache`. */
export interface MemoryCacheOptions {
  /** The current time, for expiry. */
  readonly clock: Clock;
  /** Lifetime in ms of an entry without its own (default: one hour). */
  readonly ttlMs?: number;
  /** Entries larger than this many bytes are not cached (default: 8 MB). */
  readonly entryBytes?: number;
  /** Total size of all entries in bytes (default: 64 MB); the oldest are evicted first. */
  readonly bytes?: number;
}

interface CachedBytes {
  readonly bytes: Uint8Array;
  readonly until: number;
}

/** Overhead of an entry, in addition to its bytes. */
const ENTRY_BYTES = 200;
/** No read takes longer than this, in ms. */
const BARRIER_MS = 86_400_000;

/** An in-process cache, the reference implementation of the port. */
export function memoryCache(options: MemoryCacheOptions): Cache {
  const {
    clock,
    ttlMs: defaultTtlMs = 3_600_000,
    entryBytes = 8_000_000,
    bytes: most = 64_000_000,
  } = options;
  const users = new Map<string, Map<string, CachedBytes>>();
  const barriers = createErasureBarriers(clock, BARRIER_MS);
  let totalBytes = 0;

  const take = (user: string, name: string): boolean => {
    const entries = users.get(user);
    const entry = entries?.get(name);
    if (!entry) return false;
    totalBytes -= entry.bytes.length + ENTRY_BYTES;
    entries?.delete(name);
    if (entries?.size === 0) users.delete(user);
    return true;
  };
  const makeRoom = (): void => {
    for (const [user, entries] of users) {
      for (const name of [...entries.keys()]) {
        if (totalBytes <= most) return;
        take(user, name);
      }
    }
  };

  return {
    name: "memory",
    ttlMs: defaultTtlMs,

    async get(of, name, { signal } = {}) {
      signal?.throwIfAborted();
      const entry = users.get(toScopeKey(of))?.get(name);
      return entry && entry.until > clock().getTime() ? entry.bytes.slice() : undefined;
    },

    async put(of, name, bytes, { signal, ttlMs = defaultTtlMs, revision } = {}) {
      signal?.throwIfAborted();
      const user = toScopeKey(of);
      if (barriers.isBlocked(user, revision)) return;
      take(user, name);
      if (bytes.length > entryBytes) return;
      const entries = users.get(user) ?? new Map<string, CachedBytes>();
      entries.set(name, { bytes: bytes.slice(), until: clock().getTime() + ttlMs });
      totalBytes += bytes.length + ENTRY_BYTES;
      users.delete(user);
      users.set(user, entries);
      makeRoom();
    },

    async drop(of, { signal, revision } = {}) {
      signal?.throwIfAborted();
      const user = toScopeKey(of);
      barriers.raise(user, revision);
      barriers.sweep();
      const names = [...(users.get(user)?.keys() ?? [])];
      for (const name of names) take(user, name);
      return names.length;
    },

    async remains() {
      return [];
    },

    async close() {
      users.clear();
      totalBytes = 0;
    },
  };
}
