import type { Explanation, Item, Why } from "../../domain/recall.ts";
import { extractTerms, splitWords } from "../../domain/words.ts";
import { explainRelevance } from "../rank/score.ts";
import type { RankedUnit, RankingResult } from "./rank.ts";
import { computeThreshold, type SearchResult } from "./search.ts";
import type { ParsedRecallOptions } from "./take-options.ts";

/** Which signal each arm ranks by. */
const EXPLAINED_RETRIEVERS = { words: "words", vectors: "near", claims: "claim" } as const;
/** How many of those left out are named. */
const MAX_EXPLAINED_DROPPED = 100;

/** Why an item came: its place in each arm, what each signal added, and the words that it shares with the query. */
export function explainItem(query: string, found: SearchResult, { slot }: RankedUnit, item: Item): Why {
  const arms: Record<string, { rank: number; score: number }> = {};
  for (const [arm, signal] of Object.entries(EXPLAINED_RETRIEVERS)) {
    const column = found.signals.columns[signal];
    const score = column[slot] ?? 0;
    if (score <= 0) continue;
    let rank = 1;
    for (const value of column) if (value > score) rank += 1;
    arms[arm] = { rank, score };
  }
  // A passage is found by who said it, too.
  const speaker = item.type === "passage" ? (item.sources[0]?.name ?? "") : "";
  const held = new Set(extractTerms(`${speaker} ${item.text}`));
  return {
    arms,
    parts: explainRelevance(found.signals, found.weights, found.places, slot),
    words: [...new Set(splitWords(query))].filter((word) =>
      extractTerms(word).some((term) => held.has(term)),
    ),
  };
}

export function explainRecall(ranked: RankingResult, wanted: ParsedRecallOptions): Explanation {
  return {
    query: wanted.query,
    profile: wanted.profile.name,
    considered: ranked.considered,
    threshold: computeThreshold(ranked.considered),
    dropped: ranked.dropped.slice(0, MAX_EXPLAINED_DROPPED),
  };
}
