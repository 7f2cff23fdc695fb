import { percent } from "./metrics.ts";

/** How many times the questions are drawn anew. */
const DRAWS = 2000;
const SEED = 0x5eed;

/**
 * The 95 % interval of a mean in per cent: the questions are drawn anew with replacement, and the middle 95 % of the
 * means are kept. The seed is fixed, so the same shares give the same interval. One question gives itself.
 */
export function interval(shares: readonly number[]): readonly [low: number, high: number] {
  const draw = numbers(SEED);
  const means = Array.from({ length: DRAWS }, () =>
    percent(shares.map(() => shares[Math.floor(draw() * shares.length)] ?? 0)),
  ).sort((one, other) => one - other);
  return [means[Math.floor(0.025 * DRAWS)] ?? 0, means[Math.ceil(0.975 * DRAWS) - 1] ?? 0];
}

/** Numbers from 0 to below 1 that a seed fixes (mulberry32). */
export function numbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
