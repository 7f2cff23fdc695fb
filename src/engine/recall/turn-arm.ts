import { words } from "../../domain/words.ts";
import type { Block } from "../block/block.ts";
import { TURN } from "../block/turns.ts";
import type { Signals } from "../rank/signals.ts";
import type { Scratch } from "./scratch.ts";

/** The bits of turns that are signals. */
export const BITS: Signals["bits"] = { answers: TURN.answers, own: TURN.own };

/** Fills the signals that the conversation gives: who speaks, what it answers, whether the user said it. */
export function searchTurns(
  { turns, speakers, names }: Block,
  scratch: Scratch,
  query: string,
  signals: Signals,
): void {
  for (const signal of ["answers", "own"] as const) {
    signals.tops[signal] = (turns.seen & BITS[signal]) === 0 ? 0 : 1;
  }
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
