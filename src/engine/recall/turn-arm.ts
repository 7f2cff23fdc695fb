import { words } from "../../domain/words.ts";
import type { Signals } from "../rank/signals.ts";
import type { Corpus } from "./corpus.ts";

/** Fills the signals that the conversation gives: who speaks, what a turn answers, whether the user said it. */
export function searchTurns({ turns, turn, slots }: Corpus, query: string, signals: Signals): void {
  const { previous, asks, session, assistantTurns, byUser, speaker } = turns;
  const named = namedIn(turns.names, query);
  const hasAssistant = assistantTurns.some((count) => count > 0);
  signals.answers = new Float32Array(slots);
  if (named.size > 0) signals.named = new Float32Array(slots);
  if (hasAssistant) signals.own = new Float32Array(slots);
  for (let slot = 0; slot < slots; slot += 1) {
    const at = turn[slot] as number;
    if (at < 0) continue;
    const before = previous[at] as number;
    if (before >= 0) signals.answers[slot] = asks[before] as number;
    if (named.size > 0 && named.has(speaker[at] as number)) signals.named[slot] = 1;
    if (!hasAssistant || byUser[at] === 0) continue;
    if ((assistantTurns[session[at] as number] as number) > 0) signals.own[slot] = 1;
  }
}

/** The numbers of the speakers one of whose names stands in the query: "Ana" of "Ana Lopez". */
function namedIn(names: ReadonlyMap<string, number>, query: string): ReadonlySet<number> {
  const named = new Set<number>();
  if (names.size === 0) return named;
  const asked = new Set(words(query));
  for (const [name, number] of names) if (words(name).some((word) => asked.has(word))) named.add(number);
  return named;
}
