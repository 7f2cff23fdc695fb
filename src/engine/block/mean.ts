import type { Block } from "./block.ts";

/** The mean is taken of so many units, at even distances, and of so many zeros: few units have little in common. */
const MOST_SAMPLED = 1024;
const ZEROS = 4;

/** What all vectors of a block have in common. */
export function meanOf({ vectors, units, words }: Block): Float32Array<ArrayBuffer> {
  const sum = new Float32Array(vectors.dimensions);
  const step = Math.max(1, units.count / MOST_SAMPLED);
  let sampled = ZEROS;
  for (let at = 0; at < units.count; at += step) {
    const slot = Math.floor(at);
    if (!words.isAlive(slot)) continue;
    vectors.addTo(sum, slot);
    sampled += 1;
  }
  return sum.map((part) => part / sampled);
}
