import { splitWords } from "../../../../domain/search/search-terms.ts";
import { isHyponym, isKnownNoun } from "../../kinds/kinds.ts";
import { parseEnglish } from "../../parser/english-trees.ts";
import type { ParsedToken } from "../../parser/parser.ts";
import { toSingular } from "../../word-forms.ts";
import { key } from "../essence.ts";
import { type Analysis, isOfKindByAny, keysOf } from "./analysis.ts";
import type { Inquiry } from "./inquiry.ts";

const NUMBER =
  /\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|(?:thir|four|fif|six|seven|eigh|nine)teen|twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety|hundred|thousand|dozen|half|twice|once|first|second|third|fourth|fifth|couple|tenner|fiver|grand|only child)\b/gi;
const TIME =
  /\b(?:today|tomorrow|tonight|yesterday|ago|noon|midnight|morning|afternoon|evening|night|weekend|(?:mon|tues|wednes|thurs|fri|satur|sun)days?|january|february|march|april|may|june|july|august|september|october|november|december|jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec|spring|summer|autumn|winter|christmas|easter|daily|weekly|monthly|twice|every|since|until|till|(?:19|20)\d\d|\d{1,2}(?:st|nd|rd|th)|\d{1,2}[:.]\d\d|\d{1,2} ?[ap]m|(?:at|around|until|before|after|by|past) (?:\d{1,2}|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)|(?:for|in) (?:\w+ ){1,2}(?:years?|months?|weeks?|days?))\b/gi;
const CLOCK =
  /\d{1,2}(?:[:.]\d\d)? ?(?:am|pm|a\.m|p\.m)\b|\d{1,2}[:.]\d\d|\b(?:at|around|by|until|before|after|from|between|past) (?:\d{1,2}|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|half|quarter)\b|\b(?:noon|midnight|dawn|dusk)\b/i;
/** A year by its number. */
export const YEAR: RegExp = /\b(?:19|20)\d\d\b/;
const DAY =
  /\b(?:mon|tues|wednes|thurs|fri|satur|sun)days?\b|\b\d{1,2}(?:st|nd|rd|th)?\b|\btoday|tomorrow|yesterday\b/i;
