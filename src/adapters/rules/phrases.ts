import { singular } from "../../domain/english.ts";
import {
  BINDING,
  BOUND_ADJECTIVES,
  FIRST_POSSESSIVE,
  PERSONS,
  PREPOSITIONS,
  SUBORDINATORS,
  TITLES,
} from "./lexicon.ts";
import type { Token } from "./token.ts";

/** A stretch of a clause: token indices, `to` exclusive. */
export interface Phrase {
  readonly kind: "noun" | "adjective" | "preposition" | "time" | "infinitive" | "other";
  readonly from: number;
  readonly to: number;
  /** The preposition, or the adjective with what it binds ("allergic to"). */
  readonly head?: string;
  /** The members of a list, each a noun phrase: "Trello", "Figma" and "Miro". */
  readonly items: readonly (readonly [number, number])[];
}

const TIME_NOUNS = new Set(
  (
    "day week weekend month year morning afternoon evening night noon midnight lunchtime hour minute second spring summer autumn winter fall " +
    "monday tuesday wednesday thursday friday saturday sunday january february march april may june july august september october november december " +
    "mon tue tues wed thu thur thurs fri sat sun jan feb mar apr jun jul aug sep sept oct nov dec decade fortnight weekday today tomorrow yesterday tonight moment time christmas easter ramadan hanukkah diwali halloween thanksgiving o'clock am pm noon term semester dawn dusk"
  ).split(" "),
);
const TIME_OPENERS = new Set([
  "last",
  "next",
  "this",
  "every",
  "each",
  "all",
  "a",
  "an",
  "the",
  "one",
  "two",
  "three",
  "four",
  "five",
  "six",
  "seven",
  "eight",
  "nine",
  "ten",
  "few",
  "couple",
  "some",
  "half",
  "past",
  "most",
  "other",
  "that",
  "any",
]);
const TIME_PREPOSITIONS = new Set([
  "on",
  "in",
  "at",
  "since",
  "for",
  "until",
  "till",
  "before",
  "after",
  "during",
  "by",
  "from",
  "over",
  "around",
  "about",
  "every",
  "between",
  "through",
  "of",
  "within",
]);
const TIME_ADVERBS = new Set([
  "yesterday",
  "today",
  "tomorrow",
  "tonight",
  "recently",
  "lately",
  "daily",
  "weekly",
  "monthly",
  "nowadays",
  "ago",
  "soon",
  "anymore",
  "now",
  "currently",
  "still",
  "again",
  "once",
  "twice",
]);

/** Whether a noun phrase names a time: "last Friday", "two weeks ago", "every morning", "7 June". */
export function isTime(tokens: readonly Token[], from: number, to: number): boolean {
  const last = tokens[to - 1];
  if (!last) return false;
  if (last.lower === "ago") return true;
  const slice = tokens.slice(from, to);
  if (slice.length === 1 && TIME_ADVERBS.has(last.lower)) return true;
  const heads = slice.filter((token) => TIME_NOUNS.has(token.lower) || TIME_NOUNS.has(singular(token.lower)));
  if (heads.length === 0)
    return slice.every(
      ({ class: kind, word }) =>
        kind === "number" &&
        /^\d{1,2}(?:st|nd|rd|th)$|^(?:19|20)\d\d$|^\d{1,2}[:.]\d\d(?:am|pm)?$|^\d{1,2}(?:am|pm)$|^\d{4}-\d\d-\d\d$|^\d{1,2}\/\d{1,2}(?:\/\d+)?$/i.test(
          word,
        ),
    );
  if (slice.some(({ class: kind }) => kind === "possessive")) return false;
  const lastIsTime = TIME_NOUNS.has(last.lower) || TIME_NOUNS.has(singular(last.lower));
  return (
    slice.every(
      (token) =>
        TIME_NOUNS.has(token.lower) ||
        TIME_NOUNS.has(singular(token.lower)) ||
        TIME_OPENERS.has(token.lower) ||
        token.class === "number" ||
        [
          "of",
          "early",
          "late",
          "mid",
          "ago",
          "afternoon",
          "straight",
          "whole",
          "couple",
          "few",
          "and",
          "or",
          "coming",
          "following",
          "single",
        ].includes(token.lower),
    ) &&
    (lastIsTime || last.class === "number" || last.lower === "off")
  );
}

