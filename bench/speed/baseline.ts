import { bm25 } from "../quality/bm25.ts";
import type { MadeUp } from "./made-up.ts";

/** What one would write in an afternoon: every vector in one array, and a loop over it. */
export function scanOf(count: number, dimensions: number): (query: Float32Array) => number {
  const vectors = new Float32Array(count * dimensions);
  for (let i = 0; i < vectors.length; i += 1) vectors[i] = ((i * 2_654_435_761) % 1000) / 1000 - 0.5;
  return (query) => {
    let best = -1;
    let most = Number.NEGATIVE_INFINITY;
    for (let row = 0; row < count; row += 1) {
      let sum = 0;
      for (let i = 0; i < dimensions; i += 1)
        sum += (vectors[row * dimensions + i] as number) * (query[i] as number);
      if (sum > most) {
        most = sum;
        best = row;
      }
    }
    return best;
  };
}

export function wordsOf(said: readonly MadeUp[]): (query: string) => number[] {
  return bm25(said.map(({ content }) => content)).rank;
}
