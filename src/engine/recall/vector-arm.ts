import type { Block } from "../block/block.ts";
import { REACH, type Turns } from "../block/turns.ts";
import type { Signals } from "../rank/signals.ts";
import type { Scratch } from "./scratch.ts";

/** So many of the nearest are compared once more, by their vectors themselves. */
export const RESCORED = 40;

/**
 * The cosine of each unit with the query, from 8-bit codes: every vector is looked at. Nothing where the query has no
 * vector of the block's kind.
 */
export function scanVectors(block: Block, scratch: Scratch, query: Float32Array): Float32Array | undefined {
  const { units, vectors } = block;
  if (query.length !== vectors.dimensions || query.every((part) => part === 0)) return undefined;
  const near = scratch.column("near", units.count);
  vectors.dot(query, units.count, near);
  return near;
}

/** The slots of the greatest values, greatest first. */
export function greatestOf(values: Float32Array, most: number): number[] {
  const best: number[] = [];
  let least = Number.NEGATIVE_INFINITY;
  for (let slot = 0; slot < values.length; slot += 1) {
    const value = values[slot] as number;
    if (value <= least && best.length === most) continue;
    insert(best, values, slot, value);
    if (best.length > most) best.pop();
    least = values[best.at(-1) ?? 0] as number;
  }
  return best;
}

function insert(best: number[], values: Float32Array, slot: number, value: number): void {
  let low = 0;
  let high = best.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((values[best[middle] as number] as number) >= value) low = middle + 1;
    else high = middle;
  }
  best.splice(low, 0, slot);
}

/** The dot product of two vectors; of unit length, it is their cosine. */
export function cosine(one: Float32Array, other: Float32Array): number {
  let sum = 0;
  for (let i = 0; i < one.length; i += 1) sum += (one[i] as number) * (other[i] as number);
  return sum;
}

/** Fills the signals that vectors give: the cosine of each unit, and the mean of the turns around it. */
export function searchVectors(
  { units, turns }: Block,
  scratch: Scratch,
  near: Float32Array,
  signals: Signals,
): void {
  const { turn, piece } = units.columns;
  const ofTurn = scratch.column("turns", turns.count);
  for (let slot = 0; slot < near.length; slot += 1) {
    const at = turn[slot] as number;
    const value = near[slot] as number;
    if (at >= 0 && value > (ofTurn[at] as number) && (piece[slot] as number) >= 0) ofTurn[at] = value;
  }
  signals.near = near;
  signals.around = meanAround(turns, scratch, ofTurn);
}

/** The mean of each turn and up to two on each side of it. */
function meanAround({ columns }: Turns, scratch: Scratch, ofTurn: Float32Array): Float32Array {
  const { next, window } = columns;
  const around = scratch.column("around", ofTurn.length);
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
