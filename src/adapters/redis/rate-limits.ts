import { invalid, MemoryError } from "../../errors.ts";
import type { Allowance, RateLimits } from "../../ports/rate-limits.ts";
import type { Clock } from "../../ports/system.ts";
import { toShortHash } from "../shared/vector-request.ts";
import type { RedisOptions } from "./client.ts";
import { createRedisScript, createRedisSender, DEFAULT_PREFIX, NOW_LUA, toNowArgument } from "./client.ts";

/** Options of `redisRateLimits`. */
export interface RedisRateLimitsOptions extends RedisOptions {
  /** Requests that a key may make in a minute. */
  readonly perMinute: number;
  /** Replaces the Redis server's clock, for tests. */
  readonly clock?: Clock;
}

/** After this long without a request, in ms, a bucket is full again and can be deleted. */
const FULL_AGAIN_MS = 60_000;

/**
 * Takes ARGV[3] from the bucket KEYS[1] (`tokens` at time `at`), which fills by ARGV[2] a minute. Gives the wait in ms, and how many
 * whole tokens are left.
 */
const TAKE_SCRIPT = createRedisScript(`${NOW_LUA}
local most = tonumber(ARGV[2])
local per_ms = most / 60000
local held = redis.call('HMGET', KEYS[1], 'tokens', 'at')
local tokens = tonumber(held[1]) or most
local at = tonumber(held[2]) or now
tokens = math.min(most, tokens + math.max(0, now - at) * per_ms)
local wanted = math.min(tonumber(ARGV[3]), most)
local wait = 0
if tokens < wanted then
  wait = math.max(1, math.ceil((wanted - tokens) / per_ms - 0.000001))
else
  tokens = tokens - wanted
end
redis.call('HSET', KEYS[1], 'tokens', string.format('%.9f', tokens), 'at', string.format('%.0f', now))
redis.call('PEXPIRE', KEYS[1], ${FULL_AGAIN_MS})
return {wait, math.floor(tokens)}
`);

/**
 * Token buckets that several servers share, by the Redis server's clock. Each key may take `perMinute` units at once and regains as
 * many over a minute. Throws `unavailable` or `forbidden` if Redis cannot be used.
 */
export function redisRateLimits(options: RedisRateLimitsOptions): Required<RateLimits> {
  const { perMinute, clock, prefix = DEFAULT_PREFIX } = options;
  if (!Number.isInteger(perMinute) || perMinute < 1)
    throw invalid("perMinute must be a whole number from 1.");
  const send = createRedisSender(options, "Redis (rate limits)");
  const spend = async (key: string, amount: number): Promise<Allowance> => {
    const place = `${prefix}:rate:${toShortHash(key)}`;
    const answer = await TAKE_SCRIPT(send, [place], [toNowArgument(clock), perMinute, amount]);
    const [waitMs = Number.NaN, left = Number.NaN] = Array.isArray(answer) ? answer.map(Number) : [];
    if (Number.isFinite(waitMs) && Number.isFinite(left)) {
      return { waitMs, most: perMinute, left, fullMs: Math.ceil(((perMinute - left) * 60_000) / perMinute) };
    }
    throw new MemoryError(
      "unavailable",
      "Redis (rate limits) gave no number. Check that no other program uses the prefix.",
    );
  };
  return {
    name: "redis",
    take: async (key) => (await spend(key, 1)).waitMs,
    spend,
  };
}
