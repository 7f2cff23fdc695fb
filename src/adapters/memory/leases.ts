import { randomUUID } from "node:crypto";
import type { Leases } from "../../ports/leases.ts";

interface MemoryLease {
  /** Absent while it rests. */
  readonly token?: string;
  /** ms since 1970. */
  readonly until: number;
}

/** Leases by this machine's clock: whoever shares this record shares the process. */
export function createMemoryLeases(): Leases {
  const held = new Map<string, MemoryLease>();
  const isTokens = (name: string, token: string): boolean => {
    const lease = held.get(name);
    return lease?.token === token && lease.until > Date.now();
  };
  return {
    async takeLease(name, { forMs, isUrgent = false }) {
      const now = Date.now();
      const before = held.get(name);
      if (before && before.until > now && !(isUrgent && before.token === undefined)) {
        const refused = before.token === undefined ? "resting" : "held";
        return { refused, waitMs: before.until - now };
      }
      const token = randomUUID();
      held.set(name, { token, until: now + forMs });
      return { token };
    },

    async renewLease(name, token, forMs) {
      if (!isTokens(name, token)) return false;
      held.set(name, { token, until: Date.now() + forMs });
      return true;
    },

    async releaseLease(name, token, restMs = 0) {
      if (!isTokens(name, token)) return false;
      if (restMs > 0) held.set(name, { until: Date.now() + restMs });
      else held.delete(name);
      return true;
    },
  };
}
