import type { Memory } from "../domain/memory.ts";
import type { Message } from "../domain/message.ts";
import { analyse } from "../domain/words.ts";
import { type Block, rowOf } from "./block/block.ts";
import { telling as weightOf } from "./block/words.ts";
import type { MemoryDraft } from "./memory-draft.ts";
import type { UserState } from "./user-state.ts";

/** Up to this many current memories an extractor is shown all of them. */
const ALL = 500;
const NEWEST = 60;
/** A word that stands in more texts than this tells no memory apart. */
const COMMON = 250;
/** So many units that share the most telling words. */
const NEAREST = 120;
const LONGEST_TEXT = 8000;

/**
 * The current memories that a message can mean, none that is set aside: all of a short memory; of a long one those that share a telling word
 * with the message or the turns before it, those that say who is called what, and the newest. So the work of a write
 * does not grow with all that a user ever said. In the order in which they were stored.
 */
export function knownFor(
  state: UserState,
  draft: MemoryDraft,
  message: Message,
  earlier: readonly Message[],
): readonly Memory[] {
  if (state.current.size <= ALL) return draft.current().filter(isMeant);
  const said = [...earlier.slice(-4), message]
    .map(({ content }) => content.slice(0, LONGEST_TEXT))
    .join("\n");
  const telling = [...new Set(analyse(said))].filter((term) => state.block.words.frequency(term) <= COMMON);
  const rows = new Set<number>(newest(state));
  for (const row of rowsWith(state.block, telling)) rows.add(row);
  for (const id of state.claims.namings()) rows.add(rowOf(state.block, id));
  // Rows rise with the time of storing.
  const known = [...rows]
    .sort((one, other) => one - other)
    .flatMap((row) => held(draft, idOf(state.block, row)));
  const isKnown = new Set(known);
  const made = draft.made.flatMap(({ id }) => held(draft, id)).filter((memory) => !isKnown.has(memory));
  return made.length === 0 ? known : [...known, ...new Set(made)];
}

function held(draft: MemoryDraft, id: string): readonly Memory[] {
  const memory = draft.get(id);
  return memory?.status === "current" && isMeant(memory) ? [memory] : [];
}

/** What was set aside is shown to nobody who understands: it would be read again. */
function isMeant({ quarantined }: Memory): boolean {
  return !quarantined;
}

function idOf({ memoryIds }: Block, row: number): string {
  return memoryIds.at(row) ?? "";
}

/** The rows of the memories that share the most telling words. */
function rowsWith({ words, units }: Block, terms: readonly string[]): number[] {
  const { row: rowAt } = units.columns;
  const shared = new Map<number, number>();
  for (const term of terms) {
    const weight = weightOf(words, term);
    for (const { slots, from, to } of words.runs(term)) {
      for (let i = from; i < to; i += 1) {
        const row = rowAt[slots[i] as number] as number;
        if (row >= 0) shared.set(row, (shared.get(row) ?? 0) + weight);
      }
    }
  }
  const best = [...shared];
  if (best.length > NEAREST) best.sort(([, one], [, other]) => other - one).length = NEAREST;
  return best.map(([row]) => row);
}

/** The rows of the newest current memories: a walk along all of them would grow with what a user ever said. */
function newest({ block, current }: UserState): number[] {
  const found: number[] = [];
  for (let row = block.memoryIds.count - 1; row >= 0 && found.length < NEWEST; row -= 1) {
    if (current.has(idOf(block, row))) found.push(row);
  }
  return found;
}

/** So many of the memories that ended last are shown, and so far back are they looked for. */
const ENDED = 80;
const LOOKED_BACK = 2000;

/** The memories that ended and were stored last, newest first: what can be taken up again. */
export function endedLately({ block }: UserState, draft: MemoryDraft): readonly Memory[] {
  const found: Memory[] = [];
  const last = block.memoryIds.count - 1;
  for (let row = last; row >= Math.max(0, last - LOOKED_BACK) && found.length < ENDED; row -= 1) {
    const memory = draft.get(idOf(block, row));
    if (memory?.status === "superseded") found.push(memory);
  }
  return found;
}
