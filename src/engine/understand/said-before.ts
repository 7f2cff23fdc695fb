import { isSameSlot, isValueContained, toClaimKey } from "../../domain/claim.ts";
import type { Memory } from "../../domain/memory.ts";
import { hasSameWords } from "../../domain/words.ts";
import type { AddProposal } from "../../ports/extractor.ts";
import type { MemoryDraft } from "../memory-draft.ts";
import type { UserState } from "../user-state.ts";

/** The memories that came from each of some messages, whatever became of them. */
export function groupBySourceMessage(
  { memories }: Pick<UserState, "memories">,
  messages: ReadonlySet<string>,
): ReadonlyMap<string, readonly string[]> {
  const made = new Map<string, string[]>();
  for (const { id, sources } of memories.values()) {
    for (const { message } of sources) {
      if (messages.has(message)) made.set(message, [...(made.get(message) ?? []), id]);
    }
  }
  return made;
}

/**
 * Whether the same words have made the same statement already: two who read one message do not count for two who said it,
 * and what has been changed or taken away since is not brought back by whoever reads slower.
 */
export function isAlreadyExtracted(
  made: ReadonlyMap<string, readonly string[]>,
  draft: MemoryDraft,
  proposal: AddProposal,
): boolean {
  const ids = [...(made.get(proposal.message) ?? []), ...draft.versions.map(({ id }) => id)];
  return ids
    .flatMap((id) => draft.get(id) ?? [])
    .some((memory) => isOfSameWords(memory, proposal) && saysAsMuch(memory, proposal));
}

function isOfSameWords({ sources }: Memory, { message, start, end }: AddProposal): boolean {
  return sources.some((source) => source.message === message && source.start < end && start < source.end);
}

function saysAsMuch({ claim: held, text }: Memory, { claim, text: said }: AddProposal): boolean {
  if (!held || !claim) return hasSameWords(text, said);
  if (toClaimKey(held) === toClaimKey(claim)) return true;
  if (held.subject.toLowerCase() !== claim.subject.toLowerCase()) return false;
  return isValueContained(held.value, claim.value) || (isSameSlot(held, claim) && hasSameWords(text, said));
}
