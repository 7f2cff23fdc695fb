import { toBaseForm } from "../../../../domain/search/base-forms.ts";
import { splitWords } from "../../../../domain/search/search-terms.ts";
import type { Question } from "../../../../ports/language/question-reader.ts";
import { isHyponym, isKnownNoun } from "../../kinds/kinds.ts";
import { parseEnglish } from "../../parser/english-trees.ts";
import type { ParsedToken } from "../../parser/parser.ts";
import { toSingular } from "../../word-forms.ts";
import { key } from "../essence.ts";

/** The type of the answer that a question asks for. */
type AnswerType = "person" | "place" | "time" | "number" | "thing" | "yes_no" | "manner";

/** Whom a question or a statement is about. */
export interface Parties {
  /** Whether it speaks of the user: I, my, we. */
  readonly user: boolean;
  /** Names, in lower case. */
  readonly names: readonly string[];
  /** Persons by their relation to the user or another ("sister", "landlord"), in singular. */
  readonly roles: readonly string[];
}

/** What the subject of a clause is. */
export type SubjectSort = "user" | "role" | "name" | "pronoun" | "thing" | "none";

/** What a question asks for, as evidence is compared with it. */
export interface Inquiry {
  readonly text: string;
  readonly type: AnswerType;
  /** "city" of "Which city do I live in?", in singular: the kind of thing that the answer is. */
  readonly topic: string | undefined;
  /** The words that the answer should be about, as keys, without the question word, the topic and the parties. */
  readonly words: readonly InquiryWord[];
  readonly parties: Parties;
  /** Nouns that it calls "my" or "our", in singular. */
  readonly owned: readonly string[];
  /** What the subject of its verb is. */
  readonly subject: SubjectSort;
  readonly weekdays: readonly string[];
  readonly isNegated: boolean;
  /** Whether it asks for the past: what was so is an answer. */
  readonly asksPast: boolean;
  /** Whether it asks for all that fit. */
  readonly asksMany: boolean;
  readonly question: Question;
}

interface InquiryWord {
  readonly key: string;
  readonly base: string;
  readonly isVerb: boolean;
  /** Whether it names the kind of thing that is asked for. */
  readonly isTopic: boolean;
  /** Whether it narrows that kind: "productivity" of "productivity tools". */
  readonly isModifier: boolean;
}

const LIGHT = new Set(
  "be do have is am are was were been being does did done doing has had having can could will would shall should may might must get go going got what which who whom whose where when why how i me my mine myself we us our ours you your yours he she it they him her them his its their this that these those there here the a an any some all every no not and or but so if than of in on at to for from with by about as into up out off again still now currently anymore please tell remind list name know remember say said mention kind type sort make thing stuff one ones many much often far long old ever already exactly actually really just moment day days nowadays let give show call called n't 's 're 've 'm 'll 'd too also well".split(
    " ",
  ),
);

const WEEKDAY = /\b(mon|tues|wednes|thurs|fri|satur|sun)days?\b/gi;
const WEEK_PART = /\bweek(end|day)s?\b/gi;
const MONTH_OR_DAY =
  /^(?:(?:mon|tues|wednes|thurs|fri|satur|sun)days?|january|february|march|april|may|june|july|august|september|october|november|december|christmas|easter)$/i;

