import type { Memory } from "../domain/memory.ts";
import type { Message } from "../domain/message.ts";
import { analyse } from "../domain/words.ts";
import { type Block, unitId } from "./block/block.ts";
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
 * The current memories that a message can mean: all of a short memory; of a long one those that share a telling word
 * with the message or the turns before it, those that say who is called what, and the newest. So the work of a write
 * does not grow with all that a user ever said. In the order in which they were stored.
 */
export function knownFor(
  state: UserState,
  draft: MemoryDraft,
  message: Message,
  earlier: readonly Message[],
): readonly Memory[] {
  if (state.current.size <= ALL) return draft.current();
  const said = [...earlier.slice(-4), message]
    .map(({ content }) => content.slice(0, LONGEST_TEXT))
    .join("\n");
  const telling = [...new Set(analyse(said))].filter((term) => state.block.words.frequency(term) <= COMMON);
  const ids = new Set<string>(state.claims.namings());
  for (const slot of memoriesWith(state.block, telling)) ids.add(unitId(state.block, slot));
  for (const id of newest(state)) ids.add(id);
  for (const { id } of draft.made) ids.add(id);
  const known = [...ids].flatMap((id) => {
    const memory = draft.get(id);
    return memory?.status === "current" ? [memory] : [];
  });
  // Ids rise with the time of storing.
  return known.sort((one, other) => (one.id < other.id ? -1 : 1));
}

/** The slots of the memories that share the most telling words. */
function memoriesWith({ words, units }: Block, terms: readonly string[]): number[] {
  const shared = new Map<number, number>();
  for (const term of terms) {
    const weight = weightOf(words, term);
    for (const { slots, from, to } of words.runs(term)) {
      for (let i = from; i < to; i += 1) {
        const slot = slots[i] as number;
        if ((units.columns.row[slot] as number) >= 0) shared.set(slot, (shared.get(slot) ?? 0) + weight);
      }
    }
  }
  const best = [...shared];
  if (best.length > NEAREST) best.sort(([, one], [, other]) => other - one).length = NEAREST;
  return best.map(([slot]) => slot);
}

/** The newest current memories, by their rows: a walk along all of them would grow with what a user ever said. */
function newest({ block, current }: UserState): string[] {
  const found: string[] = [];
  for (let row = block.memoryIds.length - 1; row >= 0 && found.length < NEWEST; row -= 1) {
    const id = block.memoryIds[row] ?? "";
    if (current.has(id)) found.push(id);
  }
  return found;
}
