import { expect, it } from "vitest";
import { createVectorCodes, type VectorCodes } from "./vector-codes.ts";

function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 4_294_967_296 - 0.5;
  };
}

function unitVector(next: () => number, dimensions: number): Float32Array {
  const vector = Float32Array.from({ length: dimensions }, next);
  const length = Math.hypot(...vector);
  return vector.map((part) => part / length);
}

function plain(one: Float32Array, other: Float32Array): number {
  return one.reduce((sum, part, i) => sum + part * (other[i] ?? 0), 0);
}

/** As they come: in parts that have nothing to do with rows. */
function unpacked(dimensions: number, { codes, scales }: ReturnType<VectorCodes["pack"]>): VectorCodes {
  const vectors = createVectorCodes(dimensions, scales.length);
  const bytes = new Uint8Array(codes.buffer);
  for (let at = 0; at < bytes.length; at += 50_001) vectors.load(at, bytes.subarray(at, at + 50_001));
  vectors.setScales(scales);
  return vectors;
}

it.each([
  [3, 40],
  [256, 40],
  [256, 3000],
  [384, 1500],
])(
  "gives the same cosines as a plain loop for %i dimensions and %i rows, within the codes' error",
  (dimensions, count) => {
    const next = random(dimensions + count);
    const vectors = createVectorCodes(dimensions);
    const all = Array.from({ length: count }, () => unitVector(next, dimensions));
    for (const [slot, vector] of all.entries()) vectors.set(slot, vector);
    vectors.set(1, undefined);
    const packed = unpacked(dimensions, vectors.pack(count));
    const query = unitVector(next, dimensions);
    for (const one of [vectors, packed]) {
      const out = new Float32Array(count);
      one.dot(query, count, out);
      for (const [slot, vector] of all.entries()) {
        const wanted = slot === 1 ? 0 : plain(vector, query);
        expect(Math.abs((out[slot] as number) - wanted)).toBeLessThan(dimensions < 64 ? 0.02 : 0.004);
      }
    }
    vectors.release();
    packed.release();
  },
);

it("does not expose vectors to the next user of the memory", () => {
  const next = random(7);
  const query = unitVector(next, 256);
  const first = createVectorCodes(256);
  for (let slot = 0; slot < 2000; slot += 1) first.set(slot, query);
  first.release();
  const second = createVectorCodes(256);
  second.set(1999, unitVector(next, 256));
  const out = new Float32Array(1999);
  second.dot(query, 1999, out);
  expect(Math.max(...out)).toBe(0);
  second.release();
});

it("gives zeros after release, without allocating memory", () => {
  const next = random(9);
  const vectors = createVectorCodes(256);
  for (let slot = 0; slot < 2000; slot += 1) vectors.set(slot, unitVector(next, 256));
  expect(vectors.bytes).toBeGreaterThan(0);
  vectors.release();
  const [out, at, sum] = [new Float32Array(2000).fill(1), new Float32Array(2000), new Float32Array(256)];
  vectors.dot(unitVector(next, 256), 2000, out);
  vectors.dotAt(unitVector(next, 256), [1500], at);
  vectors.addTo(sum, 1500);
  expect([...out, ...at, ...sum].every((one) => one === 0)).toBe(true);
  expect(vectors.pack(2000).codes.every((code) => code === 0)).toBe(true);
  expect(vectors.bytes).toBe(0);
});
