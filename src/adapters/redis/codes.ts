/**
 * A vector in 8 bits a part, with how far that is off at most: enough to leave out, without a doubt, nearly all that cannot be
 * among the nearest. Layout, little-endian: the step (a 32-bit float), the length of what the codes leave out (a 32-bit float),
 * then a signed byte for each part. All zeros is nothing.
 */
const HEAD = 8;
const MOST = 127;

export const codeLength = (dimensions: number): number => HEAD + dimensions;

export function codeOf(vector: Float32Array): Buffer {
  let most = 0;
  for (const part of vector) most = Math.max(most, Math.abs(part));
  const step = Math.fround(most / MOST) || 1;
  const code = Buffer.alloc(codeLength(vector.length));
  let rest = 0;
  for (let i = 0; i < vector.length; i += 1) {
    const part = vector[i] as number;
    const rounded = Math.max(-MOST, Math.min(MOST, Math.round(part / step)));
    code.writeInt8(rounded, HEAD + i);
    rest += (part - rounded * step) ** 2;
  }
  code.writeFloatLE(step, 0);
  // Rounded up: a bound that is a little too wide leaves nothing out.
  code.writeFloatLE(Math.sqrt(rest) * 1.000_01 + 1e-7, 4);
  return code;
}

/** Slots, and between which bounds the cosine of each with a query lies. */
export interface Bounded {
  readonly slot: number;
  readonly least: number;
  readonly most: number;
}

/** What a chunk of codes tells of a query; `first` is the slot of its first code. */
export function boundsIn(chunk: Buffer, query: Float32Array, first: number): Bounded[] {
  const length = codeLength(query.length);
  const codes = new Int8Array(chunk.buffer, chunk.byteOffset, chunk.byteLength);
  const found: Bounded[] = [];
  for (let at = 0, slot = first; at + length <= chunk.length; at += length, slot += 1) {
    const step = chunk.readFloatLE(at);
    if (step === 0) continue;
    const off = chunk.readFloatLE(at + 4);
    let sum = 0;
    for (let i = 0, from = at + HEAD; i < query.length; i += 1) {
      sum += (query[i] as number) * (codes[from + i] as number);
    }
    // |q·(v - v')| is at most |v - v'|, for |q| is 1 (Cauchy and Schwarz).
    found.push({ slot, least: sum * step - off, most: sum * step + off });
  }
  return found;
}

/** Those of which one may be among the `limit` nearest: no other can be. The most promising first. */
export function foremost(all: readonly Bounded[], limit: number): Bounded[] {
  if (all.length <= limit) return [...all].sort((one, other) => other.most - one.most);
  const sure = all
    .map(({ least }) => least)
    .sort((one, other) => other - one)
    .at(limit - 1) as number;
  return all.filter(({ most }) => most >= sure).sort((one, other) => other.most - one.most);
}
