import { afterEach, beforeEach, describe, it } from "vitest";
import type { Cache } from "../ports/cache.ts";
import type { Clock } from "../ports/clock.ts";
import { CACHE_CASES } from "./cache-cases.ts";

export interface CacheHarness {
  /** Shown in the test output: "memory", "redis". */
  readonly name: string;
  /** Why the suite cannot run here, and how it can; absent where it can. */
  readonly missing?: string | undefined;
  /** An empty one, which goes by a clock that the case moves. */
  open(options: {
    readonly clock: Clock;
    readonly ttlMs: number;
    readonly entryBytes: number;
  }): Promise<Cache>;
}

const NOON = Date.parse("2026-11-21T12:00:00.000Z");

/** Runs the whole contract of `ports/cache.ts` against one adapter. Call it at the top level of a test file. */
export function cacheConformance(harness: CacheHarness): void {
  const title = `Cache: ${harness.name}${harness.missing ? ` (${harness.missing})` : ""}`;
  describe.skipIf(harness.missing)(title, () => {
    let now = NOON;
    let cache: Cache;
    beforeEach(async () => {
      now = NOON;
      cache = await harness.open({ clock: () => new Date(now), ttlMs: 3_600_000, entryBytes: 100_000 });
    });
    afterEach(() => cache.close());
    const pass = (ms: number): void => {
      now += ms;
    };
    for (const [title, run] of Object.entries(CACHE_CASES)) it(title, () => run({ cache, pass }));
  });
}