/** Reads what follows the verb, phrase by phrase. */
export function phrasesOf(tokens: readonly Token[], from: number, to: number): Phrase[] {
  const phrases: Phrase[] = [];
  let at = from;
  while (at < to) {
    const phrase = readPhrase(tokens, at, to);
    phrases.push(phrase);
    at = Math.max(phrase.to, at + 1);
  }
  return phrases;
}

function readPhrase(tokens: readonly Token[], at: number, to: number): Phrase {
  const token = tokens[at];
  if (!token) return { kind: "other", from: at, to: at + 1, items: [] };
  if (token.lower === "to" && tokens[at + 1]?.class === "verb") {
    return { kind: "infinitive", from: at, to, head: "to", items: [] };
  }
  if (token.class === "adjective" || boundAdjective(tokens, at, to)) {
    const bound = boundAdjective(tokens, at, to);
    if (bound) return { kind: "adjective", from: at, to: bound.to, head: bound.head, items: bound.items };
  }
  if (isBindingPreposition(tokens, at, to)) return readPreposition(tokens, at, to);
  const noun = readList(tokens, at, to);
  if (noun) {
    const [first] = noun.items;
    const isTemporal = first !== undefined && isTime(tokens, first[0], noun.to);
    return { kind: isTemporal ? "time" : "noun", from: at, to: noun.to, items: noun.items };
  }
  if (token.class === "adverb" && TIME_ADVERBS.has(token.lower))
    return { kind: "time", from: at, to: at + 1, items: [] };
  if (token.class === "adjective") {
    let end = at + 1;
    while (
      end < to &&
      (tokens[end]?.class === "adjective" ||
        (["and", "or", "but"].includes(tokens[end]?.lower ?? "") &&
          tokens[end + 1]?.class === "adjective")) &&
      !/[,;]/.test(tokens[end - 1]?.after ?? "")
    )
      end += 1;
    return { kind: "adjective", from: at, to: end, items: [[at, end]] };
  }
  return { kind: "other", from: at, to: at + 1, items: [] };
}

function isBindingPreposition(tokens: readonly Token[], at: number, to: number): boolean {
  const token = tokens[at];
  if (!token || at + 1 >= to || isApproximate(tokens, at, to)) return false;
  if (token.class === "preposition") return true;
  return (
    PREPOSITIONS.has(token.lower) &&
    token.class !== "verb" &&
    token.class !== "noun" &&
    !(SUBORDINATORS.has(token.lower) && tokens[at + 1]?.class === "pronoun") &&
    token.lower !== "because" &&
    readNounPhrase(tokens, at + 1, to) !== undefined
  );
}

function readPreposition(tokens: readonly Token[], at: number, to: number): Phrase {
  const token = tokens[at];
  let head = token?.lower ?? "";
  let next = at + 1;
  // "out of", "up to", "next to", "because of", "away from"
  while (next < to - 1 && tokens[next]?.class === "preposition" && !/,/.test(tokens[next - 1]?.after ?? "")) {
    head = `${head} ${tokens[next]?.lower}`;
    next += 1;
  }
  while (next < to && tokens[next]?.class === "adverb" && !TIME_ADVERBS.has(tokens[next]?.lower ?? ""))
    next += 1;
  const list = readList(tokens, next, to) ?? readGerund(tokens, next, to);
  const end = list?.to ?? next;
  // "at the shelter and at the food bank"
  const again =
    list && ["and", "or"].includes(tokens[end]?.lower ?? "") && tokens[end + 1]?.lower === head
      ? readList(tokens, end + 2, to)
      : undefined;
  if (list && again && !isTime(tokens, end + 2, again.to))
    return { kind: "preposition", from: at, to: again.to, head, items: [...list.items, ...again.items] };
  const [first] = list?.items ?? [];
  const isTemporal = first !== undefined && TIME_PREPOSITIONS.has(head) && isTime(tokens, first[0], end);
  return { kind: isTemporal ? "time" : "preposition", from: at, to: end, head, items: list?.items ?? [] };
}

/** "at baking bread": the gerund with its object. */
function readGerund(tokens: readonly Token[], at: number, to: number): List | undefined {
  if (tokens[at]?.class !== "verb" || !/ing$/.test(tokens[at]?.lower ?? "")) return undefined;
  const object = readNounPhrase(tokens, at + 1, to);
  const end = object ?? at + 1;
  return { items: [[at, end]], to: end };
}

