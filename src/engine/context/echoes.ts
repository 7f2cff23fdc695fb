import type { Memory } from "../../domain/memory.ts";
import { extractTerms } from "../../domain/search/search-terms.ts";
import { type IndexFilters, statusOfMemory } from "../recall/options.ts";
import type { SearchIndex } from "../search-index/search-index.ts";
import type { Excerpt } from "./excerpts.ts";

/** A claim that no longer holds, as a reply may repeat it. */
export interface EndedClaim {
  readonly value: readonly string[];
  readonly relation: readonly string[];
  /** When its end was learnt (ISO 8601). */
  readonly endedAt: string;
}

/** The newest ended memories that replies are compared with. */
const MAX_ENDED = 100;

/** The ids of the newest memories that no longer hold. */
export function selectEnded(searchIndex: SearchIndex, filters: IndexFilters): string[] {
  const { memories, memoryIds } = searchIndex;
  const ids: string[] = [];
  for (let row = memories.count - 1; row >= 0 && ids.length < MAX_ENDED; row -= 1)
    if (statusOfMemory(searchIndex, row, filters) !== "current") ids.push(memoryIds.at(row) ?? "");
  return ids;
}

export function toEndedClaims(memories: readonly Memory[]): EndedClaim[] {
  return memories.flatMap(({ claim, status, archived, storedAt }) => {
    const value = extractTerms(claim?.value ?? "");
    if (!claim || status === "current" || archived || value.length === 0) return [];
    return [{ value, relation: extractTerms(claim.relation), endedAt: storedAt }];
  });
}

/**
 * An excerpt of a reply without the sentences that repeat what ended after it: "You use Magnet." is as outdated as the
 * statement that it came from. What users say themselves is judged by its own statements.
 */
export function withoutEchoes(excerpt: Excerpt, ended: readonly EndedClaim[]): Excerpt {
  const { item, shown } = excerpt;
  if (item.type !== "passage" || item.sources.at(-1)?.role !== "assistant") return excerpt;
  const later = ended.filter(({ endedAt }) => item.at < endedAt);
  if (later.length === 0) return excerpt;
  const isEcho = (start: number, end: number): boolean => {
    const terms = new Set(extractTerms(item.text.slice(start, end)));
    return later.some(
      ({ value, relation }) =>
        value.every((term) => terms.has(term)) &&
        (relation.length === 0 || relation.some((term) => terms.has(term))),
    );
  };
  return { ...excerpt, shown: shown.filter(({ start, end }) => !isEcho(start, end)) };
}
