import type { Clock } from "../../ports/system.ts";

/** The revision of each user's last erasure. Data read before that revision must not be stored any more. */
export interface ErasureBarriers {
  raise(user: string, revision: number | undefined): void;
  isBlocked(user: string, revision: number | undefined): boolean;
  /** Removes barriers older than their lifetime. */
  sweep(): void;
}

/** Limit of users with a barrier: reads are late by seconds, and no process erases this many users in seconds. */
const MAX_USERS = 10_000;

/** Barriers expire after `forMs` milliseconds, when no read that old can still be in flight. */
export function createErasureBarriers(clock: Clock, forMs: number): ErasureBarriers {
  const kept = new Map<string, { readonly revision: number; readonly at: number }>();
  const now = (): number => clock().getTime();
  return {
    raise(user, revision) {
      if (revision === undefined) return;
      const before = kept.get(user)?.revision ?? 0;
      kept.delete(user);
      kept.set(user, { revision: Math.max(before, revision), at: now() });
      const [oldest] = kept.keys();
      if (kept.size > MAX_USERS && oldest !== undefined) kept.delete(oldest);
    },
    isBlocked(user, revision) {
      const one = kept.get(user);
      return one !== undefined && revision !== undefined && revision < one.revision && now() - one.at < forMs;
    },
    sweep() {
      for (const [user, { at }] of kept) if (now() - at >= forMs) kept.delete(user);
    },
  };
}
