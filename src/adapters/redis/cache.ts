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

export interface RedisCacheOptions extends RedisOptions {
  /** How long an entry is kept that names no time of its own, in ms (an hour). */
  readonly ttlMs?: number;
  /** Larger entries are left out, in bytes (8 MB). */
  readonly entryBytes?: number;
  /** In place of the Redis server's clock, for tests. */
  readonly clock?: Clock;
}

/** Of one user: those whose time is over first make room. */
const MOST_ENTRIES = 200;
/** Above this share of its memory a server is spared: sessions and queues need the rest more. */
const FULL_SHARE = 0.8;
/** So often it is looked how full it is, in ms. */
const ROOM_CHECK_MS = 5000;

/**
 * A user's entries. KEYS: 1 the bar; 2 a hash of entries; 3 a sorted set of them by when their time is over. Both expire with the
 * last of them.
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

/** ARGV: 1 now, 2 the revision, 3 the entry, 4 for how many ms, 5 the bytes. Without bytes, it is taken out. */
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

/** ARGV: 1 now, 2 the revision of the erasure. Gives how many entries went, and whether the bar is up. */
const DROP_SCRIPT = createRedisScript(`${NOW_LUA}${MARK_ERASED_LUA}
local gone = redis.call('HLEN', KEYS[2])
redis.call('DEL', KEYS[2], KEYS[3])
return { gone, bar() }
`);

/** How often a drop that found the server full puts its bar up again, for it has made room itself. */
const MAX_ATTEMPTS = 2;

/** A cache on Redis: several servers share it. By the clock of the Redis server, and with regard to its memory. */
export function redisCache(options: RedisCacheOptions): Cache {
  const { clock, prefix = DEFAULT_PREFIX, ttlMs: own = 3_600_000, entryBytes = 8_000_000 } = options;
  const ask = createRedisSender({ timeoutMs: 50, ...options }, "Redis (cache)");
  const keysOf = (of: { project: string; user: string }): string[] => [
    toErasureKey(prefix, of),
    toUserKey(prefix, of, "cache"),
    toUserKey(prefix, of, "cache:till"),
  ];
  const hasRoom = createRoomWatcher(ask);

  return {
    name: "redis",
    ttlMs: own,

    async get(of, name, { signal } = {}) {
      const args = [toNowArgument(clock), "", toField(name)];
      const found = await GET_SCRIPT(ask, keysOf(of), args, { signal, binary: true });
      return found instanceof Uint8Array ? new Uint8Array(found) : undefined;
    },

    async put(of, name, bytes, { signal, ttlMs = own, revision } = {}) {
      signal?.throwIfAborted();
      const isKept = bytes.length <= entryBytes && (await hasRoom());
      const what = isKept ? [Buffer.from(bytes)] : [];
      const args = [toNowArgument(clock), String(revision ?? ""), toField(name), ttlMs, ...what];
      await PUT_SCRIPT(ask, keysOf(of), args, { signal });
    },

    async drop(of, { signal, revision } = {}) {
      let sum = 0;
      for (let tries = 0; tries < MAX_ATTEMPTS; tries += 1) {
        const args = [toNowArgument(clock), String(revision ?? "")];
        const answer = await DROP_SCRIPT(ask, keysOf(of), args, { signal, isUrgent: true });
        const [gone, isBarred] = Array.isArray(answer) ? answer.map(Number) : [];
        sum += gone ?? 0;
        if (isBarred === 1) return sum;
      }
      // As long as it is full, what is on its way is kept out by that.
      return sum;
    },

    remains: () => readPersistence(ask),

    async close() {
      // The client is the caller's.
    },
  };
}

/** Whether there is room, as of a few seconds ago at most. Where it cannot be told, the next command tells. */
function createRoomWatcher(ask: Parameters<typeof readMemoryUse>[0]): () => Promise<boolean> {
  let lookedAt = Number.NEGATIVE_INFINITY;
  let looking: Promise<boolean> | undefined;
  const look = async (): Promise<boolean> => {
    const { bytes, most } = await readMemoryUse(ask).catch(
      () => ({ bytes: 0 }) as { bytes: number; most?: number },
    );
    return most === undefined || bytes < most * FULL_SHARE;
  };
  return () => {
    if (!looking || performance.now() - lookedAt > ROOM_CHECK_MS) {
      lookedAt = performance.now();
      looking = look();
    }
    return looking;
  };
}
