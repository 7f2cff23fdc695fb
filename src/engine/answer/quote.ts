import type { Message } from "../../domain/message.ts";
import type { Item } from "../../domain/recall.ts";
import { sayDate } from "../../domain/say-date.ts";
import { sentencesOf } from "../../domain/sentences.ts";
import { words } from "../../domain/words.ts";
import type { Question } from "../../ports/question-reader.ts";
import type { UserState } from "../user-state.ts";
import { isOfKind, kindOf } from "./categories.ts";
import { bagOf, coverage, essence, holds, key } from "./essence.ts";

/** A sentence of the user's that is truly about a question, said with its date. */
export interface Quoted {
  readonly text: string;
  readonly id: string;
}

const NOT_SO =
  /\b(?:if|unless|would|could|wish|imagine|maybe|might|should|suppose|hypothetically)\b|['’]d\b|\?\s*$/i;
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
  state: UserState;
  past: boolean;
}): Quoted | undefined {
  const { text, question } = input;
  const telling = essence(text);
  if (telling.length === 0 || (question.asks === "yes_no" && telling.length < 2)) return undefined;
  const asksName = question.relations.length === 1 && question.relations[0] === "be called";
  if (!input.past && asksName && !/\bthe\b/i.test(text)) return undefined;
  let best: (Quoted & { score: number }) | undefined;
  for (const { id, words, message } of sentencesFound(input)) {
    if (asksName && !tellsName(words, question)) continue;
    const score = fit(words, question, telling, message.name);
    if (score > 0 && (!best || score > best.score))
      best = { score, id, text: said(words, message.at, message.name) };
  }
  return best;
}

interface Found {
  /** The item's id. */
  readonly id: string;
  readonly words: string;
  readonly message: Message;
}

/** The user's sentences in the passages found, without those that no longer hold. */
function* sentencesFound({
  items,
  state,
  past,
}: {
  items: readonly Item[];
  state: UserState;
  past: boolean;
}): Iterable<Found> {
  const gone = past ? new Map<string, Span[]>() : goneSpans(state);
  for (const { id, type, sources } of items) {
    const [source] = sources;
    const message = type === "passage" && source ? state.messages.get(source.message) : undefined;
    if (!source || !message || message.role !== "user" || message.undone) continue;
    const over = gone.get(message.id) ?? [];
    for (const sentence of sentencesOf(message.content)) {
      if (!overlaps(sentence, source) || over.some((span) => overlaps(span, sentence))) continue;
      yield { id, words: message.content.slice(sentence.start, sentence.end), message };
    }
  }
}

function overlaps(one: Span, other: Span): boolean {
  return one.start < other.end && other.start < one.end;
}

interface Span {
  readonly start: number;
  readonly end: number;
}

/** Where the words stand that a memory which no longer holds came from. */
function goneSpans(state: UserState): Map<string, Span[]> {
  const gone = new Map<string, Span[]>();
  for (const memory of state.memories.values()) {
    if (memory.status === "current") continue;
    for (const { message, start, end } of memory.sources)
      gone.set(message, [...(gone.get(message) ?? []), { start, end }]);
  }
  return gone;
}

function fit(
  sentence: string,
  question: Question,
  telling: readonly string[],
  speaker: string | undefined,
): number {
  const own = sentence.replace(/["“„«][^"“”„«»]*["”»]/g, " ");
  // Where words were erased, what is left is not what was asked for.
  if (NOT_SO.test(own) || own.length > 600 || own.includes("[…]")) return 0;
  if (!isAbout(own, question, speaker)) return 0;
  const bag = bagOf(own);
  if (!telling.every((word) => holds(bag, word))) return 0;
  if (question.asks === "who" && !/\p{Lu}\p{L}+/u.test(own.slice(1))) return 0;
  if (
    question.asks === "how_many" &&
    !/\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|dozen|half|twice|once|every)\b/i.test(own)
  )
    return 0;
  if (question.asks === "when" && !tellsWhen(own, telling)) return 0;
  if (!tellsKind(own, question)) return 0;
  // Something has to be told beyond what was asked.
  const news = words(own).filter((word) => !telling.includes(key(word))).length;
  return news < 2 ? 0 : coverage(bag, telling) + 10 / (10 + own.length);
}

/** "a horse named Biscuit", for "What was the horse called?" */
function tellsName(sentence: string, { subject = "" }: Question): boolean {
  const noun = words(subject.split("/").at(-1) ?? "").at(-1) ?? "";
  return new RegExp(
    `\\b(?:an?|the) (?:\\p{L}+ )?${noun},? (?:is |was )?(?:called |named )?\\p{Lu}`,
    "u",
  ).test(sentence);
}

const TIME =
  /\d|\b(?:today|tomorrow|tonight|yesterday|ago|noon|midnight|morning|afternoon|evening|night|week|weekend|month|year|(?:mon|tues|wednes|thurs|fri|satur|sun)days?|january|february|march|april|may|june|july|august|september|october|november|december|spring|summer|autumn|winter|christmas|easter|daily|weekly|monthly|(?:at|around|until|before|after|by|past) (?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve))\b/gi;

/** A time is told, and not only the one that was asked with. */
function tellsWhen(sentence: string, telling: readonly string[]): boolean {
  const times = sentence.match(TIME) ?? [];
  return times.some((time) => !telling.includes(key(time.toLowerCase())));
}

/** Asked for a brand, a colour, a size: something that can be one has to be there. */
function tellsKind(sentence: string, { topic = "", asks }: Question): boolean {
  if (asks !== "value" || topic === "") return true;
  if (/\b(?:brand|make|model|name|title)s?$/i.test(topic))
    return /\S\s+["“']?\p{Lu}[\p{L}\d]/u.test(sentence);
  if (/\b(?:size|number|plate|price|height|weight|age|score|salary|temperature)s?$/i.test(topic))
    return /\d|\b[A-Z]{1,3}\b/.test(sentence);
  const kind = kindOf(topic);
  return (
    kind === undefined || !/^(?:color|breed|material)$/.test(kind.name) || isOfKind(sentence, topic) === true
  );
}

/** Whether the one asked about is the one who is spoken of. */
function isAbout(sentence: string, question: Question, speaker: string | undefined): boolean {
  const subject = question.subject;
  if (subject === undefined) return true;
  const [root = "", ...parts] = subject.split("/");
  if (parts.length > 0)
    return parts.every((part) => words(part).some((word) => holds(bagOf(sentence), key(word))));
  if (root !== "user")
    return (
      speaker?.toLowerCase() === root.toLowerCase() || sentence.toLowerCase().includes(root.toLowerCase())
    );
  if (speaker !== undefined) return false;
  const thing = SUBJECT.exec(sentence)?.[1];
  // What is said of "my stepdad" is not said of the one who asks.
  if (thing !== undefined && !ACTS.test(sentence)) return false;
  return FIRST.test(sentence) || /^[a-z]+(?:ed|ing|t|d)\b/i.test(sentence.trim());
}

function said(words: string, at: string, speaker: string | undefined): string {
  const text = words.trim().replace(/\s+/g, " ").slice(0, 400);
  return `On ${sayDate(at.slice(0, 10), { weekday: false })} ${speaker ?? "you"} said: “${text}”`;
}