interface List {
  readonly items: readonly (readonly [number, number])[];
  readonly to: number;
}

/** A noun phrase, or several joined by commas and "and". */
export function readList(tokens: readonly Token[], at: number, to: number): List | undefined {
  const first = readNounPhrase(tokens, at, to);
  if (first === undefined) return undefined;
  const items: [number, number][] = [[at, first]];
  let end = first;
  let joined = false;
  for (;;) {
    const separator = tokens[end - 1]?.after ?? "";
    if (/[;:(]/.test(separator)) break;
    let next = end;
    const word = tokens[next]?.lower ?? "";
    const isCapital = /^\p{Lu}/u.test(tokens[next]?.word ?? "");
    const isAnd =
      next < to &&
      ((["and", "or", "&", "plus"].includes(word) && !isCapital) ||
        (word === "as" && tokens[next + 1]?.lower === "well" && tokens[next + 2]?.lower === "as"));
    if (!isAnd && !separator.includes(",")) break;
    if (isAnd) next += word === "as" ? 3 : 1;
    while (
      next < to &&
      ["adverb"].includes(tokens[next]?.class ?? "") &&
      !TIME_ADVERBS.has(tokens[next]?.lower ?? "") &&
      readNounPhrase(tokens, next + 1, to) !== undefined
    )
      next += 1;
    const item = readNounPhrase(tokens, next, to);
    if (
      item === undefined ||
      isTime(tokens, next, item) !== isTime(tokens, items[0]?.[0] ?? at, items[0]?.[1] ?? first)
    )
      break;
    items.push([next, item]);
    end = item;
    if (isAnd) joined = true;
  }
  if (items.length > 1 && !joined && !isBareList(tokens, items)) return { items: [[at, first]], to: first };
  return {
    items: joined ? upToJoin(tokens, items) : items,
    to: joined ? lastOf(upToJoin(tokens, items)) : end,
  };
}

function lastOf(items: readonly (readonly [number, number])[]): number {
  return items.at(-1)?.[1] ?? 0;
}

/** The list ends with what "and" joins; what follows another comma is said about it. */
function upToJoin(tokens: readonly Token[], items: [number, number][]): [number, number][] {
  let last = 0;
  for (let i = 1; i < items.length; i += 1) {
    const before = tokens.slice(items[i - 1]?.[1] ?? 0, items[i]?.[0] ?? 0);
    if (before.some(({ lower }) => ["and", "or", "&", "plus", "as"].includes(lower))) last = i;
  }
  return items.slice(0, last + 1);
}

/** Without "and": three or more, or names alone, are a list; else what follows the comma explains. */
function isBareList(tokens: readonly Token[], items: readonly (readonly [number, number])[]): boolean {
  const isName = ([from, to]: readonly [number, number]): boolean =>
    to - from <= 2 &&
    tokens.slice(from, to).every((token) => token.class === "name" || /^[A-Z]/.test(token.word));
  const isPlain = ([from, to]: readonly [number, number]): boolean =>
    tokens.slice(from, to).every((token) => token.class === "noun" || token.class === "name");
  return items.every(isName) || (items.length >= 3 && items.every(isPlain));
}

/** Where the noun phrase that begins here ends; undefined where none does. */
export function readNounPhrase(tokens: readonly Token[], at: number, to: number): number | undefined {
  let end = at;
  let hasNoun = false;
  const first = tokens[at];
  if (!first || at >= to) return undefined;
  if (first.class === "pronoun") return at + 1;
  if (isApproximate(tokens, at, to)) return readNounPhrase(tokens, at + 1, to);
  while (end < to) {
    const token = tokens[end];
    if (!token) break;
    if (end > at && /[,;:()—–]/.test(tokens[end - 1]?.after ?? "")) break;
    if (end > at && /["“”]/.test(token.before)) break;
    const opens = token.class === "determiner" || token.class === "possessive";
    if (hasNoun && (opens || startsTime(tokens, end, to))) break;
    if (opens || token.class === "number") {
      if (token.class === "number") hasNoun = true;
      end += 1;
      continue;
    }
    if (
      token.class === "adjective" ||
      (token.class === "adverb" && !hasNoun && end > at && !TIME_ADVERBS.has(token.lower))
    ) {
      if (hasNoun && token.class === "adjective" && !isBeforeNoun(tokens, end, to)) {
        // "B negative", "size 9 wide"
        if (tokens[end - 1]?.class === "name" || tokens[end - 1]?.class === "number") {
          end += 1;
          continue;
        }
        break;
      }
      end += 1;
      continue;
    }
    if (token.class === "noun" || token.class === "name") {
      if (hasNoun && TIME_ADVERBS.has(token.lower)) break;
      if (
        hasNoun &&
        tokens[end - 1]?.class !== "number" &&
        isNamedTime(tokens, end) &&
        isTime(tokens, end, timeEnd(tokens, end, to)) &&
        !isTime(tokens, at, end)
      )
        break;
      hasNoun = true;
      end += 1;
      continue;
    }
    if (
      token.class === "verb" &&
      /ing$/.test(token.lower) &&
      end + 1 < to &&
      (end === at || !hasNoun) &&
      ["noun"].includes(tokens[end + 1]?.class ?? "") &&
      end > at
    ) {
      end += 1;
      continue;
    }
    // "Tallis & Co"
    if (
      token.lower === "&" &&
      tokens[end - 1]?.class === "name" &&
      /^\p{Lu}/u.test(tokens[end + 1]?.word ?? "") &&
      /^\p{Lu}/u.test(tokens[end - 1]?.word ?? "")
    ) {
      end += 2;
      continue;
    }
    if (token.lower === "plus" && hasNoun && /^P/.test(token.word)) {
      end += 1;
      continue;
    }
    // "a member OF the chess club", "rock and roll" stays with the list reader.
    if (token.lower === "of" && hasNoun) {
      const more = readNounPhrase(tokens, end + 1, to);
      if (more === undefined) break;
      return more;
    }
    break;
  }
  if (!hasNoun) {
    // "the blue", "both", "one"
    if (
      end > at &&
      first.class === "determiner" &&
      ["one", "both", "some", "all", "this", "that", "these", "those"].includes(first.lower)
    )
      return end;
    if (first.class === "verb" && /ing$/.test(first.lower)) return gerundEnd(tokens, at, to);
    if (
      end > at &&
      (first.class === "determiner" || first.class === "possessive") &&
      tokens[end - 1]?.class === "adjective"
    )
      return end;
    return undefined;
  }
  return withName(tokens, end, to);
}

/** "about ten a day", "over 40": the number and what it counts. */
function isApproximate(tokens: readonly Token[], at: number, to: number): boolean {
  return (
    at + 1 < to &&
    ["about", "around", "over", "under", "nearly", "almost", "roughly", "approximately"].includes(
      tokens[at]?.lower ?? "",
    ) &&
    tokens[at + 1]?.class === "number"
  );
}

/** An activity as a thing: "bouldering", "wild swimming". */
function gerundEnd(tokens: readonly Token[], at: number, to: number): number {
  const object = readNounPhrase(tokens, at + 1, to);
  return object !== undefined && !isTime(tokens, at + 1, object) && tokens[at]?.after.trim() === ""
    ? object
    : at + 1;
}

/** "Porto LAST MONTH", "Sweden FOUR YEARS AGO" */
function startsTime(tokens: readonly Token[], at: number, to: number): boolean {
  const token = tokens[at];
  if (!token || !(/^(?:last|next|this|every|each)$/.test(token.lower) || token.class === "number")) return false;
  return [2, 3].some((length) => at + length <= to && isTime(tokens, at, at + length));
}

/** "the vet Friday", "a call tomorrow"; "my wedding day" is one noun. */
function isNamedTime(tokens: readonly Token[], at: number): boolean {
  const word = tokens[at]?.lower ?? "";
  return !/^(?:day|night|week|weekend|month|year|hour|time|moment|season|term|morning|afternoon|evening|lunchtime)s?$/.test(word) || ["ago"].includes(tokens[at + 1]?.lower ?? "");
}

function timeEnd(tokens: readonly Token[], from: number, to: number): number {
  let end = from + 1;
  while (end < to && ["noun", "number", "adverb"].includes(tokens[end]?.class ?? "") && end - from < 3)
    end += 1;
  while (end > from + 1 && !isTime(tokens, from, end)) end -= 1;
  return end;
}

function isBeforeNoun(tokens: readonly Token[], at: number, to: number): boolean {
  const next = tokens[at + 1];
  return (
    at + 1 < to &&
    next !== undefined &&
    (next.class === "noun" || next.class === "name" || next.class === "adjective") &&
    !/[,;:]/.test(tokens[at]?.after ?? "")
  );
}

const NAMING = new Set(["called", "named", "nicknamed"]);

/** "a parrot CALLED KIWI" */
function withName(tokens: readonly Token[], end: number, to: number): number {
  if (end < to && NAMING.has(tokens[end]?.lower ?? "")) {
    const name = readNounPhrase(tokens, end + 1, to);
    if (name !== undefined)
      return /s$/.test(tokens[end - 1]?.lower ?? "") ? namesEnd(tokens, name, to) : name;
  }
  return end;
}

/** "two huskies called Ice AND STORM" */
function namesEnd(tokens: readonly Token[], from: number, to: number): number {
  let end = from;
  while (end < to) {
    const isAnd = ["and", "&"].includes(tokens[end]?.lower ?? "");
    if (!isAnd && !/,/.test(tokens[end - 1]?.after ?? "")) break;
    const next = tokens[isAnd ? end + 1 : end];
    if (!next || !/^\p{Lu}/u.test(next.word) || next.class === "pronoun") break;
    end += isAnd ? 2 : 1;
    if (isAnd) break;
  }
  return end;
}

function boundAdjective(
  tokens: readonly Token[],
  at: number,
  to: number,
): { to: number; head: string; items: readonly (readonly [number, number])[] } | undefined {
  const token = tokens[at];
  if (!token || !Object.hasOwn(BOUND_ADJECTIVES, token.lower)) return undefined;
  const allowed = BOUND_ADJECTIVES[token.lower]?.split(" ") ?? [];
  let next = at + 1;
  let joint = "";
  while (next < to && allowed.includes(tokens[next]?.lower ?? "") && joint.split(" ").length < 3) {
    joint = `${joint} ${tokens[next]?.lower}`;
    next += 1;
  }
  if (joint === "") return undefined;
  while (next < to && tokens[next]?.class === "adverb") next += 1;
  const list = readList(tokens, next, to) ?? readGerund(tokens, next, to);
  if (!list) return undefined;
  return { to: list.to, head: `${token.lower}${joint}`, items: list.items };
}

/** Whether a preposition makes part of a relation. */
export function binds(preposition: string): boolean {
  return BINDING.has(preposition) || preposition.includes(" ");
}

/** A noun phrase taken apart. */
export interface Noun {
  readonly possessive?: string;
  /** "my flatmate's parrot": who is named on the way, without determiners. */
  readonly owners: readonly (readonly [number, number])[];
  readonly determiner?: string;
  /** Adjectives and nouns in front, and the noun itself: token indices. */
  readonly words: readonly number[];
  /** A name at its end or after "called": "my sister NADIA". */
  readonly name?: readonly [number, number];
}

/** Takes a noun phrase apart into owners, head and name. */
export function nounOf(tokens: readonly Token[], from: number, to: number): Noun {
  const owners: [number, number][] = [];
  let possessive: string | undefined;
  let determiner: string | undefined;
  let begin = from;
  const naming = findIndex(tokens, from, to, (token) => NAMING.has(token.lower));
  const end = naming > from ? naming : to;
  for (let i = from; i < end; i += 1) {
    const token = tokens[i];
    if (!token) continue;
    if (token.class === "possessive") {
      possessive = token.lower;
      begin = i + 1;
    } else if (token.class === "determiner" && i === begin) {
      determiner = token.lower;
      begin = i + 1;
    } else if (token.owner && i < end - 1) {
      owners.push([begin, i + 1]);
      begin = i + 1;
    }
  }
  const words = range(begin, end);
  const name =
    naming > from
      ? ([naming + 1, to] as const)
      : nameAtEnd(tokens, words, possessive !== undefined || determiner !== undefined);
  return {
    ...(possessive === undefined ? {} : { possessive }),
    owners,
    ...(determiner === undefined ? {} : { determiner }),
    words: name && naming <= from ? words.filter((i) => i < name[0]) : words,
    ...(name ? { name } : {}),
  };
}

function range(from: number, to: number): number[] {
  return Array.from({ length: Math.max(0, to - from) }, (_, i) => from + i);
}

function findIndex(
  tokens: readonly Token[],
  from: number,
  to: number,
  is: (token: Token) => boolean,
): number {
  for (let i = from; i < to; i += 1) {
    const token = tokens[i];
    if (token && is(token)) return i;
  }
  return -1;
}

/** "my sister Nadia", "our dog Rex": names behind a common noun that can bear one. */
function nameAtEnd(
  tokens: readonly Token[],
  words: readonly number[],
  owned: boolean,
): readonly [number, number] | undefined {
  let start = words.length;
  while (start > 0) {
    const token = tokens[words[start - 1] ?? -1];
    if (!token || !/^\p{Lu}/u.test(token.word) || token.class === "number") break;
    if (token.class !== "name" && token.class !== "noun" && token.class !== "adjective") break;
    start -= 1;
  }
  const head = tokens[words[start - 1] ?? -1];
  const first = words[start];
  const last = words.at(-1);
  if (!owned || start === 0 || start === words.length || !head || first === undefined || last === undefined)
    return undefined;
  if (/^\p{Lu}/u.test(head.word) || (head.class !== "noun" && head.class !== "name")) return undefined;
  if (TIME_NOUNS.has(tokens[first]?.lower ?? "")) return undefined;
  return [first, last + 1];
}

/** Whether a phrase is a person's or a place's name, title included: all its words in capitals. */
export function isName(tokens: readonly Token[], from: number, to: number): boolean {
  const slice = tokens.slice(from, to);
  return (
    slice.length > 0 &&
    slice.length <= 5 &&
    slice.every(
      (token) => /^\p{Lu}|^(?:de|van|von|der|al|the|of)$/u.test(token.word) || TITLES.has(token.lower),
    ) &&
    slice.some((token) => /^\p{Lu}/u.test(token.word))
  );
}

/** Whether a possessive is the speaker's own. */
export function isOwn(noun: Noun): boolean {
  return noun.possessive !== undefined && FIRST_POSSESSIVE.has(noun.possessive);
}

const NO_PERSON = new Set(
  "number computer printer paper water dinner letter sweater weather router charger mower freezer cooker toaster boiler heater scooter trailer order folder answer offer summer winter corner shoulder finger liver bladder slipper ladder hammer drawer mirror motor door floor color monitor processor tractor sensor elevator error humor flavor harbor border cover layer poster sticker butter pepper ginger silver powder shower tower flower feather leather matter center counter filter gutter helicopter hoover jumper lighter locker newsletter oyster plaster quarter register roller rubber saucer shelter speaker starter supper theater thriller timer transfer trigger tumor vinegar wafer wrapper zipper blender mixer dryer washer dishwasher fryer recorder player burner amplifier decor sector factor vector visor minor odor rumor ever never other either after under over super hyper cucumber lobster hamster list wrist fist mist twist waist playlist checklist wishlist appetizer planter planner fever beer deer career gear spider tiger beaver".split(
    " ",
  ),
);
const PROFESSION =
  /(?:[a-z]{2}er|[a-z]{2}or|[a-z]{2}ist|[a-z]{2}ian|[a-z]{2}eer|accountant|assistant|consultant|student|agent|resident|president|superintendent|[a-z]{2}man|woman|nurse|chef|vet|cook|pilot|guard|clerk|judge|mechanic|barista|coach|nanny|surgeon|librarian|analyst|specialist|technician|developer|director|officer|intern|apprentice|student|ceo|cto|founder|owner|freelancer|professor|actress|waitress|model|postie|cop|tutor|agent|rep|associate|partner|fellow|researcher|scientist|architect|tailor|baker|butcher|smith|wright|therapist|midwife|paramedic|electrician|plumber|firefighter|farmer|attorney|solicitor|barrister|trainee|temp)s?$/;

/** Whether a noun names what somebody does for a living, or a person at all. */
export function isPersonNoun(word: string): boolean {
  const one = singular(word);
  return PERSONS.has(one) || (!NO_PERSON.has(one) && PROFESSION.test(one));
}
