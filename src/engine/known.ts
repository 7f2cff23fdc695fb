import type { Memory } from "../domain/memory.ts";
import type { Message } from "../domain/message.ts";
import { extractTerms } from "../domain/words.ts";
import { rowOfMemory, type SearchIndex } from "./block/block.ts";
import { termWeightOf as weightOf } from "./block/words.ts";
import type { MemoryDraft } from "./memory-draft.ts";
import type { UserState } from "./user-state.ts";

/** Up to this many current memories an extractor is shown all of them. */
const MAX_SHOWN_WHOLE = 500;
const MAX_NEWEST = 60;
/** A word that stands in more texts than this tells no memory apart. */
const COMMON_TERM_UNITS = 250;
/** So many units that share the most telling words. */
const MAX_RELATED = 120;
const MAX_TEXT_LENGTH = 8000;

/**
 * The current memories that a message can mean, none that is set aside: all of a short memory; of a long one those that share a telling word
 * with the message or the turns before it, those that say who is called what, and the newest. So the work of a write
 * does not grow with all that a user ever said. In the order in which they were stored.
 */
export function findKnownMemories(
  state: UserState,
  draft: MemoryDraft,
  message: Message,
  earlier: readonly Message[],
): readonly Memory[] {
  if (state.current.size <= MAX_SHOWN_WHOLE) return draft.current().filter(isNotQuarantined);
  const said = [...earlier.slice(-4), message]
    .map(({ content }) => content.slice(0, MAX_TEXT_LENGTH))
    .join("\n");
  const telling = [...new Set(extractTerms(said))].filter(
    (term) => state.searchIndex.words.frequency(term) <= COMMON_TERM_UNITS,
  );
  const rows = new Set<number>(findNewestRows(state));
  for (const row of findRowsWithTerms(state.searchIndex, telling)) rows.add(row);
  for (const id of state.claims.findNamings()) rows.add(rowOfMemory(state.searchIndex, id));
  // Rows rise with the time of storing.
  const known = [...rows]
    .sort((one, other) => one - other)
    .flatMap((row) => getCurrent(draft, memoryIdAt(state.searchIndex, row)));
  const isKnown = new Set(known);
  const made = draft.versions
    .flatMap(({ id }) => getCurrent(draft, id))
    .filter((memory) => !isKnown.has(memory));
  return made.length === 0 ? known : [...known, ...new Set(made)];
}

function getCurrent(draft: MemoryDraft, id: string): readonly Memory[] {
  const memory = draft.get(id);
  return memory?.status === "current" && isNotQuarantined(memory) ? [memory] : [];
}

/** What was set aside is shown to nobody who understands: it would be read again. */
function isNotQuarantined({ quarantined }: Memory): boolean {
  return !quarantined;
}

function memoryIdAt({ memoryIds }: SearchIndex, row: number): string {
  return memoryIds.at(row) ?? "";
}

/** The rows of the memories that share the most telling words. */
function findRowsWithTerms({ words, units }: SearchIndex, terms: readonly string[]): number[] {
  const { row: rowAt } = units.columns;
  const shared = new Map<number, number>();
  for (const term of terms) {
    const weight = weightOf(words, term);
    for (const { slots, from, to } of words.postings(term)) {
      for (let i = from; i < to; i += 1) {
        const row = rowAt[slots[i] as number] as number;
        if (row >= 0) shared.set(row, (shared.get(row) ?? 0) + weight);
      }
    }
  }
  const best = [...shared];
  if (best.length > MAX_RELATED) best.sort(([, one], [, other]) => other - one).length = MAX_RELATED;
  return best.map(([row]) => row);
}

/** The rows of the newest current memories: a walk along all of them would grow with what a user ever said. */
function findNewestRows({ searchIndex: block, current }: UserState): number[] {
  const found: number[] = [];
  for (let row = block.memoryIds.count - 1; row >= 0 && found.length < MAX_NEWEST; row -= 1) {
    if (current.has(memoryIdAt(block, row))) found.push(row);
  }
  return found;
}

/** So many of the memories that ended last are shown, and so far back are they looked for. */
const MAX_ENDED = 80;
const ENDED_LOOKBACK = 2000;

/** The memories that ended and were stored last, newest first: what can be taken up again. */
export function findRecentlyEnded({ searchIndex: block }: UserState, draft: MemoryDraft): readonly Memory[] {
  const found: Memory[] = [];
  const last = block.memoryIds.count - 1;
  for (let row = last; row >= Math.max(0, last - ENDED_LOOKBACK) && found.length < MAX_ENDED; row -= 1) {
    const memory = draft.get(memoryIdAt(block, row));
    if (memory?.status === "superseded") found.push(memory);
  }
  return found;
}
