import { invalid } from "../../errors.ts";
import type { Allowance, RateLimits } from "../../ports/rate-limits.ts";
import type { Clock } from "../../ports/system.ts";

interface TokenBucket {
  /** Tokens at time `at`; more have been added since. */
  tokens: number;
  /** In ms. */
  at: number;
}

/** Full buckets carry no information: they are removed when there are this many. */
const SWEEP_THRESHOLD = 10_000;

/**
 * Token buckets in this process. Each key may take `perMinute` units at once and regains as many over a minute. When the clock
 * is set back, a bucket neither gains nor loses units.
 */
export function memoryRateLimits(options: {
  readonly perMinute: number;
  readonly clock: Clock;
}): Required<RateLimits> {
  const { perMinute, clock } = options;
  if (!Number.isInteger(perMinute) || perMinute < 1)
    throw invalid("perMinute must be a whole number from 1.");
  const perMs = perMinute / 60_000;
  const buckets = new Map<string, TokenBucket>();
  const filled = (bucket: TokenBucket, now: number): number =>
    Math.min(perMinute, bucket.tokens + Math.max(0, now - bucket.at) * perMs);
  const sweep = (now: number): void => {
    for (const [key, bucket] of buckets) if (filled(bucket, now) >= perMinute) buckets.delete(key);
  };
  const spend = (key: string, amount: number): Allowance => {
    const wanted = Math.min(amount, perMinute);
    const now = clock().getTime();
    const bucket = buckets.get(key) ?? { tokens: perMinute, at: now };
    const tokens = filled(bucket, now);
    if (!buckets.has(key)) {
      if (buckets.size >= SWEEP_THRESHOLD) sweep(now);
      buckets.set(key, bucket);
    }
    bucket.at = now;
    bucket.tokens = tokens < wanted ? tokens : tokens - wanted;
    return {
      waitMs: tokens < wanted ? Math.max(1, Math.ceil((wanted - tokens) / perMs)) : 0,
      most: perMinute,
      left: Math.floor(bucket.tokens),
      fullMs: Math.ceil((perMinute - bucket.tokens) / perMs),
    };
  };
  return {
    name: "memory",
    take: async (key) => spend(key, 1).waitMs,
    spend: async (key, amount) => spend(key, amount),
  };
}
