import { type SimdRows, simdRows } from "./simd.ts";

/** Vectors one after the other, by the number of their unit. */
export interface VectorBlock {
  readonly dimensions: number;
  /** Puts a vector, or zeros where there is none. */
  set(slot: number, vector: Float32Array | undefined): void;
  /** The dot products of the first `count` vectors with a query, valid until the next call. */
  dot(query: Float32Array, count: number): Float32Array;
}

/** Below this a plain loop takes no time, and a block of memory of its own is not worth its price. */
const FEW = 1024;

/** A block that grows by half at a time, so that a vector more does not copy all the others. */
export function vectorBlock(dimensions: number): VectorBlock {
  let room = 64;
  let plain: Float32Array = new Float32Array(room * dimensions);
  let simd: SimdRows | undefined;

  const grow = (slot: number): void => {
    room = Math.max(slot + 1, Math.ceil(room * 1.5));
    simd = room >= FEW ? simdRows(room, dimensions) : undefined;
    const rows = simd?.rows ?? new Float32Array(room * dimensions);
    rows.set(plain);
    plain = rows;
  };

  return {
    dimensions,
    set(slot, vector) {
      if (slot >= room) grow(slot);
      if (vector) plain.set(vector, slot * dimensions);
      else plain.fill(0, slot * dimensions, (slot + 1) * dimensions);
    },
    dot(query, count) {
      const known = Math.min(count, room);
      return simd ? simd.dot(query, known) : dotAll(plain, query, known);
    },
  };
}

function dotAll(rows: Float32Array, query: Float32Array, count: number): Float32Array {
  const out = new Float32Array(count);
  const { length } = query;
  const whole = length - (length % 4);
  for (let slot = 0; slot < count; slot += 1) {
    const from = slot * length;
    // Four sums at once keep the processor busy where one would wait for itself.
    let [a, b, c, d] = [0, 0, 0, 0];
    for (let i = 0; i < whole; i += 4) {
      a += (rows[from + i] as number) * (query[i] as number);
      b += (rows[from + i + 1] as number) * (query[i + 1] as number);
      c += (rows[from + i + 2] as number) * (query[i + 2] as number);
      d += (rows[from + i + 3] as number) * (query[i + 3] as number);
    }
    for (let i = whole; i < length; i += 1) a += (rows[from + i] as number) * (query[i] as number);
    out[slot] = a + b + c + d;
  }
  return out;
}
