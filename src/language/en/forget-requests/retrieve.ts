import type { Memory } from "../../../domain/memory.ts";
import type { Message } from "../../../domain/message.ts";
import { computeIdf, extractTerms, splitWords, stem } from "../../../domain/search/search-terms.ts";
import { findPhrase } from "../../../domain/text/phrase-index.ts";
import type { TextSpan } from "../../../domain/text/split-text.ts";
import { forEachInSlices, yieldToEventLoop } from "../../../domain/time-slicing.ts";
import type { Embedder } from "../../../ports/language/embedder.ts";
import type { ForgetRequestSource } from "../../../ports/language/forget-request-reader.ts";
import type { StoredContent } from "../../../ports/language/stored-content.ts";
import { parseEnglish } from "../parser/english-trees.ts";
import { findShapedValues } from "../value-shapes.ts";
import { SPEAKING } from "./about.ts";
import { isKin } from "./kin.ts";
import { findKindWords } from "./kinds.ts";
import { type Segment, splitSegments } from "./segments.ts";
import type { Wanted } from "./wanted.ts";

/** A clause of a message, or a memory that came from none, and how likely it is that a description means it. */
export interface RatedSegment extends Segment {
  readonly message?: Message;
  readonly memory?: Memory;
  readonly text: string;
  readonly signs: Readonly<Record<string, number>>;
  readonly probability: number;
}

/** A description of what is to be forgotten. */
export interface Description {
  readonly phrase: string;
  readonly wanted: Wanted;
  /** "everything about", "anything on": all that belongs to it. */
  readonly isBroad: boolean;
  /** Who said it, where only one speaker's words are meant: "my comment". */
  readonly speaker?: string;
}

/** Messages looked at by meaning: the newest, and those that share a word with the description. */
const MOST_NEWEST = 200;
const MOST_SHARING = 200;

/** Words that say nothing of what is meant. */
const IDLE: ReadonlySet<string> = new Set(
  splitWords(
    "thing things stuff bit part one ones that this it i my me we our you the a an be being been have had was were is am are old new first last now get got go going come came make made do did done put take took keep kept how what who where when which said told comment",
  ).map(stem),
);

/** The weights of the signs, by hand and by `scripts/forgetting`. */
const WEIGHTS: Readonly<Record<string, number>> = {
  bias: -3.2,
  words: 4.9,
  context: 0.5,
  cosine: 6,
  margin: 0.5,
  kind: 2.6,
  kindNear: 0.8,
  shape: 1.6,
  nameMissing: -3,
  otherName: -2.5,
  nameOnly: -3,
  valueMissing: -9,
  isCurrent: -4,
  isPast: 1.5,
  byOthers: -4,
  lowerName: -6,
  assistant: -0.3,
};

