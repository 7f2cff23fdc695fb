import type { SearchIndex } from "./block.ts";

/** The mean is taken of so many units, at even distances, and of so many zeros: few units have little in common. */
const MAX_SAMPLED = 1024;
const PRIOR_ZEROS = 4;

/** What all vectors of a block have in common. */
export function meanVectorOf({ vectors, units, words }: SearchIndex): Float32Array<ArrayBuffer> {
  const sum = new Float32Array(vectors.dimensions);
  const step = Math.max(1, units.count / MAX_SAMPLED);
  let sampled = PRIOR_ZEROS;
  for (let at = 0; at < units.count; at += step) {
    const slot = Math.floor(at);
    if (!words.isAlive(slot)) continue;
    vectors.addTo(sum, slot);
    sampled += 1;
  }
  return sum.map((part) => part / sampled);
}
