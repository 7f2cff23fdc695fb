import type { Memory } from "../domain/memory.ts";
import type { Message } from "../domain/message.ts";
import { analyse } from "../domain/words.ts";
import { unitId } from "./block/block.ts";
import { slotsWith } from "./block/words.ts";
import type { MemoryDraft } from "./memory-draft.ts";
import type { UserState } from "./user-state.ts";

/** Up to this many current memories an extractor is shown all of them. */
const ALL = 500;
const NEWEST = 200;
/** A word that stands in more texts than this tells no memory apart. */
const COMMON = 200;
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
  for (const slot of slotsWith(state.block.words, telling)) ids.add(unitId(state.block, slot));
  for (const id of [...state.current.keys()].slice(-NEWEST)) ids.add(id);
  for (const { id } of draft.made) ids.add(id);
  const known = [...ids].flatMap((id) => {
    const memory = draft.get(id);
    return memory?.status === "current" ? [memory] : [];
  });
  // Ids rise with the time of storing.
  return known.sort((one, other) => (one.id < other.id ? -1 : 1));
}
