import { expect, it } from "vitest";
import type { NumberArray } from "./columns.ts";
import { decodeDeltas, encodeDeltas } from "./delta-encoding.ts";

function again(column: NumberArray): NumberArray | undefined {
  const narrow = encodeDeltas(column);
  if (!narrow) return undefined;
  const found = new (column.constructor as new (length: number) => NumberArray)(column.length);
  decodeDeltas(narrow, found);
  return found;
}

const range = (length: number, of: (i: number) => number): number[] =>
  Array.from({ length }, (_, i) => of(i));

function stepping(steps: readonly number[]): Int32Array<ArrayBuffer> {
  let value = 0;
  return Int32Array.from(
    range(1000, (i) => {
      value += steps[i % steps.length] ?? 0;
      return value;
    }),
  );
}

it("restores every number exactly", () => {
  const columns = [
    Int32Array.from(range(1000, (i) => (i % 20 === 0 ? -1 : i - 1))),
    Uint32Array.from(range(1000, (i) => i * 200 + (i % 7))),
    Uint32Array.of(...range(20, () => 0), 4_294_967_295, 0, 4_294_967_295, ...range(20, () => 5)),
    Float64Array.from(range(1000, (i) => (i % 100 === 5 ? 0.1 * i : Number.NaN))),
    Float64Array.from(range(1000, () => 1_767_225_600_000)),
    Float64Array.of(...range(40, () => 0), -0, 0, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, -0, 1),
    Float32Array.from(range(1000, () => 0.9)),
    Float32Array.from(range(1000, (i) => (i % 50 === 0 ? 0.1 + i : 0.5))),
    Float64Array.from(range(1000, (i) => 1_767_225_600_000 + i * 600_000)),
    Float64Array.from(range(1000, (i) => 1_767_225_600_000 + i * 600_000 + ((i * 7919) % 5000))),
    Float64Array.from(range(1000, (i) => 0.1 + Math.floor(i / 300))),
    Uint8Array.from(range(1000, (i) => (i % 90 === 7 ? 2 + (i % 3) : 1))),
    Uint16Array.from(range(1000, (i) => (i < 500 ? 65_535 : i < 600 ? i : 0))),
    new Uint8Array(200_000).fill(3),
    Int32Array.from(range(200_000, (i) => i)),
    Int32Array.from(range(1000, (i) => (i % 2 === 0 ? -2_147_483_648 : 2_147_483_647) + Math.floor(i / 400))),
    // The largest steps that there are, and such as are one too large, both ways.
    stepping([127, -127, 0, 0, 0, 0, 0, 0, 0, 128, -128]),
    stepping([32_767, -32_767, 1000, -1000, 1000, -1000, 300, -300, 0, 0, 32_768, -32_768]),
  ];
  for (const column of columns) {
    const found = again(column);
    expect(found?.constructor).toBe(column.constructor);
    expect([...new Uint8Array(found?.buffer ?? new ArrayBuffer(0))]).toEqual([
      ...new Uint8Array(column.buffer),
    ]);
  }
});

it("leaves a column unencoded that would not become smaller", () => {
  expect(encodeDeltas(Int32Array.from(range(1000, (i) => Math.imul(i, 0x9e3779b1))))).toBeUndefined();
  expect(encodeDeltas(Uint8Array.from(range(1000, (i) => (i * 7) % 11)))).toBeUndefined();
  expect(encodeDeltas(new Int8Array(1000))).toBeUndefined();
  expect(encodeDeltas(new Float64Array(0))).toBeUndefined();
});

it("stores a constant column in a few bytes", () => {
  for (const column of [
    new Uint8Array(10_000).fill(1),
    new Float64Array(10_000).fill(Number.POSITIVE_INFINITY),
    new Float32Array(10_000).fill(0.9),
    Int32Array.from(range(10_000, (i) => i * 2)),
    Float64Array.from(range(10_000, (i) => 1_767_225_600_000 + i * 600_000)),
  ]) {
    const { steps, times, rest } = encodeDeltas(column) ?? {};
    expect(times?.length).toBe(steps?.length);
    expect((steps?.byteLength ?? 0) + (times?.byteLength ?? 0) + (rest?.byteLength ?? 0)).toBeLessThan(30);
  }
});

it("refuses deltas of another length", () => {
  const narrow = encodeDeltas(new Int32Array(1000));
  if (!narrow?.times) throw new Error("it is not kept with how often each step is taken");
  for (const length of [999, 1001]) {
    expect(() => decodeDeltas(narrow, new Int32Array(length))).toThrow("another length");
  }
});
