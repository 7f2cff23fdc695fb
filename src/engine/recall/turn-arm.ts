import { splitWords } from "../../domain/words.ts";
import type { SearchIndex } from "../block/block.ts";
import { TURN_FLAGS } from "../block/turns.ts";
import type { Signals } from "../rank/signals.ts";
import type { QueryStyle } from "./manner.ts";
import type { Scratch } from "./scratch.ts";

/** The bits of turns that are signals. */
export const TURN_BITS: Signals["bits"] = {
  answers: TURN_FLAGS.answers,
  own: TURN_FLAGS.own,
  theirs: TURN_FLAGS.byAssistant,
  tells: -TURN_FLAGS.asks,
};

/**
 * Fills the signals that the conversation gives: who speaks, what it answers, whether the user said it, or the assistant
 * where its words are asked after.
 */
export function retrieveByTurns(
  { turns, speakers, names }: SearchIndex,
  scratch: Scratch,
  query: string,
  { isAfterAssistant }: Pick<QueryStyle, "isAfterAssistant">,
  signals: Signals,
): void {
  const has = (bit: number): 0 | 1 => ((turns.seen & bit) === 0 ? 0 : 1);
  signals.tops.answers = has(TURN_FLAGS.answers);
  signals.tops.tells = has(TURN_FLAGS.asks);
  signals.tops[isAfterAssistant ? "theirs" : "own"] = has(TURN_FLAGS.own);
  if (speakers.size === 0) return;
  const asked = new Set(splitWords(query));
  for (const speaker of speakers) {
    if (!splitWords(names.all[speaker] ?? "").some((word) => asked.has(word))) continue;
    if (signals.tops.named === 0) signals.named = scratch.column("named", names.all.length);
    signals.named[speaker] = 1;
    signals.tops.named = 1;
  }
}

/** The share of turns in which people talk among themselves: under two names or more, with no assistant there. */
export function computeTalkShare({ turns, speakers }: SearchIndex): number {
  if (speakers.size < 2) return 0;
  const { sessions, sessionCount } = turns;
  let talk = 0;
  for (let session = 0; session < sessionCount; session += 1) {
    if (sessions.assistantTurns[session] === 0) talk += sessions.named[session] as number;
  }
  return talk / turns.count;
}
