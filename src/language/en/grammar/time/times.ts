import { toSingular } from "../../word-forms.ts";
import type { Token } from "../words/token.ts";

function set(words: string): ReadonlySet<string> {
  return new Set(words.split(" "));
}

const TIME_NOUNS = set(
  "day week weekend month year morning afternoon evening night noon midnight lunchtime hour minute second spring summer autumn winter fall " +
    "monday tuesday wednesday thursday friday saturday sunday january february march april may june july august september october november december " +
    "mon tue tues wed thu thur thurs fri sat sun jan feb mar apr jun jul aug sep sept oct nov dec decade fortnight weekday today tomorrow yesterday tonight moment time christmas easter ramadan hanukkah diwali halloween thanksgiving o'clock am pm term semester dawn dusk",
);
const TIME_OPENERS = set(
  "last next this every each all a an the one two three four five six seven eight nine ten few couple some half past most other that any " +
    "of early late mid ago afternoon straight whole and or coming following single",
);
/** Prepositions that bring in a time. */
export const TIME_PREPOSITIONS: ReadonlySet<string> = set(
  "on in at since for until till before after during by from over around about every between through of within",
);
/** Adverbs of time. */
export const TIME_ADVERBS: ReadonlySet<string> = set(
  "yesterday today tomorrow tonight recently lately daily weekly monthly nowadays ago soon anymore now currently still again once twice",
);

const FIGURES =
  /^\d{1,2}(?:st|nd|rd|th)$|^(?:19|20)\d\d$|^\d{1,2}[:.]\d\d(?:am|pm)?$|^\d{1,2}(?:am|pm)$|^\d{4}-\d\d-\d\d$|^\d{1,2}\/\d{1,2}(?:\/\d+)?$/i;

/** Whether a word names a time: "Friday", "weeks". */
export function isTimeNoun(word: string): boolean {
  return TIME_NOUNS.has(word) || TIME_NOUNS.has(toSingular(word));
}

/** Whether a noun phrase names a time: "last Friday", "two weeks ago", "every morning", "7 June". */
export function isTime(tokens: readonly Token[], from: number, to: number): boolean {
  const last = tokens[to - 1];
  if (!last) return false;
  if (last.lower === "ago") return true;
  const slice = tokens.slice(from, to);
  if (slice.length === 1 && TIME_ADVERBS.has(last.lower)) return true;
  if (!slice.some(({ lower }) => isTimeNoun(lower))) {
    return slice.every(({ class: kind, word }) => kind === "number" && FIGURES.test(word));
  }
  const isEnd = isTimeNoun(last.lower) || last.class === "number";
  return isEnd && slice.every(isPartOfTime);
}

function isPartOfTime({ lower, class: kind }: Token): boolean {
  if (kind === "possessive") return false;
  return isTimeNoun(lower) || TIME_OPENERS.has(lower) || kind === "number";
}

/** "Porto LAST MONTH", "Sweden FOUR YEARS AGO" */
export function startsTime(tokens: readonly Token[], at: number, to: number): boolean {
  const token = tokens[at];
  const opens = /^(?:last|next|this|every|each)$/.test(token?.lower ?? "") || token?.class === "number";
  return opens && [2, 3].some((length) => at + length <= to && isTime(tokens, at, at + length));
}

const UNIT =
  /^(?:day|night|week|weekend|month|year|hour|time|moment|season|term|morning|afternoon|evening|lunchtime)s?$/;

/** "the vet FRIDAY", "a call TOMORROW"; "my wedding day" is one noun. */
export function isNamedTime(tokens: readonly Token[], at: number, to: number): boolean {
  const isUnit = UNIT.test(tokens[at]?.lower ?? "") && tokens[at + 1]?.lower !== "ago";
  return !isUnit && tokens[at - 1]?.class !== "number" && isTime(tokens, at, timeEnd(tokens, at, to));
}

function timeEnd(tokens: readonly Token[], from: number, to: number): number {
  let end = from + 1;
  while (end < to && end - from < 3 && ["noun", "number", "adverb"].includes(tokens[end]?.class ?? ""))
    end += 1;
  while (end > from + 1 && !isTime(tokens, from, end)) end -= 1;
  return end;
}

/** "STARTING Monday I work in Graz": a preposition, and no verb; "I LAST saw her in May": an adverb. */
export function withTimeWords(tokens: Token[]): Token[] {
  for (const [at, token] of tokens.entries()) {
    if (isOrder(tokens, at)) token.class = "adverb";
    const opens = at === 0 || /[,;:]/.test(tokens[at - 1]?.after ?? "");
    if (!opens || !/^(?:starting|beginning|effective)$/.test(token.lower)) continue;
    if (isTime(tokens, at + 1, timeEnd(tokens, at + 1, tokens.length))) token.class = "preposition";
  }
  return tokens;
}

function isOrder(tokens: readonly Token[], at: number): boolean {
  const [before, token, next] = [tokens[at - 1], tokens[at], tokens[at + 1]];
  if (!/^(?:last|first)$/.test(token?.lower ?? "")) return false;
  const isSubject =
    before?.class === "pronoun" || before?.class === "name" || /^(?:have|has|had)$/.test(before?.lower ?? "");
  return isSubject && next?.class === "verb" && (next.tags.has("PastTense") || next.tags.has("Participle"));
}
