import type { Signals } from "../rank/signals.ts";
import type { Corpus } from "./corpus.ts";

/**
 * Fills the signals that vectors give: the cosine of each unit with the query, and the mean of the turns around it.
 * Exact: every vector is looked at. Vectors have unit length, so the cosine is the dot product.
 */
export function searchVectors(corpus: Corpus, query: Float32Array, signals: Signals): void {
  const { slots, vectors, dimensions, units, turn, turns } = corpus;
  if (query.length !== dimensions || query.every((part) => part === 0)) return;
  const ofTurn = new Float32Array(turns.messages.length);
  for (let slot = 0; slot < slots; slot += 1) {
    const cosine = dot(vectors, slot * dimensions, query);
    signals.near[slot] = cosine;
    const at = turn[slot] ?? -1;
    if (at >= 0 && units[slot]?.type === "passage" && cosine > (ofTurn[at] ?? 0)) ofTurn[at] = cosine;
  }
  const around = meanAround(corpus, ofTurn);
  for (let slot = 0; slot < slots; slot += 1) {
    const at = turn[slot] ?? -1;
    signals.around[slot] = at < 0 ? (signals.near[slot] ?? 0) : (around[at] ?? 0);
  }
}

/** Four sums at once keep the processor busy where one would wait for itself. */
function dot(vectors: Float32Array, from: number, query: Float32Array): number {
  let a = 0;
  let b = 0;
  let c = 0;
  let d = 0;
  const whole = query.length - (query.length % 4);
  for (let i = 0; i < whole; i += 4) {
    a += (vectors[from + i] as number) * (query[i] as number);
    b += (vectors[from + i + 1] as number) * (query[i + 1] as number);
    c += (vectors[from + i + 2] as number) * (query[i + 2] as number);
    d += (vectors[from + i + 3] as number) * (query[i + 3] as number);
  }
  for (let i = whole; i < query.length; i += 1) a += (vectors[from + i] as number) * (query[i] as number);
  return a + b + c + d;
}

function meanAround({ turns }: Corpus, ofTurn: Float32Array): Float32Array {
  const around = new Float32Array(ofTurn.length);
  for (let turn = 0; turn < ofTurn.length; turn += 1) {
    const before = turns.previous[turn] ?? -1;
    const after = turns.next[turn] ?? -1;
    const window = [turn, before, after, turns.previous[before] ?? -1, turns.next[after] ?? -1];
    let sum = 0;
    let count = 0;
    for (const near of window) {
      if (near < 0) continue;
      sum += ofTurn[near] ?? 0;
      count += 1;
    }
    around[turn] = sum / count;
  }
  return around;
}
