import { isMemoryError } from "../errors.ts";
import type { RateLimits } from "../ports/rate-limits.ts";

/**
 * Limits that several servers share, and this one's own where those cannot be asked: then each server counts for itself, and
 * nobody is kept out because a store of counters is down.
 */
export function sharedLimits(shared: RateLimits, own: RateLimits): RateLimits {
  const take = (key: string): Promise<number> => withFallback(shared.take(key), () => own.take(key));
  const { spend: sharedSpend } = shared;
  const { spend: ownSpend } = own;
  if (!sharedSpend || !ownSpend) return { name: shared.name, take };
  return {
    name: shared.name,
    take,
    spend: (key, amount) =>
      withFallback(sharedSpend.call(shared, key, amount), () => ownSpend.call(own, key, amount)),
  };
}

async function withFallback<Result>(asked: Promise<Result>, own: () => Promise<Result>): Promise<Result> {
  try {
    return await asked;
  } catch (error) {
    if (!isMemoryError(error)) throw error;
    return own();
  }
}
