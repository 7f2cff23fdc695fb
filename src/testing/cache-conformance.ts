import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Cache } from "../ports/cache.ts";
import type { Clock } from "../ports/system.ts";

/** What the suite needs of a cache. */
export interface CacheHarness {
  /** Shown in the test output: "memory", "redis". */
  readonly name: string;
  /** Why the suite cannot run here, and what it needs; absent if it can run. */
  readonly missing?: string | undefined;
  /** Opens an empty cache that uses a clock controlled by the case. */
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

/**
 * The input of a case: an empty cache that keeps entries of 100,000 bytes for an hour, and a way to advance
 * time.
 */
export interface CacheUnderTest {
  /** The cache. */
  readonly cache: Cache;
  /** Lets this many ms pass on the cache's clock. */
  pass(ms: number): void;
}

const ANA = { project: "p", user: "ana" };
const BEN = { project: "p", user: "ben" };
const HOUR = 3_600_000;
const some = (...bytes: number[]): Uint8Array => Uint8Array.from(bytes);

/** The contract of `ports/cache.ts`, one rule per case. */
export const CACHE_CASES: Readonly<Record<string, (given: CacheUnderTest) => Promise<void>>> = {
  "returns nothing that was never stored": async ({ cache }) => {
    expect(await cache.get(ANA, "name")).toBeUndefined();
    expect(await cache.drop(ANA)).toBe(0);
  },

  "returns the stored bytes unchanged": async ({ cache }) => {
    const all = Uint8Array.from({ length: 512 }, (_one, i) => i % 256);
    await cache.put(ANA, "all", all);
    await cache.put(ANA, "none", some());
    expect([...((await cache.get(ANA, "all")) ?? [])]).toEqual([...all]);
    expect(await cache.get(ANA, "none")).toEqual(some());
  },

  "replaces an existing entry": async ({ cache }) => {
    await cache.put(ANA, "name", some(1, 2, 3));
    await cache.put(ANA, "name", some(4));
    expect([...((await cache.get(ANA, "name")) ?? [])]).toEqual([4]);
    expect(await cache.drop(ANA)).toBe(1);
  },

  "expires entries after the cache's lifetime, or the entry's own": async ({ cache, pass }) => {
    await cache.put(ANA, "own", some(1));
    await cache.put(ANA, "short", some(2), { ttlMs: 60_000 });
    await cache.put(ANA, "long", some(3), { ttlMs: 2 * HOUR });
    pass(59_000);
    expect(await cache.get(ANA, "short")).toBeDefined();
    pass(1000);
    expect(await cache.get(ANA, "short")).toBeUndefined();
    pass(HOUR - 61_000);
    expect(await cache.get(ANA, "own")).toBeDefined();
    pass(1000);
    expect(await cache.get(ANA, "own")).toBeUndefined();
    expect(await cache.get(ANA, "long")).toBeDefined();
  },

  "keeps projects, users and names apart, whatever they are": async ({ cache }) => {
    const names: [string, string, string][] = [
      ["p", "ana", "name"],
      ["p", "ana", "*"],
      ["p", "ana:name", ""],
      ["p:ana", "name", ""],
      ["q", "ana", "name"],
      ["p", "{ana}", "name"],
    ];
    for (const [i, [project, user, name]] of names.entries())
      await cache.put({ project, user }, name, some(i));
    for (const [i, [project, user, name]] of names.entries())
      expect([...((await cache.get({ project, user }, name)) ?? [])]).toEqual([i]);
  },

  "drops all entries of a user and no one else's": async ({ cache }) => {
    await cache.put(ANA, "one", some(1));
    await cache.put(ANA, "two", some(2));
    await cache.put(BEN, "one", some(3));
    expect(await cache.drop(ANA)).toBe(2);
    expect(await cache.get(ANA, "one")).toBeUndefined();
    expect(await cache.get(ANA, "two")).toBeUndefined();
    expect(await cache.get(BEN, "one")).toBeDefined();
    expect(await cache.drop(ANA)).toBe(0);
  },

  "stores nothing that was made before an erasure and arrives after it": async ({ cache }) => {
    await cache.drop(ANA, { revision: 7 });
    await cache.put(ANA, "old", some(1), { revision: 6 });
    expect(await cache.get(ANA, "old")).toBeUndefined();
    await cache.put(ANA, "new", some(2), { revision: 7 });
    expect(await cache.get(ANA, "new")).toBeDefined();
    await cache.put(BEN, "old", some(3), { revision: 1 });
    expect(await cache.get(BEN, "old")).toBeDefined();
    // A late drop with an older revision removes no bar.
    await cache.drop(ANA, { revision: 2 });
    await cache.put(ANA, "old", some(1), { revision: 6 });
    expect(await cache.get(ANA, "old")).toBeUndefined();
  },

  "stores nothing that was in progress when everything was dropped": async ({ cache }) => {
    const onTheWay = Array.from({ length: 10 }, (_one, i) =>
      cache.put(ANA, `name ${i}`, some(i), { revision: 6 }),
    );
    const dropped = cache.drop(ANA, { revision: 7 });
    const late = cache.put(ANA, "late", some(1), { revision: 6 });
    await Promise.all([...onTheWay, dropped, late]);
    for (let i = 0; i < 10; i += 1) expect(await cache.get(ANA, `name ${i}`)).toBeUndefined();
    expect(await cache.get(ANA, "late")).toBeUndefined();
  },

  "skips an entry that is too large, and removes the one it would replace": async ({ cache }) => {
    await cache.put(ANA, "name", some(1));
    await cache.put(ANA, "name", new Uint8Array(100_001));
    expect(await cache.get(ANA, "name")).toBeUndefined();
    await cache.put(ANA, "name", new Uint8Array(100_000));
    expect((await cache.get(ANA, "name"))?.length).toBe(100_000);
  },

  "returns bytes that the caller may keep": async ({ cache }) => {
    const bytes = some(1, 2, 3);
    await cache.put(ANA, "name", bytes);
    bytes[0] = 9;
    const found = await cache.get(ANA, "name");
    if (found) found[1] = 9;
    expect([...((await cache.get(ANA, "name")) ?? [])]).toEqual([1, 2, 3]);
  },

  "rejects with the reason of an aborted signal": async ({ cache }) => {
    const reason = new Error("enough");
    const signal = AbortSignal.abort(reason);
    await expect(cache.get(ANA, "name", { signal })).rejects.toBe(reason);
    await expect(cache.put(ANA, "name", some(1), { signal })).rejects.toBe(reason);
    await expect(cache.drop(ANA, { signal })).rejects.toBe(reason);
    expect(await cache.get(ANA, "name")).toBeUndefined();
  },
};
