import type { Clock } from "../../ports/system.ts";

/** By user: the revision of the last erasure, below which nothing may be kept that was on its way meanwhile. */
export interface ErasureBarriers {
  raise(user: string, revision: number | undefined): void;
  isBlocked(user: string, revision: number | undefined): boolean;
  /** Lets go of those that have stood for long enough. */
  sweep(): void;
}

/** So many users have one: what is on its way is late by seconds, and no process erases so many users in seconds. */
const MAX_USERS = 10_000;

/** Bars are let go of after so many ms, when nothing that old can be on its way any more. */
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
