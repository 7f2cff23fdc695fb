import type { SearchIndex } from "../../search-index/search-index.ts";
import type { Scratch } from "./signals.ts";

/** The greatest value of a column, at least 0. */
export function selectTopK(column: Float32Array): number {
  const { length } = column;
  let top = 0;
  // The length is read once and each value once: over a column of ten thousand that is three times as fast.
  for (let place = 0; place < length; place += 1) {
    const value = column[place] as number;
    if (value > top) top = value;
  }
  return top;
}

/**
 * The places of the `most` greatest values that are at least `least`, greatest first, and among equals in rising order.
 * One comparison turns nearly every value away; those that stay are a heap with the least on top.
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
      // As great as the least that is kept, but later: it comes after it.
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
 * Takes the least off the top until none is left. V8 throws away what it compiled of a function when it collects garbage and none that
 * was made of it is in use: one made here for `sort` would be compiled anew again and again.
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

/** Whether one place comes after the other: a lesser value, or an equal one later. */
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

/** Brings the top of a heap of the first `length` places to where it belongs. */
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

/** Every so manieth value is looked at to find out about where the greatest begin. */
const SAMPLE_SIZE = 16;

/** The places of about the `most` greatest values, in rising order: a little more or less. */
export function selectApproximateTopK(values: Float32Array, most: number): number[] {
  const { length } = values;
  const bar = length > most ? estimateThreshold(values, undefined, length, most) : Number.NEGATIVE_INFINITY;
  const places: number[] = [];
  for (let place = 0; place < length; place += 1) {
    if ((values[place] as number) >= bar) places.push(place);
  }
  return places;
}

/** Of some places, those of about the `most` greatest values, in the order in which they were given. */
function selectApproximateTopKOf(
  values: Float32Array,
  places: readonly number[],
  most: number,
): readonly number[] {
  const { length } = places;
  if (length <= most) return places;
  const bar = estimateThreshold(values, places, length, most);
  const kept: number[] = [];
  for (let i = 0; i < length; i += 1) {
    const place = places[i] as number;
    if ((values[place] as number) >= bar) kept.push(place);
  }
  return kept;
}

/** The value that about `most` of so many reach, told from a sample of them. */
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

/** Up to so many units, each is weighed. With half as many, nothing that is given on the public sets is another yet. */
export const MAX_CANDIDATES = 2048;
/** Of more, those that stand out in one arm at least: about so many by their words, by their window, by their claim. */
const MAX_BY_WORDS = 256;
const MAX_BY_WINDOWS = 128;
const MAX_BY_CLAIMS = 128;

/** What the arms found, for choosing whom to weigh. */
interface RetrieverResults {
  readonly words: Float32Array;
  /** Slots whose own words speak for them, and turns whose window's do. */
  readonly wordSlots: readonly number[];
  readonly window: Float32Array;
  readonly windowTurns: readonly number[];
  /** Slots of the nearest by their vectors, and slots of claims that answer. */
  readonly nearest: readonly number[];
  readonly claim: Float32Array;
  readonly claimSlots: readonly number[];
}

/**
 * The slots of the units to be weighed: all of a small memory. Of a large one those that are among the foremost of some
 * arm, for what is among the first hundreds of no arm is nothing that anybody would be given; so the weighing does not
 * grow with all that a user ever said.
 */
export function selectCandidates(block: SearchIndex, scratch: Scratch, arms: RetrieverResults): Int32Array {
  const { count, columns } = block.units;
  if (count <= MAX_CANDIDATES) return createRange(count);
  const marks = scratch.column("marks", count);
  const slots: number[] = [];
  for (const slot of selectApproximateTopKOf(arms.words, arms.wordSlots, MAX_BY_WORDS))
    markSlot(marks, slots, slot);
  for (const slot of arms.nearest) markSlot(marks, slots, slot);
  for (const slot of selectApproximateTopKOf(arms.claim, arms.claimSlots, MAX_BY_CLAIMS))
    markSlot(marks, slots, slot);
  const { passage } = block.turns.columns;
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

/** A loop: `Int32Array.from` with a function takes a hundred times as long. */
function createRange(count: number): Int32Array {
  const slots = new Int32Array(count);
  for (let slot = 0; slot < count; slot += 1) slots[slot] = slot;
  return slots;
}
