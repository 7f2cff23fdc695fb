import type { SearchIndex } from "../../search-index/search-index.ts";
import { TURN_FLAGS } from "../../search-index/turn-table.ts";
import { getMeanCentering } from "./mean-centering.ts";
import type { Scratch, Signals } from "./signals.ts";
import { MAX_CANDIDATES, selectApproximateTopK, selectTopKOf } from "./top-k.ts";

/** Units beyond the requested ones that may be compared again by their full vectors. */
const MAX_RESCORED = 20;
/** Approximate number of nearest units scored in a large memory. */
const MAX_FOREMOST = 256;
/** Number of nearest units kept in a small memory, where all are scored. */
const MIN_FOREMOST = 64;
/**
 * The maximum error of a cosine from codes, in practice: five times the mean error of 256 parts of 8 bits.
 */
const CODE_ERROR = 0.002;

/** A query's vector, the cosines of units with it, and the slots of the greatest cosines, in any order. */
export interface QuerySimilarity {
  readonly vector: Float32Array;
  /** By slot, for all units; if `isPartial`, only for the computed ones, 0 for the others. */
  readonly near: Float32Array;
  readonly foremost: readonly number[];
  readonly isPartial?: boolean;
}

/**
 * The cosine of each unit with the query, from 8-bit codes of every vector. Undefined if the query has no
 * vector of the index's space.
 */
export function scanVectors(
  searchIndex: SearchIndex,
  scratch: Scratch,
  query: Float32Array,
): QuerySimilarity | undefined {
  const { units, vectors } = searchIndex;
  if (query.length !== vectors.dimensions || query.every((part) => part === 0)) return undefined;
  const near = scratch.raw("near", units.count);
  vectors.dot(query, units.count, near);
  return {
    vector: query,
    near,
    foremost:
      units.count <= MAX_CANDIDATES
        ? selectTopKOf(near, MIN_FOREMOST)
        : selectApproximateTopK(near, MAX_FOREMOST),
  };
}

/**
 * The same when a vector index has named the nearest. In a large memory, computes only their cosines here;
 * `computeMissingCosines` adds the other candidates later.
 */
export function toQuerySimilarity(
  searchIndex: SearchIndex,
  scratch: Scratch,
  query: Float32Array,
  named: readonly number[],
): QuerySimilarity | undefined {
  const { units, vectors } = searchIndex;
  if (units.count <= MAX_CANDIDATES || query.length !== vectors.dimensions) {
    const similarity = scanVectors(searchIndex, scratch, query);
    return similarity && { ...similarity, foremost: named };
  }
  const near = scratch.column("near", units.count);
  vectors.dotAt(query, named, near);
  return { vector: query, near, foremost: named, isPartial: true };
}

/** Computes the missing cosines of some units and of their surrounding turns. */
export function computeMissingCosines(
  searchIndex: SearchIndex,
  { vector, near, isPartial }: QuerySimilarity,
  slots: Int32Array,
): void {
  if (!isPartial) return;
  const { turns, units, vectors } = searchIndex;
  const { previous, next } = turns.columns;
  const wanted = new Set<number>(slots);
  const around = new Set<number>();
  for (const slot of slots) {
    const turn = units.columns.turn[slot] as number;
    if (turn < 0) continue;
    around.add(turn);
    for (const column of [previous, next]) {
      const one = column[turn] as number;
      if (one < 0) continue;
      around.add(one);
      if ((column[one] as number) >= 0) around.add(column[one] as number);
    }
  }
  for (const turn of around) {
    for (
      let slot = turns.columns.passage[turn] as number;
      slot >= 0;
      slot = units.columns.nextOfTurn[slot] as number
    ) {
      wanted.add(slot);
    }
  }
  vectors.dotAt(vector, [...wanted], near);
}

/**
 * The slots whose cosine from codes does not show whether they are among the `most` nearest. These lie within
 * twice the code error of the last of them. Nearest first.
 */
export function findUncertain({ near, foremost }: Omit<QuerySimilarity, "vector">, most: number): number[] {
  const cosines = new Float32Array(foremost.length);
  for (let i = 0; i < cosines.length; i += 1) cosines[i] = near[foremost[i] as number] as number;
  const best = selectTopKOf(cosines, most + MAX_RESCORED);
  const last = cosines[best[Math.min(most, best.length) - 1] ?? 0] ?? 0;
  return best
    .filter((i) => Math.abs((cosines[i] as number) - last) <= 2 * CODE_ERROR)
    .map((i) => foremost[i] as number);
}

