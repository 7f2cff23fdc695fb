import type { Kernels } from "../parser/kernels.ts";

/** Where attention works in the memory of the kernels, in bytes, and its heads. */
export interface AttentionPlaces {
  readonly heads: number;
  readonly values: number;
  readonly queries: number;
  readonly keys: number;
  readonly shares: number;
  readonly scales: number;
  readonly zeros: number;
  readonly products: number;
}

/** Sums of products of two codes stay within 32 bits: over the width of a head, and over shares that sum up to 1. */
const LARGEST_CODE = 8_000;
const LARGEST_SHARE_CODE = 2_000;
const LARGEST_VALUE_CODE = 4_000;

/** Takes the room for attention over at most `mostTokens` tokens. */
export function attentionPlaces(
  take: (bytes: number) => number,
  {
    width,
    heads,
    mostTokens,
  }: { readonly width: number; readonly heads: number; readonly mostTokens: number },
): AttentionPlaces {
  const head = width / heads;
  const square = mostTokens * Math.max(mostTokens, head);
  return {
    heads,
    values: take(square * 4),
    queries: take(mostTokens * head * 2),
    keys: take(mostTokens * head * 2),
    shares: take(square * 2),
    scales: take(Math.max(mostTokens, head) * 4),
    zeros: take(Math.max(mostTokens, head) * 4),
    products: take(square * 4),
  };
}

/**
 * Scaled dot-product attention (Vaswani and others 2017) of every token to the first `count`. A row of `mixed` holds a token's queries,
 * keys and values, each for all heads. Writes a row for each of the `padded` tokens into `result`, and pauses before each head.
 */
export function* attend(
  kernels: Kernels,
  places: AttentionPlaces,
  mixed: Float32Array,
  {
    count,
    padded,
    width,
    result,
  }: {
    readonly count: number;
    readonly padded: number;
    readonly width: number;
    readonly result: Float32Array;
  },
): Generator<void, void, void> {
  const head = width / places.heads;
  const { buffer } = kernels;
  const values = new Float32Array(buffer, places.values, Math.max(padded * padded, padded * head));
  const products = new Float32Array(buffer, places.products, Math.max(padded * padded, padded * head));
  const scales = new Float32Array(buffer, places.scales, Math.max(padded, head));
  for (let h = 0; h < places.heads; h += 1) {
    yield;
    const gather = (part: number, to: number, top: number): number => {
      for (let t = 0; t < padded; t += 1)
        for (let i = 0; i < head; i += 1)
          values[t * head + i] = mixed[t * 3 * width + part * width + h * head + i] as number;
      return kernels.encode(places.values, padded * head * 4, to, top);
    };
    const queryScale = gather(0, places.queries, LARGEST_CODE);
    scales.fill(gather(1, places.keys, LARGEST_CODE));
    const bytes = head * 2;
    kernels.multiply(
      places.queries,
      bytes,
      padded,
      places.keys,
      bytes,
      padded,
      places.scales,
      places.zeros,
      queryScale / Math.sqrt(head),
      places.products,
    );
    toShares(products, values, count, padded);
    const shareScale = kernels.encode(places.values, padded * padded * 4, places.shares, LARGEST_SHARE_CODE);
    // The values column by column, as the rows of weights that the kernel multiplies with.
    for (let i = 0; i < head; i += 1)
      for (let t = 0; t < padded; t += 1)
        values[i * padded + t] = mixed[t * 3 * width + 2 * width + h * head + i] as number;
    scales.fill(kernels.encode(places.values, padded * head * 4, places.keys, LARGEST_VALUE_CODE));
    kernels.multiply(
      places.shares,
      padded * 2,
      padded,
      places.keys,
      padded * 2,
      head,
      places.scales,
      places.zeros,
      shareScale,
      places.products,
    );
    for (let t = 0; t < padded; t += 1)
      for (let i = 0; i < head; i += 1) result[t * width + h * head + i] = products[t * head + i] as number;
  }
}

/** The softmax of each row of scores over the first `count` tokens; the others get none. */
function toShares(scores: Float32Array, shares: Float32Array, count: number, padded: number): void {
  for (let from = 0; from < padded * padded; from += padded) {
    const end = from + count;
    let [most, total] = [Number.NEGATIVE_INFINITY, 0];
    for (let i = from; i < end; i += 1) {
      const score = scores[i] as number;
      most = score > most ? score : most;
    }
    for (let i = from; i < end; i += 1) {
      const share = raise((scores[i] as number) - most);
      shares[i] = share;
      total += share;
    }
    const scale = 1 / total;
    for (let i = from; i < end; i += 1) shares[i] = (shares[i] as number) * scale;
    shares.fill(0, end, from + padded);
  }
}

/** Below this, a share is too small for its code. */
const LEAST_EXPONENT = -12;
const STEPS = 256;
const STEP: number = 1 / STEPS;
/** exp(-n / STEPS) */
const POWERS: Float64Array = Float64Array.from({ length: -LEAST_EXPONENT * STEPS + 1 }, (_, n) =>
  Math.exp(-n / STEPS),
);

/** exp(x) for x <= 0, by a table and the first terms of the series between its entries: to within 1e-8, in a third of the time of `Math.exp`. */
function raise(x: number): number {
  if (x < LEAST_EXPONENT) return 0;
  const n = (x * -STEPS) | 0;
  const rest = x + n * STEP;
  return (POWERS[n] as number) * (1 + rest * (1 + rest * 0.5));
}
