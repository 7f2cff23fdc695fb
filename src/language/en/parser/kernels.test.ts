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
