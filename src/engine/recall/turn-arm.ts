import { words } from "../../domain/words.ts";
import type { Signals } from "../rank/signals.ts";
import type { Corpus } from "./corpus.ts";

/** Fills the signals that the conversation gives: who speaks, what a turn answers, whether the user said it. */
export function searchTurns({ turns, turn, units, slots }: Corpus, query: string, signals: Signals): void {
  const named = namedIn(turns.names, query);
  for (let slot = 0; slot < slots; slot += 1) {
    const at = turn[slot] ?? -1;
    if (units[slot]?.type === "memory") signals.memory[slot] = 1;
    if (at < 0) continue;
    const before = turns.previous[at] ?? -1;
    if (before >= 0) signals.answers[slot] = turns.asks[before] ?? 0;
    if (named.some((places) => places.has(at))) signals.named[slot] = 1;
    const withAssistant = (turns.assistantTurns[turns.session[at] ?? -1] ?? 0) > 0;
    if (withAssistant && turns.messages[at]?.role === "user") signals.own[slot] = 1;
  }
}

/** The turns of each speaker one of whose names stands in the query: "Ana" of "Ana Lopez". */
function namedIn(
  names: ReadonlyMap<string, ReadonlySet<number>>,
  query: string,
): readonly ReadonlySet<number>[] {
  if (names.size === 0) return [];
  const asked = new Set(words(query));
  return [...names].flatMap(([name, places]) =>
    words(name).some((word) => asked.has(word)) ? [places] : [],
  );
}
