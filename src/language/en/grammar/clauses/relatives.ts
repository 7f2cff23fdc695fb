import { toBaseForm } from "../../../../domain/search/base-forms.ts";
import type { Proposal } from "../../../../ports/language/extractor.ts";
import { toThirdPerson } from "../../word-forms.ts";
import { type Context, type Statement, said } from "../context.ts";
import { startsTime, TIME_ADVERBS } from "../time/times.ts";
import { BE, SAYING } from "../words/lexicon.ts";
import type { Token } from "../words/token.ts";
import type { Clause } from "./clauses.ts";

const TASTE = /^(?:love|like|hate|enjoy|adore|dislike|drive|own|play|ride|teach)$/;
const PLACED = /^(?:work|volunteer|study|teach|live|train)$/;
const IN_PHRASE = new Set(["noun", "name", "adjective", "number"]);

const SAID_OF =
  /(?:^|[,;.!?] ?|\b(?:and|but|so|because|well) )(?<thing>[\p{L}\p{N}'’ -]{3,40}?) (?:is|are) (?:what|something|all|the thing|one thing|things) (?:that )?(?:i|we) (?:really |also |just )?(?<verb>love|like|enjoy|hate)(?= (?:too|most|best|the most|to do|so|very)\b|[,;.!?]|$)/giu;
const PLACE_OF =
  /(?:^|[,;.!?] ?|\b(?:and|but|well) )(?<place>[\p{L}' -]{3,30}?) is where (?:i|we) (?<verb>live|work|grew up|study)\b/giu;
/** "Omar is my name": whatever stands in front of it, written as names are or not. */
const NAME_OF =
  /(?:^|[,;.!?] ?|\b(?:and|but|well|hi|hello|hey) )(?<name>\p{L}[\p{L}'-]+(?: \p{Lu}[\p{L}'-]+)?)(?: is|['’]s) my (?:first |full |real |given )?name\b/giu;
/** "Fishing is what I do on weekends" */
const DONE =
  /(?:^|[,;.!?] ?|\b(?:and|but|so|well) )(?<thing>[\p{L}-]{2,}ing(?: [\p{L}'’-]+){0,3}?) is what (?:i|we) do(?<when>(?: [\p{L}'’-]+){0,6})(?=[,;.!?]|$)/giu;
const ORIGIN =
  /(?:^|[,;.!?] ?|\b(?:and|but|well) )(?<place>[\p{L}' -]{3,30}?) is where (?:i['’]m|i am|we['’]re|i come) from\b/giu;
/** "Clowns scare me" */
const FEARED =
  /(?:^|[,;.!?] ?|\b(?:and|but|so|because|well) )(?<thing>[\p{L}'’ -]{3,30}?) (?:really |always |totally |just )?(?:scares?|terrif(?:y|ies)|frightens?|freaks?|creeps?) me\b(?: out| to death)?/giu;
const NOTHING = /\b(?:i|we|you|he|she|it|they|this|that|these|those|there|here|who|what|which)\b/i;

/** "Baking rye is what I like", "Oslo is where I live": with what it is about in front. */
export function fronted(context: Context, text: string, place: { start: number; end: number }): Proposal[] {
  if (!/\b(?:i|we|me|my name)\b/i.test(text)) return [];
  const likes = Array.from(text.matchAll(SAID_OF), ({ groups }) => [
    groups?.thing ?? "",
    `I ${groups?.verb} `,
  ]);
  const places = Array.from(text.matchAll(PLACE_OF), ({ groups }) => [
    groups?.place ?? "",
    `I ${groups?.verb} in `,
  ]);
  const done = Array.from(text.matchAll(DONE), ({ groups }) => [
    `${groups?.thing ?? ""}${groups?.when ?? ""}`,
    "I do ",
  ]);
  const names = Array.from(text.matchAll(NAME_OF), ({ groups }) => [groups?.name ?? "", "My name is "]);
  const origins = Array.from(text.matchAll(ORIGIN), ({ groups }) => [groups?.place ?? "", "I am from "]);
  const fears = Array.from(text.matchAll(FEARED), ({ groups }) => [groups?.thing ?? "", "I am scared of "]);
  return [...likes, ...places, ...done, ...names, ...origins, ...fears].flatMap(([thing = "", start = ""]) =>
    NOTHING.test(thing) ? [] : context.readAs(`${start}${thing.trim()}.`, place),
  );
}

/** "tacos that I hate", "the library where I work": what hangs on a noun says it of the noun. */
export function relatives(context: Context, tokens: readonly Token[]): Proposal[] {
  return tokens.flatMap((token, at) => {
    const isOwn = /^(?:i|we)$/.test(token.lower) && !token.quoted;
    const hung = isOwn ? hungAt(tokens, at) : undefined;
    return hung ? [...tasteFor(context, tokens, hung), ...placeOf(context, tokens, hung)] : [];
  });
}

interface Hung {
  readonly from: number;
  readonly end: number;
  /** Of the verb. */
  readonly verb: number;
  /** "that", "which", "where"; empty where it is left out. */
  readonly link: string;
}

function hungAt(tokens: readonly Token[], at: number): Hung | undefined {
  const before = tokens[at - 1]?.lower ?? "";
  const link = /^(?:that|which|who|whom|where)$/.test(before) ? before : "";
  const end = link === "" ? at : at - 1;
  const from = phraseStart(tokens, end);
  const after = tokens[end - 1]?.after ?? "";
  let verb = at + 1;
  while (tokens[verb]?.class === "adverb") verb += 1;
  const isNext = link === "" ? after === " " : /^,?\s*$/.test(after);
  return from === end || !isNext || tokens[verb] === undefined ? undefined : { from, end, verb, link };
}

/**
 * "I'm on statins, which I take at night": read as "I take statins at night". Nothing where it is open what the clause lacks; undefined
 * where it lacks nothing.
 */
export function withObject(context: Context, { clause, start, end }: Statement): Proposal[] | undefined {
  const { tokens, subject, verb } = clause;
  const link = (subject?.[0] ?? 0) - 1;
  const before = tokens[link - 1];
  const isLink = tokens[link]?.class === "question" && /^(?:which|who|whom)$/.test(tokens[link]?.lower ?? "");
  const from = thingStart(tokens, link);
  if (!subject || !isLink || !["noun", "name", "adjective"].includes(before?.class ?? "")) return undefined;
  const to = gapIn(clause);
  const isAside = /^,\s*$/.test(before?.after ?? "");
  if (!isAside || from === link || to === undefined || isInPlace(tokens, from) || SAYING.has(verb.lemma))
    return [];
  const front = context.content.slice(tokens[subject[0]]?.start ?? 0, tokens[to - 1]?.end ?? 0);
  const isOwn = isHad(clause, from);
  const thing = `${isOwn ? "my " : ""}${said(context, tokens, isOwn ? from + 1 : from, link)}`;
  // "levothyroxine, 75 mcg"
  const words = [front, thing.replace(", ", " "), said(context, tokens, to, clause.rest[1])];
  return context.readAs(`${words.filter((word) => word !== "").join(" ")}.`, { start, end });
}

/** Back over the noun phrase, and over how much of it: "levothyroxine, 75 MCG, which". */
function thingStart(tokens: readonly Token[], end: number): number {
  const from = phraseStart(tokens, end);
  const isAmount = tokens[from]?.class === "number" && tokens[from - 1]?.after.trim() === ",";
  return isAmount && from < end ? phraseStart(tokens, from) : from;
}

/** "I have a bike, which I ride": from then on it is "my bike". */
function isHad({ tokens, verb }: Clause, from: number): boolean {
  const isOne = /^an?$/.test(tokens[from]?.lower ?? "") && verb.tense === "present";
  const had = toBaseForm(tokens[from - 1]?.lower ?? "");
  return (
    isOne && /^(?:have|own|get|buy|adopt|keep)$/.test(had) && /^(?:i|we)$/.test(tokens[from - 2]?.lower ?? "")
  );
}

/** "a cabin IN VERMONT, which …": of the cabin or of its place. */
function isInPlace(tokens: readonly Token[], from: number): boolean {
  return tokens[from - 1]?.class === "preposition" && tokens[from - 2]?.class !== "verb";
}

/** Where the object is missing: behind the verb, "me" and a preposition that stands alone; undefined where there is an object. */
function gapIn({ tokens, verb, rest }: Clause): number | undefined {
  const end = rest[1];
  let at = verb.to;
  if (verb.copula || verb.chain.length > 1) return undefined;
  if (/^(?:me|us|him|her|them|you)$/.test(tokens[at]?.lower ?? "")) at += 1;
  const isAlone = (i: number): boolean =>
    ["preposition", "adverb"].includes(tokens[i]?.class ?? "") &&
    !TIME_ADVERBS.has(tokens[i]?.lower ?? "") &&
    (i + 1 >= end || tokens[i + 1]?.class === "preposition" || startsTime(tokens, i + 1, end));
  if (at < end && isAlone(at) && tokens[at]?.after.trim() === "") at += 1;
  const next = at < end ? tokens[at] : undefined;
  const isObject =
    ["noun", "name", "determiner", "possessive", "pronoun", "number", "adjective"].includes(
      next?.class ?? "",
    ) && !startsTime(tokens, at, end);
  return isObject ? undefined : at;
}

function tasteFor(context: Context, tokens: readonly Token[], { from, end, verb, link }: Hung): Proposal[] {
  const own = tokens[verb];
  const next = tokens[verb + 1];
  if (!own || !TASTE.test(own.lower) || link === "where" || link === "") return [];
  const isEnd = own.after.trim() !== "" || !next || /^(?:very|so|too|more|as|and|but|to)$/.test(next.lower);
  const place = { start: tokens[from]?.start ?? 0, end: own.end };
  return isEnd ? context.readAs(`I ${own.lower} ${said(context, tokens, from, end)}.`, place) : [];
}

function placeOf(context: Context, tokens: readonly Token[], { from, end, verb, link }: Hung): Proposal[] {
  const own = tokens[verb];
  const next = tokens[verb + 1];
  const joint = /^(?:at|in|for)$/.test(next?.lower ?? "") ? next : undefined;
  if (!own || !PLACED.test(own.lower) || (link !== "where" && !joint)) return [];
  const follows = (joint ? tokens[verb + 2] : next)?.class ?? "other";
  if (["noun", "name", "determiner", "possessive"].includes(follows)) return [];
  const where = joint?.lower ?? (own.lower === "live" ? "in" : "at");
  const place = { start: tokens[from]?.start ?? 0, end: (joint ?? own).end };
  return context.readAs(`I ${own.lower} ${where} ${said(context, tokens, from, end)}.`, place);
}

/** Back over the noun phrase that ends there, with its article. */
function phraseStart(tokens: readonly Token[], end: number): number {
  let from = end;
  while (from > 0 && end - from < 4) {
    const token = tokens[from - 1];
    if (!token || (from < end && /[,;:]/.test(token.after))) break;
    if (["determiner", "possessive"].includes(token.class)) return from < end ? from - 1 : end;
    if (!IN_PHRASE.has(token.class) && !(from < end && isPartOfNoun(tokens, from - 1))) break;
    from -= 1;
  }
  return from;
}

/** "I wear HEARING aids": of the thing; "I'm reading Dune" is what one does. */
function isPartOfNoun(tokens: readonly Token[], at: number): boolean {
  const before = tokens[at - 1];
  const isOpened = before?.class === "verb" && !BE.has(before.lower);
  return /[a-z]{2}ing$/.test(tokens[at]?.lower ?? "") && isOpened;
}

const ASIDE =
  /^(?:(?:so|and|well|also|oh|hey|btw)[, ]+)*(?<who>(?:[Mm]y|[Oo]ur) [\p{L}'’ -]{2,40}?|\p{Lu}[\p{L}'’-]+), (?<aside>(?:an? |who |the )[^,;:.!?]{3,70}), (?<rest>[^;:.!?]{3,120})[.!]*$/u;
/** A participle or a joint behind the comma: what stands before it is not yet the end of the subject. */
const NO_PREDICATE = /^(?:and|or|but|who|which|with|from|in|at|on|called|named|born|aged)$/;
/** Behind the second comma of "My dog, a greyhound, HATES rain": forms that the tagger may take for a noun. */
const THIRD_PERSON = /^[a-z]{2,}[^s\W]s$/;

/** Whether what stands behind the second comma says something of the subject: it begins with a verb in a finite form. */
function isPredicate(tokens: readonly Token[], rest: string): boolean {
  const first = rest.split(" ")[0]?.toLowerCase() ?? "";
  let at = tokens.findLastIndex(
    ({ word }, i) => tokens[i - 1]?.after.includes(",") === true && rest.startsWith(word),
  );
  if (at < 0 || NO_PREDICATE.test(first)) return false;
  while (tokens[at]?.class === "adverb" || tokens[at]?.class === "negation") at += 1;
  const token = tokens[at];
  if (!token || /ing$/.test(token.lower)) return false;
  return token.class === "verb" || (token.class === "noun" && isThirdPerson(token, tokens[at + 1]));
}

/** "hates rain", "trains dogs": a noun in s before another phrase of its own; "nurses in Porto" is read as it is tagged. */
function isThirdPerson({ lower }: Token, next: Token | undefined): boolean {
  const isVerb = THIRD_PERSON.test(lower) && toThirdPerson(toBaseForm(lower)) === lower;
  return isVerb && next !== undefined && next.class !== "conjunction";
}

/**
 * "My sister Ana, a nurse in Porto, has two cats", "my boss, who lives in Ghent, sails": two statements about the same
 * one, each read by itself; undefined where nothing stands between the commas, or one of them tells nothing.
 */
export function asides(
  context: Context,
  tokens: readonly Token[],
  text: string,
  place: { readonly start: number; readonly end: number },
): Proposal[] | undefined {
  if (tokens.length > 40 || tokens.some(({ quoted }) => quoted)) return undefined;
  const found = ASIDE.exec(text.replace(/\s+/g, " ").trim())?.groups;
  const { who, aside = "", rest = "" } = found ?? {};
  // "My local pub, the Eagle, closed": a name.
  if (who === undefined || /^the \p{Lu}/u.test(aside) || !isPredicate(tokens, rest)) return undefined;
  const isOfObject = /^who (?:i|we|my|our)\b/i.test(aside);
  const told = isOfObject ? `, ${aside}` : /^who /i.test(aside) ? ` ${aside.slice(4)}` : ` is ${aside}`;
  const first = context.readAs(`${who}${told}.`, place);
  const second = context.readAs(`${who} ${rest}.`, place);
  return isOfObject || (first.length > 0 && second.length > 0) ? [...first, ...second] : undefined;
}
