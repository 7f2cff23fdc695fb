import type { Cache } from "../../ports/cache.ts";
import type { Clock } from "../../ports/system.ts";
import type { RedisOptions } from "./client.ts";
import {
  createRedisScript,
  createRedisSender,
  DEFAULT_PREFIX,
  IS_ERASED_LUA,
  MARK_ERASED_LUA,
  NOW_LUA,
  readMemoryUse,
  readPersistence,
  toErasureKey,
  toField,
  toNowArgument,
  toUserKey,
} from "./client.ts";

/** Options of `redisCache`. */
export interface RedisCacheOptions extends RedisOptions {
  /** Lifetime in ms of an entry without its own (default: one hour). */
  readonly ttlMs?: number;
  /** Entries larger than this many bytes are not cached (default: 8 MB). */
  readonly entryBytes?: number;
  /** Replaces the Redis server's clock, for tests. */
  readonly clock?: Clock;
}

/** The limit of entries per user; those that expire first are evicted. */
const MOST_ENTRIES = 200;
/** Above this share of the server's memory, nothing is cached: sessions and queues need the rest more. */
const FULL_SHARE = 0.8;
/** How often the memory use is checked, in ms. */
const ROOM_CHECK_MS = 5000;

/**
 * A user's entries. KEYS: 1 the erasure mark; 2 a hash of entries; 3 a sorted set of entries by expiry. Both expire with the last
 * entry.
 */
const TAKE_OUT = `
local function take_out(name)
  redis.call('ZREM', KEYS[3], name)
  return redis.call('HDEL', KEYS[2], name)
end
`;

/** ARGV: 1 now, 2 unused, 3 the entry. */
const GET_SCRIPT = createRedisScript(`${NOW_LUA}
local till = tonumber(redis.call('ZSCORE', KEYS[3], ARGV[3]) or '')
if till and till > now then return redis.call('HGET', KEYS[2], ARGV[3]) end
return nil
`);

/** ARGV: 1 now, 2 the revision, 3 the entry, 4 its lifetime in ms, 5 the bytes. Without bytes, the entry is removed. */
const PUT_SCRIPT = createRedisScript(`${NOW_LUA}${IS_ERASED_LUA}${TAKE_OUT}
if barred() then return 0 end
if not ARGV[5] then return take_out(ARGV[3]) end
for _, name in ipairs(redis.call('ZRANGEBYSCORE', KEYS[3], '-inf', now)) do take_out(name) end
redis.call('HSET', KEYS[2], ARGV[3], ARGV[5])
redis.call('ZADD', KEYS[3], now + tonumber(ARGV[4]), ARGV[3])
while redis.call('ZCARD', KEYS[3]) > ${MOST_ENTRIES} do
  take_out(redis.call('ZRANGE', KEYS[3], 0, 0)[1])
end
local last = redis.call('ZRANGE', KEYS[3], -1, -1, 'WITHSCORES')[2]
for i = 2, 3 do redis.call('PEXPIRE', KEYS[i], math.max(1, tonumber(last) - now)) end
return 1
`);

/** ARGV: 1 now, 2 the revision of the erasure. Gives the number of removed entries, and whether the mark is set. */
const DROP_SCRIPT = createRedisScript(`${NOW_LUA}${MARK_ERASED_LUA}
local gone = redis.call('HLEN', KEYS[2])
redis.call('DEL', KEYS[2], KEYS[3])
return { gone, bar() }
`);

/** Attempts to set the mark if the server is full, because the drop itself frees memory. */
const MAX_ATTEMPTS = 2;

/** A cache on Redis that several servers share. It uses the Redis server's clock, and spares its memory. */
export function redisCache(options: RedisCacheOptions): Cache {
  const { clock, prefix = DEFAULT_PREFIX, ttlMs: defaultTtlMs = 3_600_000, entryBytes = 8_000_000 } = options;
  const send = createRedisSender({ timeoutMs: 50, ...options }, "Redis (cache)");
  const keysOf = (of: { project: string; user: string }): string[] => [
    toErasureKey(prefix, of),
    toUserKey(prefix, of, "cache"),
    toUserKey(prefix, of, "cache:till"),
  ];
  const hasRoom = createRoomWatcher(send);

  return {
    name: "redis",
    ttlMs: defaultTtlMs,

    async get(of, name, { signal } = {}) {
      const args = [toNowArgument(clock), "", toField(name)];
      const found = await GET_SCRIPT(send, keysOf(of), args, { signal, binary: true });
      return found instanceof Uint8Array ? new Uint8Array(found) : undefined;
    },

    async put(of, name, bytes, { signal, ttlMs = defaultTtlMs, revision } = {}) {
      signal?.throwIfAborted();
      const isKept = bytes.length <= entryBytes && (await hasRoom());
      const what = isKept ? [Buffer.from(bytes)] : [];
      const args = [toNowArgument(clock), String(revision ?? ""), toField(name), ttlMs, ...what];
      await PUT_SCRIPT(send, keysOf(of), args, { signal });
    },

    async drop(of, { signal, revision } = {}) {
      let sum = 0;
      for (let tries = 0; tries < MAX_ATTEMPTS; tries += 1) {
        const args = [toNowArgument(clock), String(revision ?? "")];
        const answer = await DROP_SCRIPT(send, keysOf(of), args, { signal, isUrgent: true });
        const [gone, isBarred] = Array.isArray(answer) ? answer.map(Number) : [];
        sum += gone ?? 0;
        if (isBarred === 1) return sum;
      }
      // While the server is full, late entries cannot be stored either.
      return sum;
    },

    remains: () => readPersistence(send),

    async close() {
      // The client belongs to the caller.
    },
  };
}

/** Whether the server has room, at most a few seconds ago. If that is unknown, assumes so: the next command will show it. */
function createRoomWatcher(send: Parameters<typeof readMemoryUse>[0]): () => Promise<boolean> {
  let checkedAt = Number.NEGATIVE_INFINITY;
  let checking: Promise<boolean> | undefined;
  const check = async (): Promise<boolean> => {
    const { bytes, most } = await readMemoryUse(send).catch(
      () => ({ bytes: 0 }) as { bytes: number; most?: number },
    );
    return most === undefined || bytes < most * FULL_SHARE;
  };
  return () => {
    if (!checking || performance.now() - checkedAt > ROOM_CHECK_MS) {
      checkedAt = performance.now();
      checking = check();
    }
    return checking;
  };
}
