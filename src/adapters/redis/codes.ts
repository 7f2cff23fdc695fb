/**
 * A vector in 8 bits a part, with how far that is off at most: enough to leave out, without a doubt, nearly all that cannot be
 * among the nearest. Layout, little-endian: the step (a 32-bit float), the length of what the codes leave out (a 32-bit float),
 * then a signed byte for each part. All zeros is nothing.
 */
const CODE_HEADER_BYTES = 8;
const MAX_CODE = 127;

export const getCodeLength = (dimensions: number): number => CODE_HEADER_BYTES + dimensions;

export function encodeVectorCode(vector: Float32Array): Buffer {
  let most = 0;
  for (const part of vector) most = Math.max(most, Math.abs(part));
  const step = Math.fround(most / MAX_CODE) || 1;
  const code = Buffer.alloc(getCodeLength(vector.length));
  let rest = 0;
  for (let i = 0; i < vector.length; i += 1) {
    const part = vector[i] as number;
    const rounded = Math.max(-MAX_CODE, Math.min(MAX_CODE, Math.round(part / step)));
    code.writeInt8(rounded, CODE_HEADER_BYTES + i);
    rest += (part - rounded * step) ** 2;
  }
  code.writeFloatLE(step, 0);
  // Rounded up: a bound that is a little too wide leaves nothing out.
  code.writeFloatLE(Math.sqrt(rest) * 1.000_01 + 1e-7, 4);
  return code;
}

/** By slot: between which bounds the cosine with a query lies. Where nothing is, both are below every cosine. */
export interface CosineBounds {
  readonly least: Float32Array;
  readonly most: Float32Array;
}

const EMPTY_BOUND = -2;

export function createCosineBounds(slots: number): CosineBounds {
  return {
    least: new Float32Array(slots).fill(EMPTY_BOUND),
    most: new Float32Array(slots).fill(EMPTY_BOUND),
  };
}

/** Notes what a chunk of codes tells of a query; `first` is the slot of its first code. */
export function addCosineBounds(
  { least, most }: CosineBounds,
  chunk: Buffer,
  query: Float32Array,
  first: number,
): void {
  const { length: dimensions } = query;
  const length = getCodeLength(dimensions);
  const codes = new Int8Array(chunk.buffer, chunk.byteOffset, chunk.byteLength);
  for (
    let at = 0, slot = first;
    at + length <= chunk.length && slot < least.length;
    at += length, slot += 1
  ) {
    const step = chunk.readFloatLE(at);
    if (step === 0) continue;
    const off = chunk.readFloatLE(at + 4);
    let sum = 0;
    for (let i = 0, from = at + CODE_HEADER_BYTES; i < dimensions; i += 1, from += 1) {
      sum += (query[i] as number) * (codes[from] as number);
    }
    // |q·(v - v')| is at most |v - v'|, for |q| is 1 (Cauchy and Schwarz).
    least[slot] = sum * step - off - ROUNDING;
    most[slot] = sum * step + off + ROUNDING;
  }
}

/** The bounds are kept in 32 bits. */
const ROUNDING = 1e-6;

/** The slots of which one may be among the `limit` nearest: no other can be. */
export function selectCandidateSlots({ least, most }: CosineBounds, limit: number): number[] {
  const sure = least.length <= limit ? EMPTY_BOUND : (least.slice().sort()[least.length - limit] as number);
  const found: number[] = [];
  for (let slot = 0; slot < most.length; slot += 1) {
    const bound = most[slot] as number;
    if (bound > EMPTY_BOUND && bound >= sure) found.push(slot);
  }
  return found;
}
