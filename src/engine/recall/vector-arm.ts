import type { Block } from "../block/block.ts";
import { TURN } from "../block/turns.ts";
import type { Signals } from "../rank/signals.ts";
import { greatest, greatestOf } from "./greatest.ts";
import type { Scratch } from "./scratch.ts";

/** So many beyond those wanted are looked at. */
const SPARE = 20;
/** What a cosine from codes is off by, at most in practice: five times the mean error of 256 parts of 8 bits. */
const CODE_ERROR = 0.002;

/**
 * The cosine of each unit with the query, from 8-bit codes: every vector is looked at. Nothing where the query has no
 * vector of the block's kind.
 */
export function scanVectors(block: Block, scratch: Scratch, query: Float32Array): Float32Array | undefined {
  const { units, vectors } = block;
  if (query.length !== vectors.dimensions || query.every((part) => part === 0)) return undefined;
  const near = scratch.raw("near", units.count);
  vectors.dot(query, units.count, near);
  return near;
}

/**
 * The slots whose cosine from codes does not tell whether they are among the `most` nearest: those within twice the
 * error of a code on either side of the last of them, the nearest first.
 */
export function doubtful(near: Float32Array, most: number): number[] {
  const best = greatestOf(near, most + SPARE);
  const last = near[best[Math.min(most, best.length) - 1] ?? 0] ?? 0;
  return best.filter((slot) => Math.abs((near[slot] as number) - last) <= 2 * CODE_ERROR);
}

/** The dot product of two vectors; of unit length, it is their cosine. */
export function cosine(one: Float32Array, other: Float32Array): number {
  let sum = 0;
  for (let i = 0; i < one.length; i += 1) sum += (one[i] as number) * (other[i] as number);
  return sum;
}

/** Fills the signals that vectors give: the cosine of each unit, and the mean of the turns around it. */
export function searchVectors(block: Block, scratch: Scratch, near: Float32Array, signals: Signals): void {
  const { columns, tops } = signals;
  columns.near = near;
  tops.near = greatest(near);
  columns.around = scratch.raw("around", block.turns.count);
  tops.around = meanAround(block, nearOfTurns(block, scratch, near), columns.around);
}

/** The nearest passage of each turn, at least 0. */
function nearOfTurns({ turns, units }: Block, scratch: Scratch, near: Float32Array): Float32Array {
  const { passage, flags } = turns.columns;
  const { nextOfTurn } = units.columns;
  const ofTurn = scratch.raw("turns", turns.count);
  const { count } = turns;
  for (let turn = 0; turn < count; turn += 1) {
    let slot = passage[turn] as number;
    let best = slot < 0 ? 0 : (near[slot] as number);
    if (best < 0) best = 0;
    if (((flags[turn] as number) & TURN.pieces) !== 0) {
      while (slot >= 0) {
        if ((near[slot] as number) > best) best = near[slot] as number;
        slot = nextOfTurn[slot] as number;
      }
    }
    ofTurn[turn] = best;
  }
  return ofTurn;
}

/** The mean of each turn and up to two on each side of it; gives the greatest. */
function meanAround({ turns }: Block, ofTurn: Float32Array, around: Float32Array): number {
  const { next, previous, window } = turns.columns;
  const { count } = turns;
  let top = 0;
  for (let turn = 0; turn < count; turn += 1) {
    const before = previous[turn] as number;
    const after = next[turn] as number;
    let sum = ofTurn[turn] as number;
    if (before >= 0) sum += (ofTurn[before] as number) + valueAt(ofTurn, previous[before] as number);
    if (after >= 0) sum += (ofTurn[after] as number) + valueAt(ofTurn, next[after] as number);
    const mean = sum / (window[turn] as number);
    around[turn] = mean;
    if (mean > top) top = mean;
  }
  return top;
}

function valueAt(values: Float32Array, place: number): number {
  return place < 0 ? 0 : (values[place] as number);
}