/** "I saw a film", "I take medication every morning": the kind that is asked for, and not which. */
export function namesOnly(sentence: string, topic: string): boolean {
  const found = new RegExp(
    `(?<before>[\\p{L}'’-]+) (?:new |good |great |nice |lovely |old )?${topic.replace(/[^\p{L}\p{N} -]/gu, ".")}s?\\b(?<after>[,:]? ?["“]?\\S*)`,
    "iu",
  ).exec(sentence)?.groups;
  if (!found || /^[,:]? ?["“]?(?:\p{Lu}|called|named)/u.test(found.after ?? "")) return false;
  return /^(?:an?|some|any|the|my|our|this|that|no|takes?|have|has|needs?|wants?|on|got|gets?|bought|buys?|do|doing|of)$/i.test(
    found.before ?? "",
  );
}

/** How a statement meets the kind that is asked for. */
type TopicFeature = "topicNamed" | "topicKind" | "topicMissing" | "topicImpossible";

/** Compares the kind that is asked for with what a statement names. */
export function compareTopic(
  { topic, type, words }: Inquiry,
  { content, keys, sentences }: Analysis,
): Record<TopicFeature, number> {
  if (topic === undefined || type === "time")
    return { topicNamed: 0, topicKind: 0, topicMissing: 0, topicImpossible: 0 };
  const isNamed = keys.has(key(topic));
  const isKind = content.some((word) => isOfKindByAny(word, topic));
  // A word that no table knows may be the name of anything.
  const mayBeName = sentences.some((tokens) =>
    tokens.some(
      (token) => isNameOfAnything(tokens, token) && !words.some((word) => word.key === key(token.lower)),
    ),
  );
  const isMissing = !isNamed && !isKind;
  return {
    topicNamed: Number(isNamed),
    topicKind: Number(isKind),
    topicMissing: Number(isMissing),
    topicImpossible: Number(isMissing && !mayBeName && type === "thing"),
  };
}

/** "I use a Dvorak keyboard", where it is asked which mouse: all that is named is known to be of another kind. */
export function namesOtherKind({ topic, type, words }: Inquiry, text: string): boolean {
  if (topic === undefined || type !== "thing" || !isKnownNoun(topic)) return false;
  const isAsked = ({ lower }: ParsedToken): boolean => words.some((word) => word.key === key(lower));
  const named = parseEnglish(text).flatMap(({ tokens }) =>
    tokens.flatMap((token, i) => {
      const behind = nounBefore(tokens, i);
      if (!/^\p{Lu}/u.test(token.text) || !(token.tag === "NNP" || behind) || isAsked(token)) return [];
      return [/^(?:compound|amod)$/.test(token.label) ? tokens[token.head] : behind];
    }),
  );
  return named.length > 0 && named.every((noun) => noun !== undefined && isOtherKind(noun, topic));
}

/** "a blender, a Vitamix": the noun before a name with an article, whatever the name is taken for. */
function nounBefore(tokens: readonly ParsedToken[], place: number): ParsedToken | undefined {
  const isBehindNoun = tokens[place - 1]?.label === "det" && tokens[place - 2]?.text === ",";
  return isBehindNoun ? tokens[place - 3] : undefined;
}

function isOtherKind({ text, lower }: ParsedToken, topic: string): boolean {
  const noun = toSingular(lower);
  return /^\p{Ll}/u.test(text) && isKnownNoun(noun) && noun !== topic && !isOfKindByAny(noun, topic);
}

/** A name that stands alone, or a noun that no table knows. "Dvorak" in "a Dvorak keyboard" names a keyboard. */
function isNameOfAnything(tokens: readonly ParsedToken[], { lower, pos, label, head }: ParsedToken): boolean {
  if (pos === "NOUN") return !isKnownNoun(toSingular(lower));
  const named = tokens[head];
  return (
    pos === "PROPN" &&
    !(label === "compound" && named?.pos === "NOUN" && isKnownNoun(toSingular(named.lower)))
  );
}

const CALENDAR =
  /^(?:january|february|march|april|may|june|july|august|september|october|november|december|(?:mon|tues|wednes|thurs|fri|satur|sun)day)s?$/i;

/** What a statement lacks of the type that is asked for: a person, a time, a number. */
export function answerFeatures(
  { type, text }: Inquiry,
  found: Analysis,
  own: ReadonlySet<string>,
): Record<"noPerson" | "noTime" | "noNumber", number> {
  const isNew = (word: string): boolean => !keysOf(word.toLowerCase()).some((form) => own.has(form));
  const hasPerson = (): boolean =>
    found.parties.names.some(isNew) ||
    found.parties.roles.some(isNew) ||
    found.tokens.some(({ text, pos }) => pos === "PROPN" && isNew(text) && !CALENDAR.test(text));
  const hasNumber = (): boolean => (withoutDates(found.text, text).match(NUMBER) ?? []).some(isNew);
  return {
    noPerson: Number(type === "person" && !hasPerson()),
    noTime: Number(type === "time" && !tellsTime(text, found.text, isNew)),
    noNumber: Number(type === "number" && !hasNumber()),
  };
}

/**
 * Whether what looks like the answer is of another kind than what is asked for. It counts other things, names a thing instead of a
 * person, gives no name, or tells of another month or feast.
 */
export function isOfOtherKind(inquiry: Inquiry, found: Analysis, own: ReadonlySet<string>): boolean {
  const isNew = (word: string): boolean => !keysOf(word.toLowerCase()).some((form) => own.has(form));
  if (isOfOtherSeason(inquiry.text, found.text)) return true;
  if (inquiry.type === "number") return countsOthers(inquiry, found);
  if (inquiry.type !== "person") return false;
  return ASKS_NAME.test(inquiry.text) ? !givesName(inquiry, found, isNew) : namesThingsOnly(found, isNew);
}

const ASKS_NAME = /^(?!.*\bwho(?:m|se)?\b).*\b(?:called|named|name|names|nickname)\b/i;
/** "What is the boat called?", "the boat's name", "the name of the boat" */
const NAMED_THING =
  /\b([\p{L}-]+) (?:called|named)\b|\b([\p{L}-]+)['’]s? (?:nick)?names?\b|\bnames? of (?:(?:my|our|the) )?([\p{L}-]+)/iu;
const NAMING = /\b(?:call(?:ed|s)?|named?|nicknamed?)\b/i;

/** Whether there is a name that is not known to be another's: of "my husband Modou runs a restaurant" not for the restaurant. */
function givesName(
  { text, parties }: Inquiry,
  { sentences, text: told }: Analysis,
  isNew: (word: string) => boolean,
): boolean {
  if (NAMING.test(told)) return true;
  const asked = toSingular(NAMED_THING.exec(text)?.slice(1).find(Boolean)?.toLowerCase() ?? "");
  const others = parties.roles.filter((role) => role !== asked);
  return sentences.some((tokens) =>
    tokens.some((token, i) => {
      if (!isNameLike(token, i) || !isNew(token.text)) return false;
      return !others.includes(toSingular(tokens[i - 1]?.lower ?? ""));
    }),
  );
}

function isNameLike({ text, pos }: ParsedToken, place: number): boolean {
  return (pos === "PROPN" || (place > 0 && /^\p{Lu}\p{Ll}/u.test(text))) && !CALENDAR.test(text);
}

/** "The tractor is a Massey Ferguson": a name behind an article is a thing's, and nobody else is named. */
function namesThingsOnly({ parties, sentences }: Analysis, isNew: (word: string) => boolean): boolean {
  if (parties.roles.some(isNew)) return false;
  const names = sentences.flatMap((tokens) =>
    tokens.flatMap((token, i) => (isNameLike(token, i) && isNew(token.text) ? [{ tokens, i }] : [])),
  );
  return names.length > 0 && names.every(({ tokens, i }) => isBehindArticle(tokens, i));
}

function isBehindArticle(tokens: readonly ParsedToken[], place: number): boolean {
  let at = place - 1;
  while (at >= 0 && (tokens[at]?.pos === "PROPN" || tokens[at]?.pos === "ADJ")) at -= 1;
  return /^an?$/.test(tokens[at]?.lower ?? "");
}

/** "We've got eleven hens", where it is asked how many eggs: each number counts another thing. */
function countsOthers({ topic, text }: Inquiry, { sentences, keys }: Analysis): boolean {
  if (topic === undefined || !/\bhow many\b/i.test(text) || keys.has(key(topic))) return false;
  const counted = sentences.flatMap((tokens) =>
    tokens.flatMap((token) => {
      const isCount = /^(?:nummod|compound)/.test(token.label);
      if (!isNumber(token) || (token.lower === "one" && !isCount)) return [];
      return [isCount ? tokens[token.head]?.lower : undefined];
    }),
  );
  return (
    counted.length > 0 && counted.every((noun) => noun !== undefined && isOtherCount(toSingular(noun), topic))
  );
}

function isNumber({ pos, lower }: ParsedToken): boolean {
  return pos === "NUM" || lower.match(NUMBER)?.[0] === lower;
}

function isOtherCount(noun: string, topic: string): boolean {
  if (!isKnownNoun(noun) || isHyponym(noun, "measure", 1)) return false;
  const isBoth = (kind: string): boolean => [noun, topic].every((one) => isHyponym(one, kind));
  return !isOfKindByAny(noun, topic) && !isOfKindByAny(topic, noun) && !isBoth("person") && !isBoth("animal");
}

const SEASON =
  /\b(?:(jan(?:uary)?|feb(?:ruary)?|march|apr(?:il)?|(?<=\b(?:in|of|on|since|until|last|next|by) )may|may(?= \d)|june|july|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)|christmas|xmas|easter|palm sunday|new year|halloween|thanksgiving|ramadan|eid|diwali|hanukkah|passover)\b/gi;
/** "From May to September": all that lies between is named, too. */
const SPAN = /\b(?:from|between)\b.*\b(?:to|until|till|and)\b/i;
const ISO_MONTH = /\b(?:19|20)\d\d-(\d\d)\b/g;
const MONTHS = "jan feb mar apr may jun jul aug sep oct nov dec".split(" ");

/** Whether a question and a statement name months or feasts, and none of them both. */
function isOfOtherSeason(question: string, told: string): boolean {
  const asked = seasonsIn(question);
  const said = SPAN.test(told) ? [] : seasonsIn(told);
  return asked.length > 0 && said.length > 0 && !asked.some((one) => said.includes(one));
}

function seasonsIn(text: string): string[] {
  const named = Array.from(text.matchAll(SEASON), ([whole, month]) =>
    (month?.slice(0, 3) ?? whole).toLowerCase(),
  );
  const dated = Array.from(text.matchAll(ISO_MONTH), ([, month]) => MONTHS[Number(month) - 1] ?? "");
  return [...named, ...dated];
}

/** Whether a text tells a time or a number where one is asked for; true for other questions. */
export function tellsAsked({ type, text, words, parties }: Inquiry, told: string): boolean {
  const own = new Set([...words.map((word) => word.key), ...[...parties.names, ...parties.roles].map(key)]);
  const isNew = (word: string): boolean => !keysOf(word.toLowerCase()).some((form) => own.has(form));
  if (type === "time") return tellsTime(text, told, isNew);
  return type !== "number" || (withoutDates(told, text).match(NUMBER) ?? []).some(isNew);
}

const DATE =
  /\b(?:19|20)\d\d(?:-\d\d)*\b|\b\d{1,2}(?:st|nd|rd|th)? (?:of )?(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)\p{L}*|\b(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)\p{L}* \d{1,2}\b/giu;

/** A date is no amount. */
function withoutDates(text: string, question: string): string {
  return /\bhow (?:many|much)\b/i.test(question) ? text.replace(DATE, " ") : text;
}

function tellsTime(question: string, text: string, isNew: (word: string) => boolean): boolean {
  if (/\bwhat time\b|\bhour\b/i.test(question)) return CLOCK.test(text);
  if (/\byear\b/i.test(question)) return YEAR.test(text);
  if (/\bbirthday\b/i.test(question)) return DAY.test(text.replace(YEAR, " "));
  if (/\b(?:what|which) (?:day|weekday|date)s?\b/i.test(question)) return DAY.test(text);
  return (text.match(TIME) ?? []).some((time) => splitWords(time).some(isNew));
}
