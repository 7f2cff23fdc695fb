import type { SearchIndex } from "../block/block.ts";
import { selectApproximateTopKOf } from "./greatest.ts";
import type { Scratch } from "./scratch.ts";

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