/** The dot product of two vectors; for unit length, their cosine. */
export function dotProduct(one: Float32Array, other: Float32Array): number {
  let sum = 0;
  for (let i = 0; i < one.length; i += 1) sum += (one[i] as number) * (other[i] as number);
  return sum;
}

/** Marks a turn that is not computed yet; no mean is below 0. */
const NOT_COMPUTED = -1;

/** Fills the vector signals: the cosine of each unit, and the mean of the turns around each candidate. */
export function retrieveByVectors(
  searchIndex: SearchIndex,
  scratch: Scratch,
  { near, foremost }: QuerySimilarity,
  slots: Int32Array,
  signals: Signals,
): void {
  const { columns, tops } = signals;
  columns.near = near;
  tops.near = foremost.reduce((top, slot) => Math.max(top, near[slot] as number), 0);
  const { turn } = searchIndex.units.columns;
  const { next, previous, window } = searchIndex.turns.columns;
  const around = scratch.raw("around", searchIndex.turns.count);
  // If all units are scored, each turn occurs many times; if few are, noting the turns takes longer.
  const isAll = slots.length === searchIndex.units.count;
  if (isAll) around.fill(NOT_COMPUTED);
  const nearest = isAll ? scratch.raw("nearest", searchIndex.turns.count).fill(NOT_COMPUTED) : undefined;
  const nearAt = (at: number): number => {
    if (at < 0) return 0;
    if (!nearest) return similarityOfTurn(searchIndex, near, at);
    if (nearest[at] === NOT_COMPUTED) nearest[at] = similarityOfTurn(searchIndex, near, at);
    return nearest[at] as number;
  };
  let top = 0;
  for (let i = 0; i < slots.length; i += 1) {
    const at = turn[slots[i] as number] as number;
    if (at < 0 || (isAll && around[at] !== NOT_COMPUTED)) continue;
    const before = previous[at] as number;
    const after = next[at] as number;
    let sum = nearAt(at);
    if (before >= 0) sum += nearAt(before) + nearAt(previous[before] as number);
    if (after >= 0) sum += nearAt(after) + nearAt(next[after] as number);
    const mean = sum / (window[at] as number);
    around[at] = mean;
    if (mean > top) top = mean;
  }
  columns.around = around;
  tops.around = top;
}

/** Cosine of the nearest passage of a turn, at least 0; 0 if there is none. */
function similarityOfTurn({ turns, units }: SearchIndex, near: Float32Array, turn: number): number {
  let slot = turns.columns.passage[turn] as number;
  let best = 0;
  const hasMore = ((turns.columns.flags[turn] as number) & TURN_FLAGS.pieces) !== 0;
  while (slot >= 0) {
    const value = near[slot] as number;
    if (value > best) best = value;
    slot = hasMore ? (units.columns.nextOfTurn[slot] as number) : -1;
  }
  return best;
}

/** The query's vector, the cosine of each unit with it, and the slots of the scored units. */
interface CenteredQuery {
  readonly vector: Float32Array;
  readonly near: Float32Array;
  readonly slots: Int32Array;
  readonly isRequest: boolean;
}

/**
 * Fills the mean-centred signal: the cosine with the query after the index's mean is subtracted, up to a
 * common factor. Standing preferences get a signal of their own for a request.
 */
export function retrieveByCenteredVectors(
  searchIndex: SearchIndex,
  scratch: Scratch,
  { vector, near, slots, isRequest }: CenteredQuery,
  signals: Signals,
): void {
  const { mean, square, along, over } = getMeanCentering(searchIndex);
  const shift = square - dotProduct(vector, mean);
  const apart = scratch.raw("apart", searchIndex.units.count);
  let top = 0;
  for (let i = 0; i < slots.length; i += 1) {
    const slot = slots[i] as number;
    const value = ((near[slot] as number) - (along[slot] as number) + shift) * (over[slot] as number);
    apart[slot] = value > 0 ? value : 0;
    if (value > top) top = value;
  }
  signals.columns.apart = apart;
  signals.tops.apart = top;
  if (isRequest && top > 0 && (searchIndex.turns.seen & TURN_FLAGS.wishes) !== 0) {
    retrieveWishes(searchIndex, scratch, { apart, slots, top }, signals);
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
