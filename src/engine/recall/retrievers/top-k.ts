import type { SearchIndex } from "../../search-index/search-index.ts";
import type { Scratch } from "./signals.ts";

/** The maximum of a column, at least 0. */
export function selectTopK(column: Float32Array): number {
  const { length } = column;
  let top = 0;
  // Reads the length once and each value once: three times as fast over a column of ten thousand.
  for (let place = 0; place < length; place += 1) {
    const value = column[place] as number;
    if (value > top) top = value;
  }
  return top;
}

/**
 * The positions of the `most` greatest values that are at least `least`, greatest first; ties in rising
 * order. One comparison rejects nearly every value; the rest form a heap with the least on top.
 */
export function selectTopKOf(
  values: Float32Array,
  most: number,
  least: number = Number.NEGATIVE_INFINITY,
): number[] {
  const { length } = values;
  const heap: number[] = [];
  let bar = least;
  let isFull = false;
  for (let place = 0; place < length; place += 1) {
    const value = values[place] as number;
    if (value < bar) continue;
    if (isFull) {
      // Equal to the least kept value, but later: it ranks after it.
      if (value === bar) continue;
      heap[0] = place;
      siftDown(heap, heap.length, values);
    } else {
      heap.push(place);
      siftUp(heap, values);
      isFull = heap.length === most;
    }
    if (isFull) bar = values[heap[0] as number] as number;
  }
  return popAll(heap, values);
}

/**
 * Pops the least until the heap is empty. A closure for `sort` would be compiled repeatedly: a garbage
 * collection drops a function's code when no instance is in use.
 */
function popAll(heap: number[], values: Float32Array): number[] {
  for (let last = heap.length - 1; last > 0; last -= 1) {
    const least = heap[0] as number;
    heap[0] = heap[last] as number;
    heap[last] = least;
    siftDown(heap, last, values);
  }
  return heap;
}

/** Whether one position ranks after the other: a lesser value, or an equal one later. */
function isLess(values: Float32Array, one: number, other: number): boolean {
  const a = values[one] as number;
  const b = values[other] as number;
  return a < b || (a === b && one > other);
}

function siftUp(heap: number[], values: Float32Array): void {
  let at = heap.length - 1;
  const place = heap[at] as number;
  while (at > 0) {
    const above = (at - 1) >> 1;
    if (!isLess(values, place, heap[above] as number)) break;
    heap[at] = heap[above] as number;
    at = above;
  }
  heap[at] = place;
}

/** Moves the top of a heap of the first `length` positions to its place. */
function siftDown(heap: number[], length: number, values: Float32Array): void {
  const place = heap[0] as number;
  let at = 0;
  for (;;) {
    let below = 2 * at + 1;
    if (below >= length) break;
    if (below + 1 < length && isLess(values, heap[below + 1] as number, heap[below] as number)) below += 1;
    if (!isLess(values, heap[below] as number, place)) break;
    heap[at] = heap[below] as number;
    at = below;
  }
  heap[at] = place;
}

/** Sampling interval for the estimate of the threshold. */
const SAMPLE_SIZE = 16;

/** The positions of approximately the `most` greatest values, in rising order. */
export function selectApproximateTopK(values: Float32Array, most: number): number[] {
  const { length } = values;
  const bar = length > most ? estimateThreshold(values, undefined, length, most) : Number.NEGATIVE_INFINITY;
  const places: number[] = [];
  for (let place = 0; place < length; place += 1) {
    if ((values[place] as number) >= bar) places.push(place);
  }
  return places;
}

/** Of the given positions, approximately the `most` with the greatest values, in the given order. */
function selectApproximateTopKOf(
  values: Float32Array,
  places: readonly number[],
  most: number,
): readonly number[] {
  const { length } = places;
  if (length <= most) return places;
  const bar = estimateThreshold(values, places, length, most);
  const heap: number[] = [];
  for (let i = 0; i < length; i += 1) {
    const place = places[i] as number;
    if ((values[place] as number) >= bar) heap.push(place);
  }
  return heap;
}

/** The value that about `most` of `count` values reach, estimated from a sample. */
function estimateThreshold(
  values: Float32Array,
  places: readonly number[] | undefined,
  length: number,
  most: number,
): number {
  const sample = new Float32Array(Math.ceil(length / SAMPLE_SIZE));
  for (let i = 0; i < sample.length; i += 1) {
    const at = i * SAMPLE_SIZE;
    sample[i] = values[places ? (places[at] as number) : at] as number;
  }
  const best = selectTopKOf(sample, Math.ceil(most / SAMPLE_SIZE));
  return sample[best.at(-1) ?? 0] as number;
}

/** Up to this many units, all are scored. Half as many already changes no result on the public data sets. */
export const MAX_CANDIDATES = 2048;
/** In a larger memory, the approximate number of candidates by words, window and claim. */
const MAX_BY_WORDS = 256;
const MAX_BY_WINDOWS = 128;
const MAX_BY_CLAIMS = 128;

/** The results of the retrievers, from which candidates are chosen. */
interface RetrieverResults {
  readonly words: Float32Array;
  /** Slots that match by their own words, and turns that match by their window. */
  readonly wordSlots: readonly number[];
  readonly window: Float32Array;
  readonly windowTurns: readonly number[];
  /** Slots of the nearest by vector, and slots of claims that answer the query. */
  readonly nearest: readonly number[];
  readonly claim: Float32Array;
  readonly claimSlots: readonly number[];
}

/**
 * The slots of the units to score: all in a small memory. In a large memory, only units among the foremost of
 * some retriever, because no other unit would be returned. So the scoring cost does not grow with the user's
 * history.
 */
export function selectCandidates(
  searchIndex: SearchIndex,
  scratch: Scratch,
  arms: RetrieverResults,
): Int32Array {
  const { count, columns } = searchIndex.units;
  if (count <= MAX_CANDIDATES) return createRange(count);
  const marks = scratch.column("marks", count);
  const slots: number[] = [];
  for (const slot of selectApproximateTopKOf(arms.words, arms.wordSlots, MAX_BY_WORDS))
    markSlot(marks, slots, slot);
  for (const slot of arms.nearest) markSlot(marks, slots, slot);
  for (const slot of selectApproximateTopKOf(arms.claim, arms.claimSlots, MAX_BY_CLAIMS))
    markSlot(marks, slots, slot);
  const { passage } = searchIndex.turns.columns;
  for (const turn of selectApproximateTopKOf(arms.window, arms.windowTurns, MAX_BY_WINDOWS)) {
    let slot = passage[turn] as number;
    for (; slot >= 0; slot = columns.nextOfTurn[slot] as number) markSlot(marks, slots, slot);
  }
  return Int32Array.from(slots).sort();
}

function markSlot(marks: Float32Array, slots: number[], slot: number): void {
  if (marks[slot] === 1) return;
  marks[slot] = 1;
  slots.push(slot);
}

/** A loop, because `Int32Array.from` with a function takes a hundred times as long. */
function createRange(count: number): Int32Array {
  const slots = new Int32Array(count);
  for (let slot = 0; slot < count; slot += 1) slots[slot] = slot;
  return slots;
}
