import { invalid } from "../../errors.ts";
import type { Clock } from "../../ports/clock.ts";
import type { RateLimits } from "../../ports/rate-limits.ts";

interface Bucket {
  /** What was in it at `at`; it has filled since. */
  tokens: number;
  /** ms. */
  at: number;
}

/** Buckets that are full again are as good as none: they are dropped when there are this many. */
const MANY = 10_000;

/**
 * Token buckets in this process: each key may ask `perMinute` times in one go, and gets as many back over a minute. A
 * clock that is set back refills nothing, and takes nothing away.
 */
export function memoryRateLimits(options: { readonly perMinute: number; readonly clock: Clock }): RateLimits {
  const { perMinute, clock } = options;
  if (!Number.isInteger(perMinute) || perMinute < 1)
    throw invalid("perMinute must be a whole number from 1.");
  const perMs = perMinute / 60_000;
  const buckets = new Map<string, Bucket>();
  const filled = (bucket: Bucket, now: number): number =>
    Math.min(perMinute, bucket.tokens + Math.max(0, now - bucket.at) * perMs);
  const sweep = (now: number): void => {
    for (const [key, bucket] of buckets) if (filled(bucket, now) >= perMinute) buckets.delete(key);
  };
  return {
    name: "memory",
    async take(key) {
      const now = clock().getTime();
      const bucket = buckets.get(key) ?? { tokens: perMinute, at: now };
      const tokens = filled(bucket, now);
      if (!buckets.has(key)) {
        if (buckets.size >= MANY) sweep(now);
        buckets.set(key, bucket);
      }
      bucket.at = now;
      bucket.tokens = tokens < 1 ? tokens : tokens - 1;
      return tokens < 1 ? Math.max(1, Math.ceil((1 - tokens) / perMs)) : 0;
    },
  };
}
