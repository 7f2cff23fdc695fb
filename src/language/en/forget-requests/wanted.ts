import { extractTerms, splitWords, stem } from "../../../domain/search/search-terms.ts";
import type { ValueShape } from "../../../domain/text/phrase-index.ts";
import {
  type AttributeSlot,
  findShapedValues,
  findSlot,
  isDistinctValue,
  type ShapedValue,
} from "../value-shapes.ts";
import { SPEAKING } from "./about.ts";

/** What a phrase says of the values that are meant: the values themselves, or a description of them. */
export interface Wanted {
  /** Values that stand in the phrase: a phone number, a code, words in quotes. */
  readonly named: readonly ShapedValue[];
  /** Words that follow the noun: "the pass phrase blue cedar". They are a value where the memory has them. */
  readonly follows?: string;
  /** Names of people and places that the phrase gives as such: "the alias Mara", "ask for Ivo". */
  readonly called: readonly string[];
  /** Words before a noun of place: "the hall-cabinet upper-tin location". They are the place where the memory has them. */
  readonly leads?: string;
  /** The end or the beginning of a value, as digits or letters: "the number that ends in 0174". */
  readonly part?: { readonly at: "start" | "end"; readonly text: string };
  /** Nouns of information, in order, as stems. */
  readonly slots: readonly { readonly noun: string; readonly slot: AttributeSlot }[];
  /** What the last of them before "for", "of" or "about" holds: that is what is meant. */
  readonly head?: AttributeSlot;
  /** The phrase without articles: of a list, a part that names no noun of information is a value as it stands. */
  readonly run?: string;
  /** Whether it is one of several things. */
  readonly isListed: boolean;
  /** The stems of the other words that describe it. */
  readonly terms: readonly string[];
  /** Those of them that are names. They must all be met. */
  readonly names: readonly string[];
  /** Of several values the current one is not meant. */
  readonly isOld: boolean;
  /** "my …" */
  readonly isOwn: boolean;
}

