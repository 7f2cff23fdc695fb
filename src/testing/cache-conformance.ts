import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Cache } from "../ports/cache.ts";
import type { Clock } from "../ports/system.ts";

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

/** What a case is given: an empty cache that keeps entries of 100,000 bytes for an hour, and time that it lets pass. */
export interface CacheUnderTest {
  readonly cache: Cache;
  pass(ms: number): void;
}

const ANA = { project: "p", user: "ana" };
const BEN = { project: "p", user: "ben" };
const HOUR = 3_600_000;
const some = (...bytes: number[]): Uint8Array => Uint8Array.from(bytes);

/** The contract of `ports/cache.ts`, a case a sentence. */
export const CACHE_CASES: Readonly<Record<string, (given: CacheUnderTest) => Promise<void>>> = {
  "gives nothing that was never put": async ({ cache }) => {
    expect(await cache.get(ANA, "name")).toBeUndefined();
    expect(await cache.drop(ANA)).toBe(0);
  },

  "gives back what was put, byte for byte": async ({ cache }) => {
    const all = Uint8Array.from({ length: 512 }, (_one, i) => i % 256);
    await cache.put(ANA, "all", all);
    await cache.put(ANA, "none", some());
    expect([...((await cache.get(ANA, "all")) ?? [])]).toEqual([...all]);
    expect(await cache.get(ANA, "none")).toEqual(some());
  },

  "puts in place of what was there": async ({ cache }) => {
    await cache.put(ANA, "name", some(1, 2, 3));
    await cache.put(ANA, "name", some(4));
    expect([...((await cache.get(ANA, "name")) ?? [])]).toEqual([4]);
    expect(await cache.drop(ANA)).toBe(1);
  },

  "lets go when the time is over: the cache's own, or the entry's": async ({ cache, pass }) => {
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

  "knows projects, users and names apart, whatever they are": async ({ cache }) => {
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

  "drops everything of a user, and nothing of another": async ({ cache }) => {
    await cache.put(ANA, "one", some(1));
    await cache.put(ANA, "two", some(2));
    await cache.put(BEN, "one", some(3));
    expect(await cache.drop(ANA)).toBe(2);
    expect(await cache.get(ANA, "one")).toBeUndefined();
    expect(await cache.get(ANA, "two")).toBeUndefined();
    expect(await cache.get(BEN, "one")).toBeDefined();
    expect(await cache.drop(ANA)).toBe(0);
  },

  "keeps nothing that was made before an erasure and comes after it": async ({ cache }) => {
    await cache.drop(ANA, { revision: 7 });
    await cache.put(ANA, "old", some(1), { revision: 6 });
    expect(await cache.get(ANA, "old")).toBeUndefined();
    await cache.put(ANA, "new", some(2), { revision: 7 });
    expect(await cache.get(ANA, "new")).toBeDefined();
    await cache.put(BEN, "old", some(3), { revision: 1 });
    expect(await cache.get(BEN, "old")).toBeDefined();
    // One that comes late itself bars no less.
    await cache.drop(ANA, { revision: 2 });
    await cache.put(ANA, "old", some(1), { revision: 6 });
    expect(await cache.get(ANA, "old")).toBeUndefined();
  },

  "keeps nothing that was on its way when everything was dropped": async ({ cache }) => {
    const onTheWay = Array.from({ length: 10 }, (_one, i) =>
      cache.put(ANA, `name ${i}`, some(i), { revision: 6 }),
    );
    const dropped = cache.drop(ANA, { revision: 7 });
    const late = cache.put(ANA, "late", some(1), { revision: 6 });
    await Promise.all([...onTheWay, dropped, late]);
    for (let i = 0; i < 10; i += 1) expect(await cache.get(ANA, `name ${i}`)).toBeUndefined();
    expect(await cache.get(ANA, "late")).toBeUndefined();
  },

  "leaves out what is too large, and does not keep what stood there before": async ({ cache }) => {
    await cache.put(ANA, "name", some(1));
    await cache.put(ANA, "name", new Uint8Array(100_001));
    expect(await cache.get(ANA, "name")).toBeUndefined();
    await cache.put(ANA, "name", new Uint8Array(100_000));
    expect((await cache.get(ANA, "name"))?.length).toBe(100_000);
  },

  "gives what is the caller's to keep": async ({ cache }) => {
    const bytes = some(1, 2, 3);
    await cache.put(ANA, "name", bytes);
    bytes[0] = 9;
    const found = await cache.get(ANA, "name");
    if (found) found[1] = 9;
    expect([...((await cache.get(ANA, "name")) ?? [])]).toEqual([1, 2, 3]);
  },

  "ends with the reason of whoever breaks off": async ({ cache }) => {
    const reason = new Error("enough");
    const signal = AbortSignal.abort(reason);
    await expect(cache.get(ANA, "name", { signal })).rejects.toBe(reason);
    await expect(cache.put(ANA, "name", some(1), { signal })).rejects.toBe(reason);
    await expect(cache.drop(ANA, { signal })).rejects.toBe(reason);
    expect(await cache.get(ANA, "name")).toBeUndefined();
  },
};
