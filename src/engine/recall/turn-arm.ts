import { words } from "../../domain/words.ts";
import type { Block } from "../block/block.ts";
import { TURN } from "../block/turns.ts";
import type { Signals } from "../rank/signals.ts";
import type { Scratch } from "./scratch.ts";

/** Fills the signals that the conversation gives, by turn: who speaks, what it answers, whether the user said it. */
export function searchTurns(block: Block, scratch: Scratch, query: string, signals: Signals): void {
  const { count, columns, sessions } = block.turns;
  const { flags, session, speaker } = columns;
  const answers = scratch.column("answers", count);
  const own = scratch.column("own", count);
  for (let at = 0; at < count; at += 1) {
    const bits = flags[at] as number;
    if ((bits & TURN.answers) !== 0) answers[at] = 1;
    if ((bits & TURN.byUser) !== 0 && (sessions.assistantTurns[session[at] as number] as number) > 0)
      own[at] = 1;
  }
  signals.answers = answers;
  signals.own = own;
  const asked = namedIn(block, query);
  if (asked.size === 0) return;
  const named = scratch.column("named", count);
  for (let at = 0; at < count; at += 1) if (asked.has(speaker[at] as number)) named[at] = 1;
  signals.named = named;
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

/** The numbers of the speakers one of whose names stands in the query: "Ana" of "Ana Lopez". */
function namedIn({ speakers, names }: Block, query: string): ReadonlySet<number> {
  const named = new Set<number>();
  if (speakers.size === 0) return named;
  const asked = new Set(words(query));
  for (const speaker of speakers) {
    if (words(names.all[speaker] ?? "").some((word) => asked.has(word))) named.add(speaker);
  }
  return named;
}
