import type { Explanation, Item, Why } from "../../domain/recall.ts";
import { analyse, words } from "../../domain/words.ts";
import { partsOf } from "../rank/score.ts";
import type { Chosen, Ranked } from "./rank.ts";
import { type Found, thresholdFor } from "./search.ts";
import type { Wanted } from "./take-options.ts";

/** Which signal each arm ranks by. */
const ARMS = { words: "words", vectors: "near", claims: "claim" } as const;
/** How many of those left out are named. */
const MOST_DROPPED = 100;

/** Why an item came: its place in each arm, what each signal added, and the words that it shares with the query. */
export function whyItem(query: string, found: Found, { slot }: Chosen, item: Item): Why {
  const arms: Record<string, { rank: number; score: number }> = {};
  for (const [arm, signal] of Object.entries(ARMS)) {
    const column = found.signals.columns[signal];
    const score = column[slot] ?? 0;
    if (score <= 0) continue;
    let rank = 1;
    for (const value of column) if (value > score) rank += 1;
    arms[arm] = { rank, score };
  }
  // A passage is found by who said it, too.
  const speaker = item.type === "passage" ? (item.sources[0]?.name ?? "") : "";
  const held = new Set(analyse(`${speaker} ${item.text}`));
  return {
    arms,
    parts: partsOf(found.signals, found.weights, found.places, slot),
    words: [...new Set(words(query))].filter((word) => analyse(word).some((term) => held.has(term))),
  };
}

export function explanationOf(ranked: Ranked, wanted: Wanted): Explanation {
  return {
    query: wanted.query,
    profile: wanted.profile.name,
    considered: ranked.considered,
    threshold: thresholdFor(ranked.considered),
    dropped: ranked.dropped.slice(0, MOST_DROPPED),
  };
}
