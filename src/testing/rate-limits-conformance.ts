import { describe, expect, it } from "vitest";
import type { RateLimits } from "../ports/rate-limits.ts";
import type { Clock } from "../ports/system.ts";

/** Opens fresh limits. */
export type OpenRateLimits = (options: {
  readonly perMinute: number;
  readonly clock: Clock;
}) => Promise<RateLimits>;

/** Opens limits with a clock that the case sets, from noon on 1 March 2026. */
async function start(open: OpenRateLimits, perMinute: number) {
  let now = Date.parse("2026-03-01T12:00:00Z");
  const limits = await open({ perMinute, clock: () => new Date(now) });
  const pass = (ms: number): void => {
    now += ms;
  };
  const taken = async (key: string, times: number): Promise<number[]> => {
    const waits: number[] = [];
    for (let time = 0; time < times; time += 1) waits.push(await limits.take(key));
    return waits;
  };
  return { limits, pass, taken };
}

/** The behaviour of every limit of rates, one rule per case. */
export const RATE_LIMITS_CASES: { readonly [title: string]: (open: OpenRateLimits) => Promise<void> } = {
  "allow the whole allowance at once, then return the time to wait": async (open) => {
    const { taken } = await start(open, 3);
    expect(await taken("one", 4)).toEqual([0, 0, 0, 20_000]);
  },

  "take nothing from whoever is refused": async (open) => {
    const { taken, pass } = await start(open, 60);
    await taken("one", 60);
    expect(await taken("one", 3)).toEqual([1000, 1000, 1000]);
    pass(1000);
    expect(await taken("one", 2)).toEqual([0, 1000]);
  },

  "fill over a minute, and no higher than the allowance": async (open) => {
    const { taken, pass } = await start(open, 4);
    await taken("one", 4);
    pass(30_000);
    expect((await taken("one", 3)).map((wait) => wait === 0)).toEqual([true, true, false]);
    pass(3_600_000);
    expect((await taken("one", 5)).map((wait) => wait === 0)).toEqual([true, true, true, true, false]);
  },

  "take many units at once, tell what is left, and take all where more are wanted than there ever are":
    async (open) => {
      const { limits, pass } = await start(open, 60);
      const first = await limits.spend("one", 45);
      expect(first).toEqual({ waitMs: 0, most: 60, left: 15, fullMs: 45_000 });
      expect(await limits.spend("one", 20)).toMatchObject({ waitMs: 5000, left: 15 });
      pass(45_000);
      expect(await limits.spend("one", 1000)).toMatchObject({ waitMs: 0, left: 0, fullMs: 60_000 });
    },

  "know keys apart": async (open) => {
    const { taken } = await start(open, 1);
    expect([await taken("one", 1), await taken("two", 1)]).toEqual([[0], [0]]);
    expect((await taken("one", 1))[0]).toBeGreaterThan(0);
  },

  "neither fill nor empty when the clock is set back": async (open) => {
    const { taken, pass } = await start(open, 2);
    await taken("one", 1);
    pass(-3_600_000);
    expect((await taken("one", 2)).map((wait) => wait === 0)).toEqual([true, false]);
    pass(30_000);
    expect((await taken("one", 1))[0]).toBe(0);
  },
};

/**
 * Runs the contract of rate limits against one adapter. `open` returns fresh ones, with a clock controlled by
 * the case.
 */
export function rateLimitsConformance(name: string, open: OpenRateLimits): void {
  describe(`Rate limits: ${name}`, () => {
    for (const [title, run] of Object.entries(RATE_LIMITS_CASES)) it(title, () => run(open));
  });
}
