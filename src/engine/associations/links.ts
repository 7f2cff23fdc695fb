import { type ChangeSetDraft, type LogEntry, type MemoryLink, toLinkKey } from "../../domain/change-set.ts";
import type { Memory } from "../../domain/memory.ts";
import { MemoryError } from "../../errors.ts";
import type { UserState } from "../user-state/user-state.ts";

/** The most associations of one user. Every process reads all of them with each change of the user. */
export const MAX_LINKS = 5000;
/** The most associations that begin or end at one memory. */
export const MAX_LINKS_OF_MEMORY = 200;

/** Whether another link fits beside those that exist. */
export function hasRoom(links: readonly MemoryLink[], { from, to }: MemoryLink): boolean {
  if (links.length >= MAX_LINKS) return false;
  return [from, to].every(
    (id) => links.filter((one) => one.from === id || one.to === id).length < MAX_LINKS_OF_MEMORY,
  );
}

/** Ids of the memories at which links begin or end. */
export function collectLinkedIds(links: readonly MemoryLink[]): ReadonlySet<string> {
  return new Set(links.flatMap(({ from, to }) => [from, to]));
}

/**
 * Moves the links of merged memories to the memories that they were merged into (by id). A link that would then begin and
 * end at one memory, or that exists there, is only removed.
 */
export function moveLinks(
  links: readonly MemoryLink[],
  survivors: ReadonlyMap<string, string>,
): Pick<ChangeSetDraft, "links" | "dropLinks"> {
  const isMoved = ({ from, to }: MemoryLink): boolean => survivors.has(from) || survivors.has(to);
  const dropLinks = links.filter(isMoved);
  if (dropLinks.length === 0) return {};
  const moved = dropLinks
    .map((link) => ({
      ...link,
      from: survivors.get(link.from) ?? link.from,
      to: survivors.get(link.to) ?? link.to,
    }))
    .filter(({ from, to }) => from !== to);
  const kept = links.filter((link) => !isMoved(link));
  return { links: selectNewLinks(kept, moved), dropLinks };
}

/**
 * Of proposed links, those that are new and have room. A link that exists keeps the strength that it has, which may be
 * a user's decision.
 */
export function selectNewLinks(links: readonly MemoryLink[], proposed: readonly MemoryLink[]): MemoryLink[] {
  const all = [...links];
  const known = new Set(links.map(toLinkKey));
  for (const link of proposed) {
    if (known.has(toLinkKey(link)) || !hasRoom(all, link)) continue;
    known.add(toLinkKey(link));
    all.push(link);
  }
  return all.slice(links.length);
}

/**
 * The links that an undo of a revision restores and removes. Links with an erased end are left out. Throws `conflict`
 * if something later changed one of them.
 */
export function revertLinks(
  { links, memories }: Pick<UserState, "links" | "memories">,
  { linked = [], unlinked = [] }: Pick<LogEntry, "linked" | "unlinked">,
): Pick<ChangeSetDraft, "links" | "dropLinks"> {
  if (linked.length + unlinked.length === 0) return {};
  const isWhole = ({ from, to }: MemoryLink): boolean => memories.has(from) && memories.has(to);
  const existing = new Map(links.map((one) => [toLinkKey(one), one]));
  const made = new Set(linked.map(toLinkKey));
  const dropLinks = linked.filter(isWhole);
  const restored = unlinked.filter(isWhole);
  const isChanged =
    dropLinks.some((one) => existing.get(toLinkKey(one))?.strength !== one.strength) ||
    restored.some((one) => !made.has(toLinkKey(one)) && existing.has(toLinkKey(one)));
  if (isChanged)
    throw new MemoryError(
      "conflict",
      "something later changed the same association: undo the later revision first.",
    );
  return { links: restored, dropLinks };
}

/** Whether a memory may be shown: it exists and has not expired. */
export function isPresent(memory: Memory | undefined, now: string): memory is Memory {
  return memory !== undefined && (memory.expiresAt === undefined || memory.expiresAt > now);
}
