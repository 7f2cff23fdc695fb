import { isMemoryError } from "../errors.ts";
import type { RateLimits } from "../ports/rate-limits.ts";

/**
 * Limits that several servers share, and this one's own where those cannot be asked: then each server counts for itself, and
 * nobody is kept out because a store of counters is down.
 */
export function sharedLimits(shared: RateLimits, own: RateLimits): RateLimits {
  return {
    name: shared.name,
    async take(key) {
      try {
        return await shared.take(key);
      } catch (error) {
        if (!isMemoryError(error)) throw error;
        return own.take(key);
      }
    },
  };
}
