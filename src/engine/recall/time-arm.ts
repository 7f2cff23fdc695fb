import type { Question } from "../../ports/question-reader.ts";
import type { SearchIndex } from "../block/block.ts";
import type { Signals } from "../rank/signals.ts";
import type { Scratch } from "./scratch.ts";

/** Words without which no query names a span of time, so that it need not be read for one. */
const TIME_WORDS =
  /\b(?:last|next|this|past|ago|yesterday|today|tonight|tomorrow|since|until|before|after|during|between|week\w*|month\w*|year\w*|jan\w*|feb\w*|march|apr\w*|may|june?|july?|aug\w*|sep\w*|oct\w*|nov\w*|dec\w*|spring|summer|autumn|winter|(?:mon|tues|wednes|thurs|fri|satur|sun)days?|\d{4}|\d{1,2}(?:st|nd|rd|th))\b/i;

/** Whether a query may name a span of time. */
export function mayNameTime(query: string): boolean {
  return TIME_WORDS.test(query);
}

/** Fills the signal of time: what was said, or takes place, in the span that the query names. */
export function retrieveByTime(
  block: SearchIndex,
  scratch: Scratch,
  { from, to }: Pick<Question, "from" | "to">,
  signals: Signals,
): void {
  if (from === undefined && to === undefined) return;
  const first = from === undefined ? Number.NEGATIVE_INFINITY : Date.parse(from);
  const end = to === undefined ? Number.POSITIVE_INFINITY : Date.parse(to);
  const { count } = block.units;
  const within = scratch.column("time", count);
  let isAny = false;
  for (let slot = 0; slot < count; slot += 1) {
    const time = timeOfUnit(block, slot);
    if (!(time >= first && time < end)) continue;
    within[slot] = 1;
    isAny = true;
  }
  if (!isAny) return;
  signals.columns.time = within;
  signals.tops.time = 1;
}

/** When what a unit tells takes place, or else when it was said; NaN for what is gone. */
function timeOfUnit({ units, turns, memories }: SearchIndex, slot: number): number {
  const row = units.columns.row[slot] as number;
  const turn = units.columns.turn[slot] as number;
  if (row < 0) return turn < 0 ? Number.NaN : (turns.columns.at[turn] as number);
  const when = memories.columns.when[row] as number;
  return Number.isNaN(when) ? (memories.columns.at[row] as number) : when;
}
