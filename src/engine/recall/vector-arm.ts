import type { Signals } from "../rank/signals.ts";
import type { Corpus } from "./corpus.ts";
import { REACH } from "./turns.ts";

/**
 * Fills the signals that vectors give: the cosine of each unit with the query, and the mean of the turns around it.
 * Exact: every vector is looked at. Vectors have unit length, so the cosine is the dot product.
 */
export function searchVectors(corpus: Corpus, query: Float32Array, signals: Signals): void {
  const { slots, vectors, isPassage, turn, turns } = corpus;
  if (query.length !== vectors.dimensions || query.every((part) => part === 0)) return;
  const near = vectors.dot(query, slots).slice();
  const ofTurn = new Float32Array(turns.messages.length);
  for (let slot = 0; slot < slots; slot += 1) {
    const at = turn[slot] as number;
    const cosine = near[slot] as number;
    if (at >= 0 && cosine > (ofTurn[at] as number) && isPassage[slot] === 1) ofTurn[at] = cosine;
  }
  signals.near = near;
  signals.around = meanAround(corpus, ofTurn);
}

/** The mean of each turn and up to two on each side of it. */
function meanAround({ turns }: Corpus, ofTurn: Float32Array): Float32Array {
  const { next } = turns;
  const around = new Float32Array(ofTurn.length);
  const counts = new Uint8Array(ofTurn.length).fill(1);
  around.set(ofTurn);
  // Each turn gives to those after it and takes from them, so that every pair is met once.
  for (let turn = 0; turn < ofTurn.length; turn += 1) {
    for (
      let near = next[turn] as number, i = 0;
      near >= 0 && i < REACH;
      near = next[near] as number, i += 1
    ) {
      around[turn] = (around[turn] as number) + (ofTurn[near] as number);
      around[near] = (around[near] as number) + (ofTurn[turn] as number);
      counts[turn] = (counts[turn] as number) + 1;
      counts[near] = (counts[near] as number) + 1;
    }
  }
  for (let turn = 0; turn < around.length; turn += 1)
    around[turn] = (around[turn] as number) / (counts[turn] as number);
  return around;
}
