import type { Memory } from "../../../domain/memory.ts";
import type { Message } from "../../../domain/message.ts";
import type { Item } from "../../../domain/recall.ts";
import { splitWords } from "../../../domain/search/search-terms.ts";
import { toSingular } from "../../../domain/text/english-forms.ts";
import { splitSentences } from "../../../domain/text/split-text.ts";
import { toLocalTime } from "../../../domain/time.ts";
import type { AnswerRequest } from "../../../ports/language/answerer.ts";
import type { Question } from "../../../ports/language/question-reader.ts";
import type { StoredContent } from "../../../ports/language/stored-content.ts";
import { formatDateInWords } from "../format-date.ts";
import { listAttributeRelations } from "../relations/relations.ts";
import type { AnswerIndex } from "./answer-index.ts";
import { findKind, isOfKind } from "./categories.ts";
import { bagOf, coverage, essence, holds, key } from "./essence.ts";

/** A sentence of the user's that is truly about a question, said with its date. */
export interface Quoted {
  readonly text: string;
  readonly id: string;
}

const NOT_SO =
  /\b(?:nearly|almost|dreamt|dreamed|pretend|if|unless|would|could|wish|imagine|maybe|might|should|suppose|hypothetically)\b|['’]d\b|\?\s*$/i;
/** "my horoscope says I'll …": of the user, but not by them. */
const OTHERS_SAY =
  /\b(?!i\b|we\b)[\p{L}'’]+ (?:says?|said|thinks?|thought|reckons?|claims?|claimed|swears?|believes?|jokes?|joked|goes|was like|is like)\b(?: that)? (?:i|we|i['’]\w+|we['’]\w+)\b/iu;
const FIRST = /\b(?:i|i['’]?m|i['’]?ve|im|ive|my|me|we|our|us|mine)\b/i;
const ACTS = /\b(?:i|we|i['’]?m|i['’]?ve|im|ive|me|us)\b/i;
const SUBJECT =
  /^(?:(?:and|so|but|oh|also|well|btw|lol|haha|hey|ugh|then)[,.!]* )*(?:my|our|the|his|her|their) ([\p{L}'’-]+(?: [\p{L}'’-]+)?)/iu;

/**
 * The best sentence among the passages that recall found. It must hold every telling word of the question and be
 * about whom it asks; what somebody else was quoted with, what was only supposed, and what has been taken back or is
 * over does not count.
 */
export function quoteFor(input: {
  text: string;
  question: Question;
  items: readonly Item[];
  state: StoredContent;
  index: AnswerIndex;
  past: boolean;
  /** The day that words name, said at a time. */
  dayIn: (words: string, at: string) => string | undefined;
  toQuotableText: AnswerRequest["toQuotableText"];
}): Quoted | undefined {
  const { text, question } = input;
  const telling = essence(text);
  const asksName = question.relations.length === 1 && question.relations[0] === "be called";
  if (!mayQuote(input, telling, asksName)) return undefined;
  let best: (Quoted & { score: number }) | undefined;
  for (const { id, words, message, when } of sentencesFound(input)) {
    if (asksName && !tellsName(words, question)) continue;
    const score = fit(words, question, telling, message.name);
    if (score > 0 && (!best || score > best.score))
      best = {
        score,
        id,
        text: said(
          words,
          toLocalTime(message.at, message.zone),
          message.name,
          question.asks === "when"
            ? (when ?? input.dayIn(words, toLocalTime(message.at, message.zone)))
            : undefined,
        ),
      };
  }
  return best;
}

/** Where a quote can answer at all: a name needs "the horse", a yes or no more than one word to go by. */
function mayQuote(
  { text, question, past }: { text: string; question: Question; past: boolean },
  telling: readonly string[],
  asksName: boolean,
): boolean {
  if (telling.length === 0 || (question.asks === "yes_no" && telling.length < 2)) return false;
  return past || !asksName || /\bthe\b/i.test(text);
}

interface Found {
  /** The item's id. */
  readonly id: string;
  readonly words: string;
  readonly message: Message;
  /** The day that a memory of these words stands for. */
  readonly when: string | undefined;
}

/** The user's sentences in the passages found, without those that no longer hold. */
function* sentencesFound({
  items,
  state,
  index,
  past,
  toQuotableText,
}: {
  items: readonly Item[];
  state: StoredContent;
  index: AnswerIndex;
  past: boolean;
  toQuotableText: AnswerRequest["toQuotableText"];
}): Iterable<Found> {
  for (const { id, message, source } of passagesSaid(items, state)) {
    const read = [...(index.sources.get(message.id) ?? [])];
    for (const sentence of standing(message, source, past ? [] : read)) {
      const words = toQuotableText(message.content, source, sentence);
      if (words !== "") yield { id, words, message, when: dayOf(read, message, sentence) };
    }
  }
}

/** What the user said, of all that was found. */
function* passagesSaid(items: readonly Item[], { messages }: StoredContent) {
  for (const { id, type, sources } of items) {
    const [source] = sources;
    const message = type === "passage" && source ? messages.get(source.message) : undefined;
    if (source && message?.role === "user" && !message.undone) yield { id, message, source };
  }
}

/** The sentences of a passage, without those that a memory rests on which no longer holds. */
function standing(message: Message, passage: Span, read: readonly Memory[]): Span[] {
  const over = read.filter(({ status }) => status !== "current");
  return splitSentences(message.content).filter(
    (sentence) => overlaps(sentence, passage) && !over.some((memory) => isFrom(memory, message, sentence)),
  );
}

/** The date that was understood from a sentence. */
function dayOf(memories: readonly Memory[], message: Message, sentence: Span): string | undefined {
  return memories.find(
    (memory) => memory.status === "current" && memory.when && isFrom(memory, message, sentence),
  )?.when;
}

function isFrom({ sources }: Memory, { id }: Message, sentence: Span): boolean {
  return sources.some((source) => source.message === id && overlaps(source, sentence));
}

function overlaps(one: Span, other: Span): boolean {
  return one.start < other.end && other.start < one.end;
}

interface Span {
  readonly start: number;
  readonly end: number;
}

function fit(
  sentence: string,
  question: Question,
  telling: readonly string[],
  speaker: string | undefined,
): number {
  const own = sentence.replace(/["“„«][^"“”„«»]*["”»]/g, " ");
  // Where words were erased, what is left is not what was asked for.
  if (NOT_SO.test(own) || OTHERS_SAY.test(own) || own.length > 600 || own.includes("[…]")) return 0;
  const bag = bagOf(own);
  const met = asked(question, telling, own, bag);
  if (met === undefined || !isAbout(own, question, speaker, met) || !tellsAnswer(own, question, telling))
    return 0;
  // Something has to be told beyond what was asked.
  const news = splitWords(own).filter((word) => !telling.includes(key(word))).length;
  return news < 2 ? 0 : coverage(bag, telling) + 10 / (10 + own.length);
}

const MEASURES = new Set(
  "big tall high heavy fast late early wide deep hot cold expensive large small".split(" ").map(key),
);
const NUMBER =
  /\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|(?:thir|four|fif|six|seven|eigh|nine)teen|twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety|hundred|thousand|dozen|half|twice|once|every|couple|tenner|fiver|grand)\b/i;

/**
 * The telling words that a sentence has to hold, where it holds them: all; or all but the kind of thing that is asked
 * for ("hobby", "how big"), where the verb of the question stands there too.
 */
function asked(
  { asks, topic = "", relations }: Question,
  telling: readonly string[],
  sentence: string,
  bag: ReadonlySet<string>,
): readonly string[] | undefined {
  if (telling.every((word) => holds(bag, word))) return telling;
  const kind = new Set(essence(topic));
  const isCounted = asks === "how_many" && NUMBER.test(sentence);
  const isKind = namesKind(topic, sentence);
  if (!isCounted && !(isKind && asks === "value")) return undefined;
  const rest = telling.filter((word) => !kind.has(word) && !(isCounted && MEASURES.has(word)));
  if (rest.length === 0 || rest.length === telling.length || !rest.every((word) => holds(bag, word)))
    return undefined;
  const verb = relations[0]?.split(" ")[0] ?? "";
  const hasVerb = verb !== "" && !/^(?:be|have|do|not|never)$/.test(verb) && holds(bag, key(verb));
  return hasVerb || rest.length > 1 || (isCounted && kind.size === 0) || isMeasured(telling)
    ? rest
    : undefined;
}

/** Of a kind whose members are known ("car", "colour") one has to be there; of others ("hobby") anything may be one. */
function namesKind(topic: string, sentence: string): boolean {
  if (findKind(topic) !== undefined) return isOfKind(sentence, topic) === true;
  return listAttributeRelations(toSingular(topic.toLowerCase())).length > 0;
}

function isMeasured(telling: readonly string[]): boolean {
  return telling.some((word) => MEASURES.has(word));
}

/** Whether it holds what can be an answer: a name for "who", a number for "how many". */
function tellsAnswer(sentence: string, question: Question, telling: readonly string[]): boolean {
  const { asks } = question;
  if (asks === "who" && !tellsWho(sentence, telling)) return false;
  if (asks === "how_many" && !NUMBER.test(sentence)) return false;
  if (asks === "when" && !tellsWhen(sentence, telling)) return false;
  if (asks === "when" && /^(?:time|hour)/i.test(question.topic ?? "") && !HOUR.test(sentence)) return false;
  return tellsKind(sentence, question);
}

/** "a horse named Biscuit", for "What was the horse called?" */
function tellsName(sentence: string, { subject = "" }: Question): boolean {
  const noun = splitWords(subject.split("/").at(-1) ?? "").at(-1) ?? "";
  return new RegExp(
    `\\b(?:an?|the) (?:\\p{L}+ )?${noun},? (?:is |was )?(?:called |named )?\\p{Lu}`,
    "u",
  ).test(sentence);
}

const TIME =
  /\d|\b(?:today|tomorrow|tonight|yesterday|ago|noon|midnight|morning|afternoon|evening|night|week|weekend|month|year|(?:mon|tues|wednes|thurs|fri|satur|sun)days?|january|february|march|april|may|june|july|august|september|october|november|december|spring|summer|autumn|winter|christmas|easter|daily|weekly|monthly|(?:at|around|until|before|after|by|past) (?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve))\b/gi;

const CALENDAR =
  /^(?:(?:mon|tues|wednes|thurs|fri|satur|sun)day|january|february|march|april|may|june|july|august|september|october|november|december|christmas|easter)$/i;

/** Somebody is named, and not only those who were asked with. */
function tellsWho(sentence: string, telling: readonly string[]): boolean {
  const names = sentence.slice(1).match(/(?<![\p{L}'’])\p{Lu}\p{L}+/gu) ?? [];
  return names.some((name) => !CALENDAR.test(name) && !telling.includes(key(name.toLowerCase())));
}

const HOUR =
  /\d{1,2}(?:[:.]\d\d)? ?(?:am|pm)\b|\d{1,2}[:.]\d\d|\b(?:at|around|by|until|before|after|from|between) (?:\d{1,2}|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|half|quarter)\b|\b(?:noon|midnight|dawn|dusk|morning|afternoon|evening|lunchtime)s?\b/i;

/** A time is told, and not only the one that was asked with. */
function tellsWhen(sentence: string, telling: readonly string[]): boolean {
  const times = sentence.match(TIME) ?? [];
  return times.some((time) => !telling.includes(key(time.toLowerCase())));
}

/** Asked for a brand, a colour, a size: something that can be one has to be there. */
function tellsKind(sentence: string, { topic = "", asks, subject }: Question): boolean {
  if (asks !== "value" || topic === "") return true;
  if (/\b(?:brand|make|model|name|title)s?$/i.test(topic))
    return /\S\s+["“']?\p{Lu}[\p{L}\d]/u.test(sentence);
  if (/\b(?:size|number|plate|price|height|weight|age|score|salary|temperature)s?$/i.test(topic))
    return /\d|\b[A-Z]{1,3}\b/.test(sentence);
  if (!subject?.endsWith(topic.toLowerCase()) && namesOnly(sentence, topic)) return false;
  const kind = findKind(topic);
  return (
    kind === undefined || !/^(?:color|breed|material)$/.test(kind.name) || isOfKind(sentence, topic) === true
  );
}

/** "I saw a film", "I take medication every morning": the kind that is asked for, and not which. */
function namesOnly(sentence: string, topic: string): boolean {
  const noun = splitWords(topic).at(-1) ?? "";
  const found = new RegExp(
    `(?<before>[\\p{L}'’-]+) (?:new |good |great |nice |lovely |old )?(?:${noun}|${toSingular(noun)})s?\\b(?<after>[,:]? ?["“]?\\S*)`,
    "iu",
  ).exec(sentence)?.groups;
  if (!found) return false;
  if (/^[,:]? ?["“]?(?:\p{Lu}|called|named)/u.test(found.after ?? "")) return false;
  return /^(?:an?|some|any|the|my|our|this|that|no|take|have|need|want|on|got|get|bought|buy|do|doing|of)$/i.test(
    found.before ?? "",
  );
}

/** Whether the one asked about is the one who is spoken of. */
function isAbout(
  sentence: string,
  question: Question,
  speaker: string | undefined,
  telling: readonly string[],
): boolean {
  const subject = question.subject;
  if (subject === undefined) return true;
  const [root = "", ...parts] = subject.split("/");
  const [only] = parts;
  if (root === "user" && parts.length === 1 && only && isAnothers(sentence, only)) return false;
  if (parts.length > 0)
    return parts.every((part) => splitWords(part).some((word) => holds(bagOf(sentence), key(word))));
  if (root !== "user")
    return (
      speaker?.toLowerCase() === root.toLowerCase() || sentence.toLowerCase().includes(root.toLowerCase())
    );
  if (speaker !== undefined || isOfOthers(sentence, telling)) return false;
  return FIRST.test(sentence) || /^[a-z]+(?:ed|ing|t|d)\b/i.test(sentence.trim());
}

/** "my husband's flight" is not the user's own. */
function isAnothers(sentence: string, thing: string): boolean {
  const noun = thing.split(" ").at(-1) ?? "";
  return (
    new RegExp(`[\\p{L}]['’]s (?:[\\p{L}-]+ )?${noun}\\b`, "iu").test(sentence) &&
    !new RegExp(`\\b(?:my|our) (?:[\\p{L}-]+ )?${noun}\\b`, "iu").test(sentence)
  );
}

const JOINTS =
  /[,;:—–()]\s*|\s(?:and|but|so|because|while|whereas) (?=(?:i|i['’]\w+|im|ive|we|we['’]\w+|my|our|his|her|their|the|she|he|they|it)\b)/i;

/** What is said of "my stepdad" is not said of the one who asks: every part that holds a telling word is of others. */
function isOfOthers(sentence: string, telling: readonly string[]): boolean {
  const parts = sentence.split(JOINTS).filter((part) => {
    const bag = bagOf(part);
    return telling.some((word) => holds(bag, word));
  });
  return parts.length > 0 && parts.every((part) => SUBJECT.test(part.trim()) && !ACTS.test(part));
}

function said(words: string, at: string, speaker: string | undefined, when: string | undefined): string {
  const text = words.trim().replace(/\s+/g, " ").slice(0, 400);
  return `On ${formatDateInWords(at.slice(0, 10), { weekday: false })} ${speaker ?? "you"} said: “${text}”${when === undefined ? "" : ` (${formatDateInWords(when)}, ${when.slice(0, 10)})`}`;
}
