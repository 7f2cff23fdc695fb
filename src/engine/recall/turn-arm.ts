import { words } from "../../domain/words.ts";
import type { Signals } from "../rank/signals.ts";
import type { Corpus } from "./corpus.ts";

/** Fills the signals that the conversation gives, by turn: who speaks, what it answers, whether the user said it. */
export function searchTurns({ turns, column }: Corpus, query: string, signals: Signals): void {
  const { previous, asks, session, assistantTurns, byUser, speaker } = turns;
  const count = previous.length;
  if (asks.includes(1)) signals.answers = answersOf(previous, asks, column("answers", count));
  const asked = namedIn(turns.names, query);
  if (asked.size > 0) {
    const named = column("named", count);
    for (let at = 0; at < count; at += 1) if (asked.has(speaker[at] as number)) named[at] = 1;
    signals.named = named;
  }
  if (!assistantTurns.some((held) => held > 0)) return;
  const own = column("own", count);
  for (let at = 0; at < count; at += 1) {
    if (byUser[at] === 1 && (assistantTurns[session[at] as number] as number) > 0) own[at] = 1;
  }
  signals.own = own;
}

/** 1 for each turn whose turn before asks something. */
function answersOf(
  previous: readonly number[],
  asks: readonly number[],
  answers: Float32Array,
): Float32Array {
  const count = answers.length;
  for (let at = 0; at < count; at += 1) {
    const before = previous[at] as number;
    if (before >= 0) answers[at] = asks[before] as number;
  }
  return answers;
}

/** The numbers of the speakers one of whose names stands in the query: "Ana" of "Ana Lopez". */
function namedIn(names: ReadonlyMap<string, number>, query: string): ReadonlySet<number> {
  const named = new Set<number>();
  if (names.size === 0) return named;
  const asked = new Set(words(query));
  for (const [name, number] of names) if (words(name).some((word) => asked.has(word))) named.add(number);
  return named;
}
