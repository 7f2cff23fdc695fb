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
  const near = vectors.dot(query, slots);
  const ofTurn = corpus.column("turns", turns.messages.length);
  for (let slot = 0; slot < slots; slot += 1) {
    const at = turn[slot] as number;
    const cosine = near[slot] as number;
    if (at >= 0 && cosine > (ofTurn[at] as number) && isPassage[slot] === 1) ofTurn[at] = cosine;
  }
  signals.near = near;
  signals.around = meanAround(corpus, ofTurn);
}

/** The mean of each turn and up to two on each side of it. */
function meanAround({ turns, column }: Corpus, ofTurn: Float32Array): Float32Array {
  const { next, window } = turns;
  const around = column("around", ofTurn.length);
  around.set(ofTurn);
  // Each turn gives to those after it and takes from them, so that every pair is met once.
  const count = ofTurn.length;
  for (let turn = 0; turn < count; turn += 1) {
    const own = ofTurn[turn] as number;
    let near = next[turn] as number;
    for (let i = 0; near >= 0 && i < REACH; i += 1) {
      around[turn] = (around[turn] as number) + (ofTurn[near] as number);
      around[near] = (around[near] as number) + own;
      near = next[near] as number;
    }
    // Those before have given already.
    around[turn] = (around[turn] as number) / (window[turn] as number);
  }
  return around;
}
