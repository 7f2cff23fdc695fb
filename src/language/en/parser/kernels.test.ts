import { expect, it } from "vitest";
import { createKernels, type Kernels } from "./kernels.ts";

const WEIGHTS = 1024;
const SCALES = 4096;
const BIAS = 4352;
const OUT = 8192;
const ROWS = 8;
const COLUMNS = 24;

/** Numbers that repeat only after long, without chance. */
function fill(kernels: Kernels): void {
  const codes = new Int16Array(kernels.buffer);
  const floats = new Float32Array(kernels.buffer);
  for (let i = 0; i < 4 * COLUMNS; i += 1) codes[i] = ((i * 7919) % 60_001) - 30_000;
  for (let i = 0; i < ROWS * COLUMNS; i += 1) codes[WEIGHTS / 2 + i] = ((i * 104_729) % 255) - 127;
  for (let i = 0; i < ROWS; i += 1) {
    floats[SCALES / 4 + i] = 0.01 * (i + 1);
    floats[BIAS / 4 + i] = i - 3;
  }
}

function multiply(isPlain: boolean): Float32Array {
  const kernels = createKernels(65_536, isPlain);
  fill(kernels);
  kernels.multiply(0, COLUMNS * 2, 4, WEIGHTS, COLUMNS * 2, ROWS, SCALES, BIAS, 0.001, OUT);
  return new Float32Array(kernels.buffer, OUT, 4 * ROWS).slice();
}

it("a product is the sum of its parts, scaled, with the bias", () => {
  const kernels = createKernels(65_536, true);
  fill(kernels);
  const codes = new Int16Array(kernels.buffer);
  const expected: number[] = [];
  for (let t = 0; t < 4; t += 1) {
    for (let r = 0; r < ROWS; r += 1) {
      let sum = 0;
      for (let k = 0; k < COLUMNS; k += 1) {
        sum += (codes[t * COLUMNS + k] as number) * (codes[WEIGHTS / 2 + r * COLUMNS + k] as number);
      }
      expected.push(sum * 0.01 * (r + 1) * 0.001 + r - 3);
    }
  }
  multiply(true).forEach((value, i) => {
    expect(value).toBeCloseTo(expected[i] as number, 2);
  });
});

it("WebAssembly and the plain loops give the same products", () => {
  expect([...multiply(false)]).toEqual([...multiply(true)]);
});

it("WebAssembly and the plain loops give the same scores", () => {
  const [one, two] = [false, true].map((isPlain) => {
    const { buffer, score } = createKernels(65_536, isPlain);
    const floats = new Float32Array(buffer);
    for (let i = 0; i < 8192; i += 1) floats[i] = (((i * 7919) % 2003) - 1000) / 500;
    new Int32Array(buffer, 40_000, 8).set([0, 64, 128, 256, 320, 384, 448, 512]);
    score(40_000, 1024, 8, 41_984, 2048, 3072, 16, 42_496);
    return [...new Float32Array(buffer, 42_496, 16)];
  });
  expect(one).toEqual(two);
  expect(new Set(one).size).toBeGreaterThan(8);
});

/** Runs both kinds of kernels over the same numbers, and gives what they leave in memory. */
function runBoth(run: (kernels: Kernels) => void): [number[], number[]] {
  const [one, two] = [false, true].map((isPlain) => {
    const kernels = createKernels(65_536, isPlain);
    const floats = new Float32Array(kernels.buffer);
    for (let i = 0; i < 8192; i += 1) floats[i] = (((i * 7919) % 2003) - 1000) / 333;
    run(kernels);
    return [...new Int32Array(kernels.buffer)];
  });
  return [one as number[], two as number[]];
}

it("WebAssembly and the plain loops normalise alike", () => {
  const [one, two] = runBoth(({ normalise }) => normalise(0, 192, 3, 64, 5, 4096, 4160, 8192));
  expect(one).toEqual(two);
});

it("a normalised row has the mean of its shifts and the spread of its gains", () => {
  const { buffer, normalise } = createKernels(65_536);
  const floats = new Float32Array(buffer);
  floats.set([1, 5, 2, 8, 3, 4, 9, 0]);
  floats.set([1, 1, 1, 1], 16);
  floats.set([2, 2, 2, 2], 20);
  floats.set([10, 20, 30, 40], 32);
  normalise(0, 32, 2, 16, 1, 64, 80, 128);
  const best = [3, 5, 9, 8];
  const spread = Math.sqrt(best.reduce((sum, value) => sum + (value - 6.25) ** 2, 0) / 4);
  [10, 20, 30, 40].forEach((before, i) => {
    expect(floats[32 + i]).toBeCloseTo(before + ((best[i] as number) - 6.25) / spread + 2, 4);
  });
});

it("WebAssembly and the plain loops give the same codes and scales", () => {
  const scales: number[] = [];
  const [one, two] = runBoth(({ encode }) => scales.push(encode(0, 3200, 16_384, 30_000)));
  expect(one).toEqual(two);
  expect(scales[0]).toBe(scales[1]);
});

it("a code times the scale is the value, and zeros stay zeros", () => {
  const { buffer, encode } = createKernels(65_536);
  const values = [0.5, -2, 1.25, 0, 0, 0, 0, 3];
  new Float32Array(buffer).set(values);
  const scale = encode(0, 32, 64, 32_767);
  const codes = new Int16Array(buffer, 64, 8);
  values.forEach((value, i) => {
    expect((codes[i] as number) * scale).toBeCloseTo(value, 3);
  });
  new Float32Array(buffer, 0, 8).fill(0);
  expect(encode(0, 32, 64, 32_767)).toBe(0);
  expect([...codes]).toEqual([0, 0, 0, 0, 0, 0, 0, 0]);
});