/** Rates the clauses of what is stored by a description. In the order of the messages. */
export async function rateSegments(
  embedder: Pick<Embedder, "embed" | "local"> | undefined,
  content: StoredContent,
  description: Description,
  source: ForgetRequestSource | undefined,
): Promise<RatedSegment[]> {
  const terms = [...new Set(extractTerms(description.phrase))].filter(
    (term) => !SPEAKING.has(term) && !IDLE.has(term),
  );
  const kinds = findKindWords(description.phrase);
  const messages = await chooseMessages(content, [...terms, ...kinds], source);
  const segments = await splitAll(content, messages, source);
  if (segments.length === 0) return [];
  const stems = segments.map(({ text }) => new Set([...splitWords(text).map(stem), ...extractTerms(text)]));
  const headings = segments.map(({ heading }) => new Set(extractTerms(heading)));
  await yieldToEventLoop();
  const holders = new Map(terms.map((term) => [term, stems.filter((some) => holds(some, term)).length]));
  // What somebody does says less than what it is done to.
  const verbs = verbsIn(description.phrase);
  const weights = new Map(
    terms.map((term) => [
      term,
      computeIdf(segments.length, holders.get(term) ?? 0) * (verbs.has(term) ? 0.5 : 1),
    ]),
  );
  const total = [...weights.values()].reduce((sum, weight) => sum + weight, 0);
  const vectors = await embedAll(embedder, description.phrase, segments);
  const mean = vectors ? vectors.reduce((sum, one) => sum + one, 0) / vectors.length : 0;
  const bySentence = Map.groupBy(segments.keys(), (i) => keyOf(segments[i] as OpenSegment, true));
  const byMessage = Map.groupBy(segments.keys(), (i) => keyOf(segments[i] as OpenSegment, false));
  const names = [...new Set([...description.wanted.names, ...ownersIn(description.phrase)])].filter((name) =>
    terms.includes(name),
  );
  const runs = Array.from(description.phrase.matchAll(NAME_RUN), ([run]) => run);
  const values = valuesOf(description.phrase);
  return segments.map((segment, i) => {
    const own = stems[i] as Set<string>;
    const heading = headings[i] as Set<string>;
    const sentence = (bySentence.get(keyOf(segment, true)) ?? []).flatMap((k) => [...(stems[k] ?? [])]);
    const around = (byMessage.get(keyOf(segment, false)) ?? []).flatMap((k) => [...(stems[k] ?? [])]);
    const share = (of: Iterable<string>): number => {
      const some = new Set(of);
      return total === 0
        ? 0
        : terms.reduce((sum, term) => sum + (holds(some, term) ? (weights.get(term) ?? 0) : 0), 0) / total;
    };
    const cosine = vectors?.[i] ?? 0;
    const near = [...own, ...heading];
    const speaker = segment.message?.name ?? "";
    const speakers = new Set(splitWords(speaker).map(stem));
    const isNameMet =
      names.every((name) => holds(new Set([...around, ...speakers]), name)) &&
      runs.every((run) => holdsValue(`${segment.message?.content ?? segment.text}`, run));
    const said = `${segment.heading}: ${segment.text}`;
    const isNameNear =
      names.length === 0 || names.some((name) => holds(new Set([...own, ...heading, ...speakers]), name));
    const isInSentence =
      names.length === 0 || isNameNear || names.some((name) => holds(new Set(sentence), name));
    const matched = terms.filter((term) => holds(own, term));
    const isNameOnly =
      matched.length > 0 && terms.length > names.length && matched.every((term) => names.includes(term));
    const signs: Record<string, number> = {
      bias: 1,
      words: share(near),
      context: share([...sentence, ...around]),
      cosine: Math.max(0, cosine - 0.1),
      margin: Math.max(0, (cosine - mean) * 2),
      kind: near.some((one) => kinds.has(one)) ? 1 : 0,
      kindNear: sentence.some((one) => kinds.has(one)) ? 1 : 0,
      shape: hasShape(segment.text, description.wanted) ? 1 : 0,
      nameMissing: names.length > 0 && !isNameMet ? 1 : 0,
      otherName:
        !isNameNear && /(?<!^|: )\p{Lu}\p{L}+|\p{Lu}\p{L}+:? \d|^\p{Lu}\p{L}+ \p{Lu}\p{Ll}+:/u.test(said)
          ? 1
          : !isInSentence && /\p{Lu}\p{L}+/u.test(sentenceText(segment))
            ? 1
            : 0,
      nameOnly:
        isNameOnly && !near.some((one) => kinds.has(one)) && !hasShape(segment.text, description.wanted)
          ? 1
          : 0,
      valueMissing: values.some((value) => !holdsValue(segment.text, value)) ? 1 : 0,
      isCurrent: description.wanted.isOld && CURRENT.test(segment.text) ? 1 : 0,
      isPast: description.wanted.isOld && PAST.test(segment.text) ? 1 : 0,
      byOthers: description.speaker !== undefined && speaker !== description.speaker ? 1 : 0,
      lowerName: isLowerName(said, description.wanted, own) ? 1 : 0,
      assistant: segment.message?.role === "assistant" ? 1 : 0,
    };
    const score = Object.entries(signs).reduce((sum, [name, value]) => sum + value * (WEIGHTS[name] ?? 0), 0);
    return { ...segment, signs, probability: 1 / (1 + Math.exp(-score)) };
  });
}

const CURRENT = /\b(?:current|currently|now|new|newer|latest|updated|from now on|replaces|instead|since)\b/i;
const PAST =
  /\b(?:old|older|earlier|previous|formerly|former|was|were|used to|initial|original|draft|first)\b/i;
/** Names of several words: they count as they stand. */
const NAME_RUN = /\p{Lu}[\p{L}\p{N}]*(?: \p{Lu}[\p{L}\p{N}]*)+/gu;
const NUMBERED = /(?<!\S)\S*\p{N}\S*(?!\S)/gu;

