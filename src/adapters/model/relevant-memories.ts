import type { Memory } from "../../domain/memory.ts";
import { extractTerms } from "../../domain/search/search-terms.ts";
import { hasCredential } from "../../domain/text/credentials.ts";

/**
 * The memories that the texts are most likely about, at most `most`: those that share their rarest words, and then the newest.
 * They are in the order of storage, so that prompts differ little from call to call.
 */
export function selectRelevantMemories(
  known: readonly Memory[],
  texts: readonly string[],
  most: number,
): Memory[] {
  const candidates = known.filter(({ text, quarantined }) => !quarantined && !hasCredential(text));
  if (candidates.length <= most) return candidates;
  const wanted = new Set(extractTerms(texts.join("\n")));
  const terms = candidates.map(({ text }) => new Set(extractTerms(text)));
  const documentCounts = new Map<string, number>();
  for (const each of terms)
    for (const term of each) documentCounts.set(term, (documentCounts.get(term) ?? 0) + 1);
  const weights = terms.map((each) => {
    let weight = 0;
    for (const term of each)
      if (wanted.has(term)) weight += Math.log(1 + candidates.length / (documentCounts.get(term) ?? 1));
    return weight;
  });
  const best = candidates
    .map((memory, i) => ({ memory, i, weight: weights[i] ?? 0 }))
    .sort((one, other) => other.weight - one.weight || other.i - one.i)
    .slice(0, most);
  return best.sort((one, other) => one.i - other.i).map(({ memory }) => memory);
}
