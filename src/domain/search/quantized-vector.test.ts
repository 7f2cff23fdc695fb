import fc from "fast-check";
import { expect, it } from "vitest";
import { dequantize, quantizeExactly, roundToQuantized } from "./quantized-vector.ts";

const part = fc
  .float({ min: -1, max: 1, noNaN: true, noDefaultInfinity: true })
  .map((one) => (Math.abs(one) < 1e-6 ? 0 : one));
const vector = fc.array(part, { minLength: 1, maxLength: 40 }).map((parts) => Float32Array.from(parts));

it("represents a rounded vector exactly, and rounding it again changes nothing", () => {
  fc.assert(
    fc.property(vector, (long) => {
      const short = roundToQuantized(long);
      const exact = quantizeExactly(short);
      expect(exact && dequantize(exact).map((one) => one + 0)).toEqual(short.map((one) => one + 0));
      expect(roundToQuantized(short)).toEqual(short);
    }),
  );
});

it("changes no component by more than 1/32,768 of the largest", () => {
  fc.assert(
    fc.property(vector, (long) => {
      const most = Math.max(...long.map(Math.abs));
      for (const [i, one] of roundToQuantized(long).entries()) {
        expect(Math.abs(one - (long[i] ?? 0))).toBeLessThanOrEqual(most / 32_767 + 1e-12);
      }
    }),
  );
});

it("returns nothing for a vector that needs more than 16 bits", () => {
  expect(quantizeExactly(Float32Array.from([1, 1e-6]))).toBeUndefined();
  expect(quantizeExactly(Float32Array.from([Number.NaN]))).toBeUndefined();
  expect(quantizeExactly(Float32Array.from([0, 0]))?.codes).toEqual(Int16Array.from([0, 0]));
});
