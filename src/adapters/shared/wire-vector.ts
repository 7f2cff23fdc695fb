/** Digits by which a number of 32 bits is told from every other (IEEE 754, binary32). */
const DIGITS = 9;

/** A vector as JSON takes it: the same numbers of 32 bits in half the letters, for servers bound what a request may weigh. */
export function toJsonVector(vector: Float32Array): number[] {
  return Array.from(vector, (part) => Number(part.toPrecision(DIGITS)));
}

/** A cosine as the port wants it, of a server that rounds. */
export const clampCosine = (score: number): number => Math.max(-1, Math.min(1, score));
