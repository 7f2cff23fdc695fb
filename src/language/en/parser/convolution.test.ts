import { describe, expect, it } from "vitest";
import { createConvolution } from "./convolution.ts";

const WIDTH = 16;
const WINDOW = 3;

/** Numbers from -1 to 1 that are the same in each run. */
function createNumbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return state / 1_073_741_824 - 1;
  };
}

describe("a convolution over rows", () => {
  const next = createNumbers(7);
  const codes = Int8Array.from({ length: WIDTH * WIDTH * WINDOW }, () => Math.round(next() * 127));
  const scales = Float32Array.from({ length: WIDTH }, () => 0.01);
  const bias = Float32Array.from({ length: WIDTH }, () => next());
  const weights = { rows: WIDTH, columns: WIDTH * WINDOW, codes, scales };
  const convolve = createConvolution([{ weights, bias }], { words: 9, window: WINDOW });

  it.each([1, 2, 5, 8, 9])("sums %i rows as plain loops do", (count) => {
    const rows = Float32Array.from({ length: count * WIDTH }, () => next() * 3);
    const made = convolve(0, rows, count);
    expect(made).toHaveLength(count * WIDTH);
    for (let t = 0; t < count; t += 1)
      for (let o = 0; o < WIDTH; o += 1) {
        let sum = bias[o] as number;
        for (let i = 0; i < WIDTH * WINDOW; i += 1) {
          const value = rows[(t - 1) * WIDTH + i] ?? 0;
          sum += (codes[o * WIDTH * WINDOW + i] as number) * 0.01 * value;
        }
        expect(made[t * WIDTH + o]).toBeCloseTo(sum, 2);
      }
  });

  it("gives rows that the next call leaves as they are", () => {
    const rows = new Float32Array(WIDTH).fill(1);
    const first = convolve(0, rows, 1);
    const copy = Float32Array.from(first);
    convolve(0, new Float32Array(2 * WIDTH).fill(-2), 2);
    expect(first).toEqual(copy);
  });
});