/** The numbers, codes and addresses of a phrase: they count where they stand whole. */
function valuesOf(phrase: string): string[] {
  return Array.from(phrase.matchAll(NUMBERED), ([value]) => value.replace(/[.,;:!?)]+$|['’]s$/g, ""));
}

/** Whose it is: "my mother's illness", "the grades of my son". */
function ownersIn(phrase: string): string[] {
  return Array.from(phrase.matchAll(OWNER), ([, own, of]) => stem((own ?? of ?? "").toLowerCase()));
}

const OWNER = /(?<![\p{L}])([\p{L}-]+)['’]s\b|\bof (?:my|our|his|her|their) ([\p{L}-]+)/giu;

/** "I hope" is not Hope from accounts: of a name alone, its capital counts. */
function isLowerName(said: string, { names }: Wanted, stems: ReadonlySet<string>): boolean {
  if (names.length === 0) return false;
  return names.some((name) => {
    if (!holds(stems, name)) return false;
    const words = said.match(/\p{L}+/gu) ?? [];
    const spelt = words.filter((word) => stem(word.toLowerCase()) === name);
    return (
      spelt.length > 0 &&
      spelt.every((word) => /^\p{Ll}/u.test(word)) &&
      COMMON_VERB.test(said.slice(0, said.indexOf(spelt[0] ?? "")))
    );
  });
}

/** What stands before a name in lower case that is another word: "I hope", "to mark", "the rose". */
const COMMON_VERB =
  /\b(?:i|we|you|they|he|she|to|the|a|an|can|will|could|would|should|not|my|in|on|please)\s*$/i;

function hasShape(text: string, { slots }: Wanted): boolean {
  const shapes = new Set(slots.flatMap(({ slot }) => slot.shapes));
  return shapes.size > 0 && findShapedValues(text).some(({ shape }) => shapes.has(shape));
}

function holds(stems: ReadonlySet<string>, term: string): boolean {
  if (stems.has(term)) return true;
  for (const one of stems) if (isKin(one, term)) return true;
  return false;
}

type OpenSegment = Omit<RatedSegment, "signs" | "probability">;

function verbsIn(phrase: string): ReadonlySet<string> {
  const tokens = parseEnglish(phrase).flatMap((sentence) => sentence.tokens);
  if (!tokens.some(({ pos }) => pos === "NOUN" || pos === "PROPN")) return new Set();
  return new Set(tokens.filter(({ pos }) => pos === "VERB").map(({ lower }) => stem(lower)));
}

function sentenceText({ message, memory, sentence }: OpenSegment): string {
  return (message?.content ?? memory?.text ?? "").slice(sentence.start + 1, sentence.end);
}

function keyOf({ message, memory, sentence }: OpenSegment, isSentence: boolean): string {
  const id = message?.id ?? memory?.id ?? "";
  return isSentence ? `${id} ${sentence.start}` : id;
}

/** The newest messages, and the newest of those that share a word. */
async function chooseMessages(
  { messages }: StoredContent,
  stems: readonly string[],
  source: ForgetRequestSource | undefined,
): Promise<Message[]> {
  const starts = stems.filter((one) => one.length > 2).map((one) => one.slice(0, 5));
  const sharing: Message[] = [];
  const newest: Message[] = [];
  await forEachInSlices(messages.values(), (message) => {
    if (message.content === "" || message.undone) return;
    newest.push(message);
    const lower = message.content.toLowerCase();
    if (starts.some((start) => lower.includes(start))) sharing.push(message);
  });
  const chosen = new Set([...newest.slice(-MOST_NEWEST), ...sharing.slice(-MOST_SHARING)]);
  return [...messages.values()].filter((one) => chosen.has(one) || one.id === source?.message.id);
}

async function splitAll(
  { memories }: StoredContent,
  messages: readonly Message[],
  source: ForgetRequestSource | undefined,
): Promise<OpenSegment[]> {
  const all: OpenSegment[] = [];
  await forEachInSlices(
    messages,
    (message) => {
      const asked = message.id === source?.message.id ? source.spans : [];
      for (const segment of splitSegments(message.content)) {
        if (asked.some((span) => overlaps(span, segment))) continue;
        all.push({ ...segment, message, text: message.content.slice(segment.start, segment.end) });
      }
    },
    4,
  );
  const byHand = [...memories.values()].filter(({ sources }) => sources.length === 0).slice(-MOST_NEWEST);
  for (const memory of byHand) {
    const whole = { start: 0, end: memory.text.length };
    all.push({ ...whole, sentence: whole, heading: "", isAttached: false, memory, text: memory.text });
  }
  return all;
}

export function overlaps(one: TextSpan, other: TextSpan): boolean {
  return one.start < other.end && other.start < one.end;
}

/** The cosine of each segment with the phrase; undefined if the embedder needs a network. */
async function embedAll(
  embedder: Pick<Embedder, "embed" | "local"> | undefined,
  phrase: string,
  segments: readonly OpenSegment[],
): Promise<number[] | undefined> {
  if (!embedder?.local) return undefined;
  const [query] = await embedder.embed([phrase]);
  const cosines: number[] = [];
  for (let from = 0; from < segments.length; from += 64) {
    const texts = segments
      .slice(from, from + 64)
      .map(({ text, heading }) => (heading === "" ? text : `${heading}: ${text}`));
    for (const vector of await embedder.embed(texts))
      cosines.push(vector.reduce((sum, value, k) => sum + value * (query?.[k] ?? 0), 0));
    await yieldToEventLoop();
  }
  return cosines;
}

/** Whether a value stands whole in a text. */
export function holdsValue(text: string, value: string): boolean {
  if (findPhrase(text, splitWords(value)).length > 0) return true;
  // "884012" is "88-40-12".
  const digits = value.replace(/[\s.,:/-]/g, "");
  if (!/^\d{4,}$/.test(digits)) return false;
  return (text.match(/\d(?:[\s.,:/-]?\d)*/g) ?? []).some((run) => run.replace(/\D/g, "") === digits);
}
