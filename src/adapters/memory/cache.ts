import { toScopeKey } from "../../domain/scope.ts";
import type { Cache } from "../../ports/cache.ts";
import type { Clock } from "../../ports/system.ts";
import { createErasureBarriers } from "./erasure-barriers.ts";

export interface MemoryCacheOptions {
  readonly clock: Clock;
  /** How long an entry is kept that names no time of its own, in ms (an hour). */
  readonly ttlMs?: number;
  /** Larger entries are left out, in bytes (8 MB). */
  readonly entryBytes?: number;
  /** Of all entries (64 MB); those that were put first make room. */
  readonly bytes?: number;
}

interface CachedBytes {
  readonly bytes: Uint8Array;
  readonly until: number;
}

/** Of an entry beside its bytes. */
const ENTRY_BYTES = 200;
/** Nothing that was read so long ago is still on its way. */
const BARRIER_MS = 86_400_000;

/** A cache in this process, the reference of the port. */
export function memoryCache(options: MemoryCacheOptions): Cache {
  const { clock, ttlMs: own = 3_600_000, entryBytes = 8_000_000, bytes: most = 64_000_000 } = options;
  const users = new Map<string, Map<string, CachedBytes>>();
  const barred = createErasureBarriers(clock, BARRIER_MS);
  let held = 0;

  const take = (user: string, name: string): boolean => {
    const entries = users.get(user);
    const entry = entries?.get(name);
    if (!entry) return false;
    held -= entry.bytes.length + ENTRY_BYTES;
    entries?.delete(name);
    if (entries?.size === 0) users.delete(user);
    return true;
  };
  const makeRoom = (): void => {
    for (const [user, entries] of users) {
      for (const name of [...entries.keys()]) {
        if (held <= most) return;
        take(user, name);
      }
    }
  };

  return {
    name: "memory",
    ttlMs: own,

    async get(of, name, { signal } = {}) {
      signal?.throwIfAborted();
      const entry = users.get(toScopeKey(of))?.get(name);
      return entry && entry.until > clock().getTime() ? entry.bytes.slice() : undefined;
    },

    async put(of, name, bytes, { signal, ttlMs = own, revision } = {}) {
      signal?.throwIfAborted();
      const user = toScopeKey(of);
      if (barred.isBlocked(user, revision)) return;
      take(user, name);
      if (bytes.length > entryBytes) return;
      const entries = users.get(user) ?? new Map<string, CachedBytes>();
      entries.set(name, { bytes: bytes.slice(), until: clock().getTime() + ttlMs });
      held += bytes.length + ENTRY_BYTES;
      users.delete(user);
      users.set(user, entries);
      makeRoom();
    },

    async drop(of, { signal, revision } = {}) {
      signal?.throwIfAborted();
      const user = toScopeKey(of);
      barred.raise(user, revision);
      barred.sweep();
      const names = [...(users.get(user)?.keys() ?? [])];
      for (const name of names) take(user, name);
      return names.length;
    },

    async close() {
      users.clear();
      held = 0;
    },
  };
}
