import { words } from "../../domain/words.ts";
import type { Signals } from "../rank/signals.ts";
import type { Corpus } from "./corpus.ts";

/** Fills the signals that the conversation gives: who speaks, what a turn answers, whether the user said it. */
export function searchTurns(corpus: Corpus, query: string, signals: Signals): void {
  const { turns, turn, slots } = corpus;
  const own = ownTurns(turns);
  const answers = turns.previous.map((before) => (before < 0 ? 0 : (turns.asks[before] ?? 0)));
  const named = new Uint8Array(turns.messages.length);
  for (const places of namedIn(turns.names, query)) for (const at of places) named[at] = 1;
  for (let slot = 0; slot < slots; slot += 1) {
    const at = turn[slot] as number;
    if (at < 0) continue;
    signals.answers[slot] = answers[at] as number;
    signals.named[slot] = named[at] as number;
    signals.own[slot] = own[at] as number;
  }
}

/** 1 for each turn of the user in a session with an assistant. */
function ownTurns({ messages, session, assistantTurns }: Corpus["turns"]): number[] {
  return messages.map(({ role }, at) => {
    const withAssistant = (assistantTurns[session[at] as number] as number) > 0;
    return withAssistant && role === "user" ? 1 : 0;
  });
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
