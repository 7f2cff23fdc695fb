// The two hashes by which spaCy finds the rows of a word: MurmurHash64A of its text, then 128 bits of MurmurHash3 of that.
// Both are Austin Appleby's, in the public domain. A 64-bit number is two 32-bit halves.

/** The halves of the last product or hash: a pair as a value would be an object for each step. */
let low = 0;
let high = 0;

/** (low, high) times a constant, modulo 2^64. */
function multiply(aLow: number, aHigh: number, bLow: number, bHigh: number): void {
  const a0 = aLow & 0xffff;
  const a1 = aLow >>> 16;
  const b0 = bLow & 0xffff;
  const b1 = bLow >>> 16;
  const p00 = Math.imul(a0, b0) >>> 0;
  const p01 = Math.imul(a0, b1) >>> 0;
  const p10 = Math.imul(a1, b0) >>> 0;
  const p11 = Math.imul(a1, b1) >>> 0;
  const middle = (p00 >>> 16) + (p01 & 0xffff) + (p10 & 0xffff);
  low = (p00 & 0xffff) | (middle << 16);
  high =
    (p11 + (p01 >>> 16) + (p10 >>> 16) + (middle >>> 16) + Math.imul(aHigh, bLow) + Math.imul(aLow, bHigh)) |
    0;
}

const M_LOW = 0x5bd1e995;
const M_HIGH = 0xc6a4a793;
const TEXT_SEED = 1;
const encoder = new TextEncoder();

/** A 64-bit hash as two signed halves. */
interface TextHash {
  readonly low: number;
  readonly high: number;
}

/** MurmurHash64A of a text in UTF-8 with the seed 1; 0 for the empty text, as in spaCy. */
export function hashUtf8(text: string): TextHash {
  if (text === "") return { low: 0, high: 0 };
  const bytes = encoder.encode(text);
  multiply(bytes.length, 0, M_LOW, M_HIGH);
  let hashLow = low ^ TEXT_SEED;
  let hashHigh = high;
  const blocks = bytes.length - (bytes.length % 8);
  for (let at = 0; at < blocks; at += 8) {
    multiply(readHalf(bytes, at), readHalf(bytes, at + 4), M_LOW, M_HIGH);
    // k ^= k >> 47
    multiply(low ^ (high >>> 15), high, M_LOW, M_HIGH);
    multiply(hashLow ^ low, hashHigh ^ high, M_LOW, M_HIGH);
    hashLow = low;
    hashHigh = high;
  }
  if (blocks < bytes.length) {
    multiply(hashLow ^ readHalf(bytes, blocks), hashHigh ^ readHalf(bytes, blocks + 4), M_LOW, M_HIGH);
    hashLow = low;
    hashHigh = high;
  }
  multiply(hashLow ^ (hashHigh >>> 15), hashHigh, M_LOW, M_HIGH);
  return { low: low ^ (high >>> 15), high };
}

/** Four bytes, little-endian; zeros past the end. */
function readHalf(bytes: Uint8Array, at: number): number {
  return (
    (bytes[at] ?? 0) |
    ((bytes[at + 1] ?? 0) << 8) |
    ((bytes[at + 2] ?? 0) << 16) |
    ((bytes[at + 3] ?? 0) << 24)
  );
}

/** Four rows of a table of `rows` rows for a hash, written to `out` from `at`: thinc's MurmurHash3 of the 8 bytes. */
export function hashToRows(hash: TextHash, seed: number, rows: number, out: Uint16Array, at: number): void {
  multiply(hash.low, hash.high, 0x114253d5, 0x87c37b91);
  // Rotated left by 31.
  multiply((low << 31) | (high >>> 1), (high << 31) | (low >>> 1), 0x2745937f, 0x4cf5ad43);
  let h1Low = low ^ seed ^ 8;
  let h1High = high;
  let h2Low = seed ^ 8;
  let h2High = 0;
  add(h1Low, h1High, h2Low, h2High);
  h1Low = low;
  h1High = high;
  add(h2Low, h2High, h1Low, h1High);
  h2Low = low;
  h2High = high;
  mix(h1Low, h1High);
  h1Low = low;
  h1High = high;
  mix(h2Low, h2High);
  h2Low = low;
  h2High = high;
  add(h1Low, h1High, h2Low, h2High);
  h1Low = low;
  h1High = high;
  add(h2Low, h2High, h1Low, h1High);
  out[at] = (h1Low >>> 0) % rows;
  out[at + 1] = (h1High >>> 0) % rows;
  out[at + 2] = (low >>> 0) % rows;
  out[at + 3] = (high >>> 0) % rows;
}

function add(aLow: number, aHigh: number, bLow: number, bHigh: number): void {
  const sum = (aLow >>> 0) + (bLow >>> 0);
  low = sum | 0;
  high = (aHigh + bHigh + (sum > 0xffffffff ? 1 : 0)) | 0;
}

/** The 64-bit finaliser of MurmurHash3. */
function mix(aLow: number, aHigh: number): void {
  multiply(aLow ^ (aHigh >>> 1), aHigh, 0xed558ccd, 0xff51afd7);
  multiply(low ^ (high >>> 1), high, 0x1a85ec53, 0xc4ceb9fe);
  low ^= high >>> 1;
}
