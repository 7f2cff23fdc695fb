import { invalid, MemoryError } from "../../errors.ts";
import type { Clock } from "../../ports/clock.ts";
import type { RateLimits } from "../../ports/rate-limits.ts";
import { shortHash } from "../shared/scope-name.ts";
import { asking } from "./asking.ts";
import type { RedisOptions } from "./client.ts";
import { PREFIX } from "./keys.ts";
import { NOW, nowOf, script } from "./script.ts";

export interface RedisRateLimitsOptions extends RedisOptions {
  readonly perMinute: number;
  /** In place of the Redis server's clock, for tests. */
  readonly clock?: Clock;
}

/** A bucket that nobody asked for so long, in ms, is full again: as good as none. */
const FULL_AGAIN_MS = 60_000;

/** Takes one from the bucket KEYS[1] (`tokens` as of `at`) that fills by ARGV[2] a minute; gives how many ms to wait. */
const TAKE = script(`${NOW}
local most = tonumber(ARGV[2])
local per_ms = most / 60000
local held = redis.call('HMGET', KEYS[1], 'tokens', 'at')
local tokens = tonumber(held[1]) or most
local at = tonumber(held[2]) or now
tokens = math.min(most, tokens + math.max(0, now - at) * per_ms)
local wait = 0
if tokens < 1 then
  wait = math.max(1, math.ceil((1 - tokens) / per_ms - 0.000001))
else
  tokens = tokens - 1
end
redis.call('HSET', KEYS[1], 'tokens', string.format('%.9f', tokens), 'at', string.format('%.0f', now))
redis.call('PEXPIRE', KEYS[1], ${FULL_AGAIN_MS})
return wait
`);

/**
 * Token buckets that several servers share, by the clock of the Redis server: each key may ask `perMinute` times in one go, and
 * gets as many back over a minute. `unavailable` or `forbidden` where Redis cannot be asked.
 */
export function redisRateLimits(options: RedisRateLimitsOptions): RateLimits {
  const { perMinute, clock, prefix = PREFIX } = options;
  if (!Number.isInteger(perMinute) || perMinute < 1)
    throw invalid("perMinute must be a whole number from 1.");
  const ask = asking(options, "Redis (rate limits)");
  return {
    name: "redis",
    async take(key) {
      const wait = Number(await TAKE(ask, [`${prefix}:rate:${shortHash(key)}`], [nowOf(clock), perMinute]));
      if (Number.isFinite(wait)) return wait;
      throw new MemoryError(
        "unavailable",
        "Redis (rate limits) gave no number. Is the prefix used by others?",
      );
    },
  };
}
