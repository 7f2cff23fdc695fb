import type { Block } from "../block/block.ts";
import { aboutGreatestOf } from "./greatest.ts";
import type { Scratch } from "./scratch.ts";

/** Up to so many units, each is weighed. With half as many, nothing that is given on the public sets is another yet. */
export const ALL = 2048;
/** Of more, those that stand out in one arm at least: about so many by their words, by their window, by their claim. */
const BY_WORDS = 256;
const BY_WINDOWS = 128;
const BY_CLAIMS = 128;

/** What the arms found, for choosing whom to weigh. */
interface ByArm {
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
export function candidatesOf(block: Block, scratch: Scratch, arms: ByArm): Int32Array {
  const { count, columns } = block.units;
  if (count <= ALL) return upTo(count);
  const marks = scratch.column("marks", count);
  const slots: number[] = [];
  for (const slot of aboutGreatestOf(arms.words, arms.wordSlots, BY_WORDS)) mark(marks, slots, slot);
  for (const slot of arms.nearest) mark(marks, slots, slot);
  for (const slot of aboutGreatestOf(arms.claim, arms.claimSlots, BY_CLAIMS)) mark(marks, slots, slot);
  const { passage } = block.turns.columns;
  for (const turn of aboutGreatestOf(arms.window, arms.windowTurns, BY_WINDOWS)) {
    let slot = passage[turn] as number;
    for (; slot >= 0; slot = columns.nextOfTurn[slot] as number) mark(marks, slots, slot);
  }
  return Int32Array.from(slots).sort();
}

function mark(marks: Float32Array, slots: number[], slot: number): void {
  if (marks[slot] === 1) return;
  marks[slot] = 1;
  slots.push(slot);
}

/** A loop: `Int32Array.from` with a function takes a hundred times as long. */
function upTo(count: number): Int32Array {
  const slots = new Int32Array(count);
  for (let slot = 0; slot < count; slot += 1) slots[slot] = slot;
  return slots;
}