const OLD =
  /\b(?:old|older|earlier|previous|prior|former|first|initial|original|outdated|expired|stale|obsolete|past|superseded|replaced|retired|earliest|last year['’]s)\b/i;
const CALLED =
  /\b(?:alias(?:es)?|pseudonym|nickname|names?|named|called|ask(?:ing)? for|asks for)\s+(?<name>\p{Lu}[\p{L}'’.-]*(?:\s+\p{Lu}[\p{L}'’.-]*)*)/gu;
const CALLED_BEFORE = /(?<name>\p{Lu}[\p{L}'’.-]*)\s+(?:alias|pseudonym|nickname)\b/gu;
const CAPITALS = /^(?:the\s+)?(?<name>\p{Lu}[\p{L}'’.-]*(?:\s+(?:(?:of|the|and)\s+)?\p{Lu}[\p{L}'’.-]*)*)$/u;
/** Words that say nothing about which value is meant. */
const IDLE: ReadonlySet<string> = new Set(
  splitWords(
    "old older earlier previous prior former first initial original outdated expired stale obsolete past superseded " +
      "replaced retired earliest temporary temp interim provisional current new present latest shared assistant active " +
      "accessible future existing stored saved recorded private personal confidential sensitive restricted safe system " +
      "chart file memory record history log one ones thing historical entire whole complete any other both all " +
      "exact precise full specific related associated backup used using use longer please now",
  ).map(stem),
);
const PART =
  /\b(?:end(?:s|ed|ing)?|finish(?:es|ed|ing)?|start(?:s|ed|ing)?|begin(?:s|ning)?|began) (?:in|with|on|at)? ?([\p{L}\p{N}][\p{L}\p{N}-]{1,})/iu;
/** Where a description goes on, or ends, behind a noun. */
const ENDS_VALUE =
  /^(?:for|of|from|in|on|at|to|by|with|that|which|who|whose|where|when|and|or|but|about|so|as|is|was|are|were|i|we|you|he|she|they|it|under|behind|please|now|entirely|completely|again|used|given|shared|sent|mentioned|stored|should|must)$/i;
const NAME = /(?<=[^.!?\s]\s)\p{Lu}[\p{L}\p{N}'’-]*/gu;

const CALENDAR: ReadonlySet<string> = new Set(
  splitWords(
    "monday tuesday wednesday thursday friday saturday sunday january february march april may june july august " +
      "september october november december",
  ).map(stem),
);

/** Reads a phrase such as "the older guest PIN for Ada" or "my number that ends in 0174". */
export function wantedIn(phrase: string, { isListed = false }: { isListed?: boolean } = {}): Wanted {
  const plain = phrase.trim().replace(/[.!?]+$/, "");
  const part = partIn(plain);
  const named = part ? [] : namedIn(plain);
  const called = calledIn(plain, isListed);
  const rest = named.reduceRight(
    (text, { start, end }) => `${text.slice(0, start)}, ${text.slice(end)}`,
    plain,
  );
  const described = called.reduce(
    (text, name) => text.replace(name, ", "),
    part ? rest.replace(PART, " ") : rest,
  );
  const follows = followsIn(described);
  const leads = leadsIn(described);
  const head = follows === undefined ? described : described.replace(follows, " ");
  const stems = extractTerms(head);
  const slots = slotsIn(head);
  const isSlot = new Set(slots.map(({ noun }) => noun));
  const terms = stems.filter((one) => !isSlot.has(one) && !IDLE.has(one) && !SPEAKING.has(one));
  const namesIn = new Set([...`the ${head}`.matchAll(NAME)].flatMap(([name]) => splitWords(name).map(stem)));
  const headed = slotsIn(described.split(/\b(?:for|of|about|that|which|who|saying|to)\b/i)[0] ?? "").at(
    -1,
  )?.slot;
  const run = plain.replace(/^(?:the|my|our|any|all|that|this|exact|old|former|earlier)\s+/gi, "");
  const isRun = slots.length + named.length + called.length === 0 && run.split(/\s+/).length > 1;
  return {
    named,
    isListed,
    ...(headed ? { head: headed } : {}),
    ...(isRun ? { run } : {}),
    called,
    ...(follows === undefined ? {} : { follows }),
    ...(leads === undefined ? {} : { leads }),
    ...(part ? { part } : {}),
    slots,
    terms: [...new Set(terms)],
    names: [...new Set(terms)].filter((term) => namesIn.has(term) && !CALENDAR.has(term)),
    isOld: OLD.test(plain),
    isOwn: /\b(?:my|our)\b/i.test(plain),
  };
}

function slotsIn(text: string): { noun: string; slot: AttributeSlot }[] {
  return extractTerms(text).flatMap((noun) => {
    const slot = findSlot(noun);
    return slot ? [{ noun, slot }] : [];
  });
}

/** What a note is about is no value by itself: "the note about calling after 6 PM". */
function namedIn(text: string): ShapedValue[] {
  const about = /\b(?:about|regarding|concerning|that (?:says?|said|tells?|told)|saying)\b/i.exec(text);
  const all = findShapedValues(text);
  // "case_id 12345": the first is what the second is.
  const isLabel = (one: ShapedValue, i: number): boolean =>
    !/\d/.test(one.text) && one.shape === "code" && text.slice(one.end, all[i + 1]?.start ?? one.end) === " ";
  return all.filter(
    (one, i) => !isLabel(one, i) && (!about || one.start < about.index || isDistinctValue(one)),
  );
}

function calledIn(text: string, isListed: boolean): string[] {
  const found = [
    ...Array.from(text.matchAll(CALLED), ({ groups }) => groups?.name ?? ""),
    ...Array.from(text.matchAll(CALLED_BEFORE), ({ groups }) => groups?.name ?? ""),
  ];
  const alone = isListed ? CAPITALS.exec(text)?.groups?.name : undefined;
  return [...new Set([...found, ...(alone === undefined ? [] : [alone])])].filter((name) => name !== "");
}

/** The words before the last noun, where it is one of place. */
function leadsIn(text: string): string | undefined {
  const match = /^(?<leads>.*?)\s+(?<noun>[\p{L}-]+)\s*$/su.exec(text.trim());
  const noun = stem(splitWords(match?.groups?.noun ?? "")[0] ?? "");
  return findSlot(noun)?.isPlace ? match?.groups?.leads : undefined;
}

function partIn(text: string): Wanted["part"] {
  const match = PART.exec(text);
  if (!match?.[1] || !/\p{N}/u.test(match[1])) return undefined;
  return { at: /^(?:end|finish)/i.test(match[0]) ? "end" : "start", text: match[1] };
}

/** The words behind the last noun of information, up to the first that goes on describing. */
function followsIn(text: string): string | undefined {
  const tokens = Array.from(text.matchAll(TOKEN), ({ 0: word, index }) => ({
    word,
    index,
  }));
  const last = tokens.findLastIndex(({ word }) => isNoun(word));
  const behind = tokens.slice(last + 1);
  const first = behind[0];
  if (last < 0 || !first || ENDS_VALUE.test(first.word)) return undefined;
  // A gap with a comma belongs to something else.
  const from = tokens[last];
  if (!from || /[,;]/.test(text.slice(from.index, first.index))) return undefined;
  const end = behind.at(-1);
  return (
    end &&
    text
      .slice(first.index, end.index + end.word.length)
      .replace(/[,;].*$/s, "")
      .trim()
  );
}

/** A number keeps its decimals and thousands. */
const TOKEN = /[\p{L}\p{N}](?:[\p{L}\p{N}'’-]|(?<=\p{N})[.,:/](?=\p{N}))*/gu;

function isNoun(word: string): boolean {
  return findSlot(stem(splitWords(word)[0] ?? "")) !== undefined;
}

/** Looks that rarely are what is meant, but say when it was. */
const TIMELY: ReadonlySet<ValueShape> = new Set(["date", "time"]);

/** Whether a phrase is worth a search for values at all: it names some, or a noun of information. */
export function namesValues({ named, called, follows, part, slots, terms, run, isListed }: Wanted): boolean {
  const isAlone = slots.length > 0 || terms.length === 0;
  const isNamed = named.some((one) => isDistinctValue(one) || isAlone || !TIMELY.has(one.shape));
  return (
    (run !== undefined && isListed) ||
    part !== undefined ||
    slots.length > 0 ||
    follows !== undefined ||
    called.length > 0 ||
    isNamed
  );
}
