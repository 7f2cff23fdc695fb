import type { SearchIndex } from "../block/block.ts";
import { TURN_FLAGS } from "../block/turns.ts";
import type { Signals } from "../rank/signals.ts";
import { getMeanCentering } from "./centre.ts";
import type { Scratch } from "./scratch.ts";
import { dotProduct } from "./vector-arm.ts";

/** The query's vector, the cosine of each unit with it, and the units that are weighed, by slot. */
export interface CenteredQuery {
  readonly vector: Float32Array;
  readonly near: Float32Array;
  readonly slots: Int32Array;
  readonly isRequest: boolean;
}

/**
 * Fills the signal of what tells the units apart: their cosine with the query once the block's centre is taken away, up to
 * a factor that is the same for all. Of what the user wishes once and for all, a request has it as a signal of its own.
 */
export function retrieveByCenteredVectors(
  block: SearchIndex,
  scratch: Scratch,
  { vector, near, slots, isRequest }: CenteredQuery,
  signals: Signals,
): void {
  const { mean, square, along, over } = getMeanCentering(block);
  const shift = square - dotProduct(vector, mean);
  const apart = scratch.raw("apart", block.units.count);
  let top = 0;
  for (let i = 0; i < slots.length; i += 1) {
    const slot = slots[i] as number;
    const value = ((near[slot] as number) - (along[slot] as number) + shift) * (over[slot] as number);
    apart[slot] = value > 0 ? value : 0;
    if (value > top) top = value;
  }
  signals.columns.apart = apart;
  signals.tops.apart = top;
  if (isRequest && top > 0 && (block.turns.seen & TURN_FLAGS.wishes) !== 0) {
    retrieveWishes(block, scratch, { apart, slots, top }, signals);
  }
}

function retrieveWishes(
  { units, turns }: SearchIndex,
  scratch: Scratch,
  { apart, slots, top }: { apart: Float32Array; slots: Int32Array; top: number },
  signals: Signals,
): void {
  const wish = scratch.raw("wish", units.count);
  const { turn } = units.columns;
  const { flags } = turns.columns;
  for (let i = 0; i < slots.length; i += 1) {
    const slot = slots[i] as number;
    const at = turn[slot] as number;
    const isOne = at >= 0 && ((flags[at] as number) & TURN_FLAGS.wishes) !== 0;
    wish[slot] = isOne ? (apart[slot] as number) / top : 0;
  }
  signals.columns.wish = wish;
  signals.tops.wish = 1;
}
