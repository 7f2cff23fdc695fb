import { words } from "../../domain/words.ts";
import type { Block } from "../block/block.ts";
import { TURN } from "../block/turns.ts";
import type { Signals } from "../rank/signals.ts";
import type { Manner } from "./manner.ts";
import type { Scratch } from "./scratch.ts";

/** The bits of turns that are signals. */
export const BITS: Signals["bits"] = {
  answers: TURN.answers,
  own: TURN.own,
  theirs: TURN.byAssistant,
  tells: -TURN.asks,
};

/**
 * Fills the signals that the conversation gives: who speaks, what it answers, whether the user said it, or the assistant
 * where its words are asked after.
 */
export function searchTurns(
  { turns, speakers, names }: Block,
  scratch: Scratch,
  query: string,
  { isAfterAssistant }: Pick<Manner, "isAfterAssistant">,
  signals: Signals,
): void {
  const has = (bit: number): 0 | 1 => ((turns.seen & bit) === 0 ? 0 : 1);
  signals.tops.answers = has(TURN.answers);
  signals.tops.tells = has(TURN.asks);
  signals.tops[isAfterAssistant ? "theirs" : "own"] = has(TURN.own);
  if (speakers.size === 0) return;
  const asked = new Set(words(query));
  for (const speaker of speakers) {
    if (!words(names.all[speaker] ?? "").some((word) => asked.has(word))) continue;
    if (signals.tops.named === 0) signals.named = scratch.column("named", names.all.length);
    signals.named[speaker] = 1;
    signals.tops.named = 1;
  }
}

/** The share of turns in which people talk among themselves: under two names or more, with no assistant there. */
export function talkShare({ turns, speakers }: Block): number {
  if (speakers.size < 2) return 0;
  const { sessions, sessionCount } = turns;
  let talk = 0;
  for (let session = 0; session < sessionCount; session += 1) {
    if (sessions.assistantTurns[session] === 0) talk += sessions.named[session] as number;
  }
  return talk / turns.count;
}
