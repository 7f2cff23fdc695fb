import { isNamedTime, isTime, startsTime, TIME_ADVERBS } from "../time/times.ts";
import { isCapital, type Stretch, type Token } from "../words/token.ts";

/** One noun phrase, or a list of them, and where it ends. */
export interface List {
  readonly items: readonly Stretch[];
  readonly to: number;
}

/** A noun phrase, or several joined by commas and "and". */
export function readList(tokens: readonly Token[], at: number, to: number): List | undefined {
  const first = readNounPhrase(tokens, at, to);
  if (first === undefined) return undefined;
  const items: Stretch[] = [[at, first]];
  let last = 0;
  for (let end = first; ; ) {
    const next = nextItem(tokens, end, to, isTime(tokens, at, first));
    if (!next) break;
    items.push(next.item);
    end = next.item[1];
    if (next.isJoined) last = items.length - 1;
  }
  // The list ends with what "and" joins; what follows another comma is said about it.
  const kept = last > 0 ? items.slice(0, last + 1) : isBareList(tokens, items) ? items : items.slice(0, 1);
  return { items: kept, to: kept.at(-1)?.[1] ?? first };
}

function nextItem(
  tokens: readonly Token[],
  end: number,
  to: number,
  isTemporal: boolean,
): { item: Stretch; isJoined: boolean } | undefined {
  const separator = tokens[end - 1]?.after ?? "";
  const joint = end < to ? joinerAt(tokens, end) : 0;
  if (/[;:(]/.test(separator) || (joint === 0 && !separator.includes(","))) return undefined;
  const start = overAdverbs(tokens, end + joint, to);
  const item = readNounPhrase(tokens, start, to);
  // "nuts and a bit to pollen": how much, and no thing.
  const isMeasure =
    /^(?:bit|little|lot)$/.test(tokens[start + 1]?.lower ?? "") && tokens[start]?.lower === "a";
  if (isMeasure && item === start + 2 && tokens[item]?.class === "preposition") return undefined;
  if (item === undefined || isTime(tokens, start, item) !== isTemporal) return undefined;
  return { item: [start, item], isJoined: joint > 0 };
}

/** How many words join: "and", "as well as". */
function joinerAt(tokens: readonly Token[], at: number): number {
  const word = tokens[at]?.lower ?? "";
  if (["and", "or", "&", "plus"].includes(word)) return isCapital(tokens[at]) ? 0 : 1;
  const isAsWell = word === "as" && tokens[at + 1]?.lower === "well" && tokens[at + 2]?.lower === "as";
  return isAsWell ? 3 : 0;
}

/** "and (badly) the harmonica" */
function overAdverbs(tokens: readonly Token[], from: number, to: number): number {
  let at = from;
  while (at < to && isPlainAdverb(tokens[at]) && readNounPhrase(tokens, at + 1, to) !== undefined) at += 1;
  return at;
}

function isPlainAdverb(token: Token | undefined): boolean {
  return token?.class === "adverb" && !TIME_ADVERBS.has(token.lower);
}

/** Without "and": three or more, or names alone, are a list; else what follows the comma explains. */
function isBareList(tokens: readonly Token[], items: readonly Stretch[]): boolean {
  const isShortName = ([from, to]: Stretch): boolean =>
    to - from <= 2 && tokens.slice(from, to).every((token) => token.class === "name" || isCapital(token));
  const isPlain = ([from, to]: Stretch): boolean =>
    tokens.slice(from, to).every((token) => token.class === "noun" || token.class === "name");
  // "Prof. Deshmukh, senior person, replies to mail": names and nouns are no list of one kind.
  const named = items.filter(([from, to]) => tokens.slice(from, to).some(isCapital)).length;
  const isOfOneKind = named === 0 || named === items.length;
  return items.every(isShortName) || (items.length >= 3 && isOfOneKind && items.every(isPlain));
}

/** Where the noun phrase that begins here ends; undefined where none does. */
export function readNounPhrase(tokens: readonly Token[], at: number, to: number): number | undefined {
  const first = tokens[at];
  if (!first || at >= to) return undefined;
  if (first.class === "pronoun") return at + 1;
  if (isApproximate(tokens, at, to)) return readNounPhrase(tokens, at + 1, to);
  const reading: Reading = { tokens, at, to, end: at, hasNoun: false };
  while (reading.end < to && !isOver(reading)) {
    const step = stepOver(reading);
    if (step === 0) break;
    reading.end += step;
  }
  const { end, hasNoun } = reading;
  if (!hasNoun) return withoutNoun(tokens, first, at, end, to);
  if (tokens[end]?.lower === "of" && end < to && !isBroken(reading)) {
    // "a member OF the chess club"
    const more = readNounPhrase(tokens, end + 1, to);
    if (more !== undefined) return more;
  }
  return withName(tokens, end, to);
}

interface Reading {
  readonly tokens: readonly Token[];
  readonly at: number;
  readonly to: number;
  end: number;
  hasNoun: boolean;
}

/** A mark, or something new, ends the phrase. */
function isOver(reading: Reading): boolean {
  const { tokens, end, to, hasNoun } = reading;
  if (isBroken(reading)) return true;
  const kind = tokens[end]?.class;
  return hasNoun && (kind === "determiner" || kind === "possessive" || startsTime(tokens, end, to));
}

function isBroken({ tokens, at, end }: Reading): boolean {
  return (
    end > at && (/[,;:()—–]/.test(tokens[end - 1]?.after ?? "") || /["“”]/.test(tokens[end]?.before ?? ""))
  );
}

/** How many tokens belong to the phrase from here; 0 where it ends. */
function stepOver(reading: Reading): number {
  const token = reading.tokens[reading.end];
  switch (token?.class) {
    case "determiner":
    case "possessive":
      return 1;
    case "number":
      reading.hasNoun = true;
      return 1;
    case "adjective":
      return stepAdjective(reading);
    case "noun":
    case "name":
      return stepNoun(reading, token);
    default:
      return token ? stepOther(reading, token) : 0;
  }
}

function stepAdjective({ tokens, end, to, hasNoun }: Reading): number {
  if (!hasNoun || isBeforeNoun(tokens, end, to)) return 1;
  // "B negative", "size 9 wide"
  const before = tokens[end - 1]?.class;
  return before === "name" || before === "number" ? 1 : 0;
}

function stepNoun(reading: Reading, token: Token): number {
  const { tokens, at, end, to, hasNoun } = reading;
  if (hasNoun && TIME_ADVERBS.has(token.lower)) return 0;
  if (hasNoun && isNamedTime(tokens, end, to) && !isTime(tokens, at, end)) return 0;
  reading.hasNoun = true;
  return 1;
}

function stepOther({ tokens, at, end, to, hasNoun }: Reading, token: Token): number {
  const next = tokens[end + 1];
  if (isPlainAdverb(token)) return !hasNoun && end > at ? 1 : 0;
  // "the climbing gym"
  if (token.class === "verb" && /ing$/.test(token.lower) && end > at && end + 1 < to) {
    return !hasNoun && next?.class === "noun" ? 1 : 0;
  }
  // "Tallis & Co", "Disney Plus"
  const before = tokens[end - 1];
  if (token.lower === "&" && before?.class === "name" && isCapital(before) && isCapital(next)) return 2;
  return token.lower === "plus" && hasNoun && isCapital(token) ? 1 : 0;
}

function isBeforeNoun(tokens: readonly Token[], at: number, to: number): boolean {
  const next = tokens[at + 1];
  const isNext = at + 1 < to && ["noun", "name", "adjective"].includes(next?.class ?? "");
  return isNext && !/[,;:]/.test(tokens[at]?.after ?? "");
}

/** "the blue", "both", "bouldering": phrases without a noun of their own. */
function withoutNoun(
  tokens: readonly Token[],
  first: Token,
  at: number,
  end: number,
  to: number,
): number | undefined {
  const isAlone = ["one", "both", "some", "all", "this", "that", "these", "those"].includes(first.lower);
  if (end > at && first.class === "determiner" && isAlone) return end;
  if (first.class === "verb" && /ing$/.test(first.lower)) return gerundEnd(tokens, at, to);
  const opens = first.class === "determiner" || first.class === "possessive";
  return end > at && opens && tokens[end - 1]?.class === "adjective" ? end : undefined;
}

/** "about ten a day", "over 40": the number and what it counts. */
export function isApproximate(tokens: readonly Token[], at: number, to: number): boolean {
  const isAbout = /^(?:like|about|around|over|under|nearly|almost|roughly|approximately)$/.test(
    tokens[at]?.lower ?? "",
  );
  return isAbout && at + 1 < to && tokens[at + 1]?.class === "number";
}

/** An activity as a thing: "bouldering", "wild swimming". */
function gerundEnd(tokens: readonly Token[], at: number, to: number): number {
  const object = readNounPhrase(tokens, at + 1, to);
  const takes = object !== undefined && !isTime(tokens, at + 1, object) && tokens[at]?.after.trim() === "";
  return takes ? object : at + 1;
}

/** Words that give a name. */
export const NAMING: ReadonlySet<string> = new Set(["called", "named", "nicknamed"]);

/** "a parrot CALLED KIWI" */
function withName(tokens: readonly Token[], end: number, to: number): number {
  if (end >= to || !NAMING.has(tokens[end]?.lower ?? "")) return end;
  const name = readNounPhrase(tokens, end + 1, to);
  if (name === undefined) return end;
  return /s$/.test(tokens[end - 1]?.lower ?? "") ? namesEnd(tokens, name, to) : name;
}

/** "two huskies called Ice AND STORM" */
function namesEnd(tokens: readonly Token[], from: number, to: number): number {
  let end = from;
  while (end < to) {
    const isAnd = ["and", "&"].includes(tokens[end]?.lower ?? "");
    const next = tokens[isAnd ? end + 1 : end];
    const goesOn = isAnd || /,/.test(tokens[end - 1]?.after ?? "");
    if (!goesOn || !isCapital(next) || next?.class === "pronoun") return end;
    end += isAnd ? 2 : 1;
    if (isAnd) return end;
  }
  return end;
}