/** Reads what a question asks for from its tree, with the reading of the question's grammar beside it. */
export function readInquiry(text: string, question: Question): Inquiry {
  const tokens = parseEnglish(text).flatMap(({ tokens }) => tokens);
  const type = typeOf(text, question);
  const topic = topicOf(text, tokens, type) ?? topicIn(question, type);
  const parties = partiesOf(text);
  const words = contentWords(tokens, parties, topic);
  return {
    text,
    type,
    topic,
    words,
    parties,
    owned: ownedIn(text, tokens),
    subject: subjectIn(tokens),
    weekdays: weekdaysOf(text),
    isNegated: NEGATION.test(
      text.replace(/^\s*(?:do|does|did|have|has|can|could|is|are|was)n['’]?t\b/i, " "),
    ),
    asksPast: question.past === true || (question.tense === "past" && /\b(?:did|was|were|had)\b/i.test(text)),
    asksMany: asksMany(text, topic),
    question,
  };
}

/** Words that deny. */
export const NEGATION: RegExp =
  /\b(?:not|never|no longer|none|nobody|nothing|cannot|neither|nor|without|no|isn|aren|don|doesn|didn|won|wouldn|can|couldn|haven|hasn|wasn|weren)(?:['’]t\b|\b(?<!\bcan|\bdon|\bwon))|\b(?:dont|doesnt|didnt|cant|isnt|arent|wont|havent|hasnt|wasnt)\b/i;

const WEEK_PARTS: Readonly<Record<string, readonly string[]>> = {
  end: ["satur", "sun"],
  day: ["mon", "tues", "wednes", "thurs", "fri"],
};

/** The days of the week that a text names, those of weekdays and weekends among them: "mon", "tues". */
export function weekdaysOf(text: string): string[] {
  const days = Array.from(text.matchAll(WEEKDAY), ([, day = ""]) => day.toLowerCase());
  const parts = Array.from(text.matchAll(WEEK_PART), ([, part = ""]) => WEEK_PARTS[part.toLowerCase()] ?? []);
  return [...new Set([...days, ...parts.flat()])];
}

const TIME_TOPIC =
  /\b(?:what|which) (?:time|day|date|year|month|week|weekday|hour|days|weekdays|dates)\b|^(?:and |so )?when\b|\bsince when\b|\buntil when\b|\bhow often\b|\bbirthday\b|\bhow long ago\b|\bdate (?:of|for)\b/i;
const NUMBER_TOPIC =
  /\bhow (?:many|much|old|long|tall|far|big|heavy|high|fast|large|wide|deep)\b|\b(?:what|which) (?:\w+ )?(?:size|number|age|price|dose|strength|weight|height|amount|salary|score|percentage|floor|gate|terminal|route|flight|pin|postcode|plate)\b|['’]s my [\w ]*(?:number|size|age|weight|height|salary|rent|dose|pin|prescription)\b|\bis (?:my|our) [\w ]*(?:number|size|age|weight|height|salary|rent|dose|pin|prescription)\b/i;
/** "What's Pancho's microchip number?" */
const NUMBER_NOUN =
  /\b(?:what|which)(?:['’]?s| is| are| was)\b[^?]*\b(?:number|age|price|dose|weight|height|salary|rent|pin|postcode|size)\s*\?*$/i;
/** "What did the glasses cost?" */
const NUMBER_VERB = /\bwhat (?:do|does|did|will|would)\b[^?]*\b(?:cost|weigh|earn|charge|pay|owe|measure)\b/i;
const PLACE_TOPIC =
  /\bwhere\b|\b(?:what|which) (?:\w+ )?(?:city|town|country|place|village|street|room|school|university|restaurant|hotel|area|neighbourhood|neighborhood)\b|\bhome ?town\b/i;

function typeOf(text: string, question: Question): AnswerType {
  if (/\b(?:who|whom|whose|who['’]s|whos)\b/i.test(text) || /\bwhich of (?:my|our)\b/i.test(text))
    return "person";
  if (TIME_TOPIC.test(text)) return "time";
  if (NUMBER_TOPIC.test(text) || NUMBER_NOUN.test(text) || NUMBER_VERB.test(text)) return "number";
  if (PLACE_TOPIC.test(text)) return "place";
  if (/\b(?:name|called|nickname)\b/i.test(text)) return "person";
  if (question.asks === "yes_no") return "yes_no";
  if (/^(?:\w+ ){0,2}how\b/i.test(text) || /\bwhy\b/i.test(text)) return "manner";
  return "thing";
}

const LOOSE = new Set(
  "kind type sort make brand thing stuff one name time day date year month number way".split(" "),
);

/** "Do I have any pets?", "Do I need to buy anything?" */
function anyOf(text: string): string | undefined {
  if (/\b(?:any|some)thing\b/i.test(text)) return "thing";
  const any = /\b(?:any|some) ((?:[\p{L}-]+ )?[\p{L}-]+)/iu.exec(text)?.[1];
  return any && headNoun(any);
}

/** The noun that "what", "which" or "how many" belong to, or that "are the … that I use" lists. */
function topicOf(text: string, tokens: readonly ParsedToken[], type: AnswerType): string | undefined {
  if (type === "yes_no") return anyOf(text);
  const asking = tokens.findIndex(({ lower }) => /^(?:what|which|many|much)$/.test(lower));
  const next = tokens[asking + 1];
  if (asking >= 0 && next && /^(?:NOUN|ADJ|PROPN)$/.test(next.pos)) {
    let last = asking + 1;
    while (tokens[last + 1]?.pos === "NOUN") last += 1;
    if (LOOSE.has(toSingular(tokens[last]?.lower ?? "")) && tokens[last + 1]?.lower === "of") last += 2;
    const noun = tokens[last];
    if (noun && noun.pos !== "ADJ") return toSingular(noun.lower);
  }
  const listed =
    /\b(?:list|name|are|about|recall|give me|show me)\b (?:me )?(?:all |of |every |each )*(?:the|my|our) ((?:[\p{L}-]+ ){0,2}?[\p{L}-]+)(?= (?:that|which|who|i|we|my|in|on|at|for|of)\b|[?.!]*$)/iu.exec(
      text,
    )?.[1];
  if (listed) return headNoun(listed);
  const single =
    /\b(?:what['’]?s|what is|whats) (?:my|our) (?:own |current |new )?((?:[\p{L}-]+ ){0,2}?[\p{L}-]+)[?.!]*$/iu.exec(
      text,
    )?.[1];
  return single && headNoun(single);
}

/** "show" of "my favourite show": by the words behind "my", and by the tree. */
function ownedIn(text: string, tokens: readonly ParsedToken[]): string[] {
  const behind = [...text.matchAll(OWNED)].flatMap(([, phrase = ""]) => headNoun(phrase) ?? []);
  const heads = tokens.flatMap(({ lower, label, head }) => {
    const owned = /^(?:my|our)$/.test(lower) && label === "nmod:poss" ? tokens[head] : undefined;
    return owned?.pos === "NOUN" ? toSingular(owned.lower) : [];
  });
  return [...new Set([...behind, ...heads])];
}

const OWNED = /\b(?:my|our) ((?:own |new |old |current )*[\p{L}-]+)(?![\p{L}-])/giu;

function subjectIn(tokens: readonly ParsedToken[]): SubjectSort {
  const at = tokens.findLastIndex(
    ({ label, pos, lower }) =>
      label.startsWith("nsubj") && !/^(?:who|what|which|you)$/.test(lower) && pos !== "DET",
  );
  return at < 0 ? "none" : sortOf(tokens, at);
}

/** What a word in the place of a subject is: the user, another person, or a thing. */
export function sortOf(tokens: readonly ParsedToken[], at: number): SubjectSort {
  const { lower = "", pos = "", text = "" } = tokens[at] ?? {};
  if (/^(?:i|we|im|ive)$/.test(lower)) return "user";
  if (lower === "user" && tokens[at - 1]?.lower === "the") return "user";
  if (/^(?:he|she|they)$/.test(lower)) return "pronoun";
  if (/^(?:it|who|that|which|this)$/.test(lower)) return "thing";
  if (isRole(lower)) return "role";
  // A capital at the beginning of a sentence tells nothing.
  if (at === 0 && isKnownNoun(toSingular(lower))) return isPerson(lower) ? "role" : "thing";
  if (pos === "PROPN" || /^\p{Lu}/u.test(text)) return "name";
  return isPerson(lower) ? "role" : "thing";
}

function headNoun(phrase: string): string | undefined {
  const noun = splitWords(phrase).findLast((word) => !LIGHT.has(word));
  return noun && toSingular(noun);
}

/** The kind by the reading of the question's grammar, where the tree shows none: "Which gadgets do I have?" */
function topicIn({ topic = "" }: Question, type: AnswerType): string | undefined {
  const noun =
    type === "thing" && /^(?:[\p{L}-]+ ){0,2}[\p{L}-]+$/u.test(topic) ? headNoun(topic) : undefined;
  return noun !== undefined && isKnownNoun(noun) && !LOOSE.has(noun) ? noun : undefined;
}

function asksMany(text: string, topic: string | undefined): boolean {
  if (/\bhow (?:many|much|often)\b/i.test(text)) return false;
  if (/\b(?:list|all|everything|every|names of)\b/i.test(text)) return true;
  if (topic === undefined) return false;
  return splitWords(text).some((word) => word !== topic && toSingular(word) === topic);
}

const PERSON_WORD =
  /^(?:wife|husband|partner|girlfriend|boyfriend|gf|bf|fianc[eé]e?|spouse|mum|mom|mam|mother|dad|father|parents?|brother|sister|sibling|son|daughter|kid|child|children|baby|twin|uncle|aunt|auntie|nephew|niece|cousin|grandma|grandpa|gran|nan|granny|grandmother|grandfather|grandson|granddaughter|boss|manager|colleague|coworker|flatmate|roommate|housemate|landlord|landlady|neighbou?r|friend|mate|bestie|doctor|gp|dentist|therapist|teacher|tutor|coach|trainer|accountant|lawyer|sitter|plumber|nanny|cleaner|ex|stepdad|stepmum|stepson|stepdaughter|dog|cat|horse|pet|rabbit|hamster|parrot|puppy|kitten|pug|beagle)$/;

/** Whether a noun names a person or an animal of the household by a role. */
export function isRole(noun: string): boolean {
  const one = toSingular(noun);
  return PERSON_WORD.test(one) || PERSON_WORD.test(noun) || (one.includes("-in-law") && one.length > 7);
}

/** Whom a text speaks of: by pronoun, by name, by role. */
export function partiesOf(text: string): Parties {
  const tokens = parseEnglish(text).flatMap(({ tokens }) => tokens);
  const names: string[] = [];
  const roles: string[] = [];
  tokens.forEach(({ text: word, lower, pos }, i) => {
    const isCapital = /^\p{Lu}\p{L}/u.test(word) && !/^\p{Lu}+$/u.test(word);
    const isStart = i === 0 || /[.!?]/.test(tokens[i - 1]?.text ?? "");
    if (isCapital && !MONTH_OR_DAY.test(word) && !LIGHT.has(lower) && (pos === "PROPN" || !isStart))
      names.push(lower);
    if (isRole(lower)) roles.push(toSingular(lower));
  });
  return {
    user:
      /\b(?:i|me|my|mine|myself|we|us|our|i['’]?m|i['’]?ve|im|ive)\b/i.test(text) ||
      /\bthe user\b/i.test(text),
    names: [...new Set(names)],
    roles: [...new Set(roles)],
  };
}

function contentWords(
  tokens: readonly ParsedToken[],
  parties: Parties,
  topic: string | undefined,
): InquiryWord[] {
  const words = new Map<string, InquiryWord>();
  const topicAt = tokens.findIndex(({ lower }) => topic !== undefined && toSingular(lower) === topic);
  for (const { lower, pos, head, label } of tokens) {
    const base = pos === "VERB" ? toBaseForm(lower) : toSingular(lower);
    if (!/^[\p{L}\p{N}]/u.test(lower) || LIGHT.has(lower) || LIGHT.has(base)) continue;
    if (parties.names.includes(lower) || parties.roles.includes(toSingular(lower))) continue;
    const isTopic = topic !== undefined && toSingular(lower) === topic;
    const isModifier = topicAt >= 0 && head === topicAt && /^(?:amod|compound)$/.test(label);
    words.set(key(lower), { key: key(lower), base, isVerb: pos === "VERB", isTopic, isModifier });
  }
  return [...words.values()];
}

/** Whether a word names a thing of a kind: by the tables of this package, or by WordNet. */
export function isPerson(noun: string): boolean {
  return isRole(noun) || isHyponym(toSingular(noun), "person", 1);
}
