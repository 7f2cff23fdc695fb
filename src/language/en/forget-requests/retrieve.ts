import type { Memory } from "../../../domain/memory.ts";
import type { Message } from "../../../domain/message.ts";
import { computeIdf, extractTerms, splitWords, stem } from "../../../domain/search/search-terms.ts";
import { findPhrase } from "../../../domain/text/phrase-index.ts";
import { spansOverlap } from "../../../domain/text/split-text.ts";
import { forEachInSlices, mapInSlices, yieldToEventLoop } from "../../../domain/time-slicing.ts";
import type { Embedder } from "../../../ports/language/embedder.ts";
import type { ForgetRequestSource } from "../../../ports/language/forget-request-reader.ts";
import type { StoredContent } from "../../../ports/language/stored-content.ts";
import { isHyponym } from "../kinds/kinds.ts";
import { parseEnglish } from "../parser/english-trees.ts";
import { type Segment, splitSegments } from "../transformer/segments.ts";
import { findShapedValues, isCalendarName } from "../value-shapes.ts";
import { SPEAKING } from "./about.ts";
import { type ClauseToRate, rateClauses } from "./clause-network.ts";
import { type ReadingPorts, readMeantClauses } from "./clause-reader.ts";
import { clauseWords, placeOf, requestWords } from "./clause-words.ts";
import { isKin, sameRelatives } from "./kin.ts";
import { findKindWords } from "./kinds.ts";
import { isOtherWord } from "./other-words.ts";
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
  /** True for words beside what the request means, as those of an exception: they are read by themselves. */
  readonly isAlone?: boolean;
}

/** Messages looked at by meaning: the newest, and those that share a word with the description. */
const MOST_NEWEST = 200;
const MOST_SHARING = 200;

/** Words that say nothing of what is meant. */
const IDLE: ReadonlySet<string> = new Set(
  splitWords(
    "thing things stuff bit part one ones that this it i my me we our you the a an be being been have had was were is am are old new first last now get got go going come came make made do did done put take took keep kept how what who where when which said told comment episode incident story business matter mess saga status situation info detail information data fact note record entry mention trace everything anything nothing all any remark statement opinion view real whole actual rather",
  ).map(stem),
);

/** The weights of the signs in their sum, by hand and by `scripts/forgetting/fit-clauses.ts`. */
const WEIGHTS: Readonly<Record<string, number>> = {
  bias: -2.24,
  words: 2.85,
  context: 0.0,
  cosine: 1.7,
  margin: 1.57,
  near: 0.69,
  kind: 2.65,
  kindNear: 0.25,
  shape: 0.91,
  shapeName: 1.86,
  nameMissing: -1.49,
  otherName: -1.49,
  nameOnly: -1.48,
  valueMissing: -6.69,
  valueHeld: 3.4,
  isCurrent: -3.78,
  isPast: 0.91,
  byOthers: -3.51,
  lowerName: -6.07,
  assistant: 0.0,
  wordsBehind: -0.91,
  cosineBehind: -0.28,
  nearBehind: 0.0,
  kindBroad: 0.93,
  kindNearBroad: 2.48,
  nameHeld: 0.85,
  heading: -0.39,
};

/** From this probability on, the signs alone say that a clause is meant: of a long memory the reader reads a part. */
const SURE_SIGNS = 0.75;

/** What clauses are rated with: an embedder that needs no network, and the readers, by default those of this thread. */
export interface RatingPorts extends ReadingPorts {
  readonly embedder?: Pick<Embedder, "embed" | "local">;
}

/** Rates the clauses of what is stored by a description and by the request that it stands in. In the order of the messages. */
export async function rateSegments(
  { embedder, rateWindow, readRequest }: RatingPorts,
  content: StoredContent,
  description: Description,
  source: ForgetRequestSource | undefined,
): Promise<RatedSegment[]> {
  const rated = await readSigns(embedder, content, description, source);
  const clauses = rated.map(toClause);
  const promises = await rateClauses(await requestWords(description.phrase, source, readRequest), clauses);
  const toRead = rated.map((segment, i) => ({
    ...segment,
    isEarlier: segment.signs.isOtherSession === 1,
    promise: promises[i] ?? 0,
  }));
  const probabilities = await readMeantClauses(description, source, toRead, { rateWindow, readRequest });
  return rated.map((segment, i) => {
    if (isOfOtherRelative(description.phrase, segment.text)) return { ...segment, probability: 0 };
    return { ...segment, probability: probabilities[i] ?? probabilityBySigns(segment.signs) };
  });
}

function probabilityBySigns({ sum = 0 }: Readonly<Record<string, number>>): number {
  const probability = 1 / (1 + Math.exp(-SCALE * sum));
  return probability >= SURE_SIGNS ? probability : 0;
}

/** A clause as the network reads it. */
export function toClause({ signs, ...segment }: Omit<RatedSegment, "probability">): ClauseToRate {
  return { text: clauseWords(segment, segment.message?.content ?? segment.text), signs };
}

/** The clauses of what is stored, with their signs. In the order of the messages. */
export async function readSigns(
  embedder: Pick<Embedder, "embed" | "local"> | undefined,
  content: StoredContent,
  description: Description,
  source: ForgetRequestSource | undefined,
): Promise<Omit<RatedSegment, "probability">[]> {
  const terms = [...new Set(extractTerms(description.phrase))].filter(
    (term) => !SPEAKING.has(term) && !IDLE.has(term),
  );
  const kinds = findKindWords(description.phrase);
  const messages = await chooseMessages(content, [...terms, ...kinds], source);
  const segments = await splitAll(content, messages, source);
  if (segments.length === 0) return [];
  await yieldToEventLoop();
  const cosines = await embedAll(embedder, description.phrase, segments);
  const kinship = await embedWords(embedder, description.phrase, segments);
  const stems = await mapInSlices(
    segments,
    ({ text }) => new Set([...splitWords(text).map(stem), ...extractTerms(text)]),
  );
  const rating = prepareRating(segments, description, { terms, kinds, cosines, kinship, stems });
  await yieldToEventLoop();
  const found = await mapInSlices([...segments.entries()], ([i, segment]) => signsOf(rating, segment, i));
  const most = (name: string): number => Math.max(0, ...found.map((signs) => signs[name] ?? 0));
  const [words, cosine, near] = [most("words"), most("cosine"), most("near")];
  return segments.map((segment, i) => {
    const own = found[i] ?? {};
    const signs: Record<string, number> = {
      ...own,
      wordsBehind: words - (own.words ?? 0),
      cosineBehind: cosine - (own.cosine ?? 0),
      nearBehind: near - (own.near ?? 0),
    };
    const sum = Object.entries(signs).reduce(
      (sum, [name, value]) => sum + value * (WEIGHTS[name] ?? 0),
      WEIGHTS.bias ?? 0,
    );
    return {
      ...segment,
      signs: { ...signs, sum: sum / SCALE, ...placeOf(segment.message, source?.message) },
    };
  });
}

/** The sum of the signs is given to the network in units of about 1. */
const SCALE = 4;

/** What clauses are rated by: the words of the description and of all clauses. */
interface Rating {
  readonly description: Description;
  readonly terms: readonly string[];
  readonly kinds: ReadonlySet<string>;
  readonly names: readonly string[];
  readonly runs: readonly string[];
  readonly values: readonly string[];
  readonly stems: readonly ReadonlySet<string>[];
  readonly cosines: readonly number[];
  readonly meanCosine: number;
  /** How near the words of each segment come to those of the description, from 0 to 1. */
  readonly kinship: readonly number[];
  readonly bySentence: ReadonlyMap<string, readonly string[]>;
  readonly byMessage: ReadonlyMap<string, readonly string[]>;
  /** The share of the description's words, by weight, that are among some. */
  readonly share: (words: ReadonlySet<string>) => number;
}

function prepareRating(
  segments: readonly OpenSegment[],
  description: Description,
  found: {
    readonly terms: readonly string[];
    readonly kinds: ReadonlySet<string>;
    readonly cosines: readonly number[] | undefined;
    readonly kinship: readonly number[] | undefined;
    readonly stems: readonly ReadonlySet<string>[];
  },
): Rating {
  const { terms, kinds, stems } = found;
  const { phrase, wanted } = description;
  const weights = weighTerms(phrase, terms, stems);
  const total = [...weights.values()].reduce((sum, weight) => sum + weight, 0);
  const cosines = found.cosines ?? segments.map(() => 0);
  const gather = (isSentence: boolean): Map<string, string[]> =>
    new Map(
      [...Map.groupBy(segments.keys(), (i) => keyOf(segments[i] as OpenSegment, isSentence))].map(
        ([key, all]) => [key, all.flatMap((i) => [...(stems[i] ?? [])])],
      ),
    );
  return {
    description,
    terms,
    kinds,
    names: [...new Set([...wanted.names, ...ownersIn(phrase)])].filter((name) => terms.includes(name)),
    runs: Array.from(phrase.matchAll(NAME_RUN), ([run]) => run),
    values: valuesOf(phrase),
    stems,
    cosines,
    meanCosine: cosines.reduce((sum, one) => sum + one, 0) / cosines.length,
    kinship: found.kinship ?? segments.map(() => 0),
    bySentence: gather(true),
    byMessage: gather(false),
    share: (words) => {
      const met = terms.filter((term) => holds(words, term));
      return total === 0 ? 0 : met.reduce((sum, term) => sum + (weights.get(term) ?? 0), 0) / total;
    },
  };
}

/** Rare words say more; what somebody does says less than what it is done to. */
function weighTerms(
  phrase: string,
  terms: readonly string[],
  stems: readonly ReadonlySet<string>[],
): Map<string, number> {
  const verbs = verbsIn(phrase);
  return new Map(
    terms.map((term) => {
      const holders = stems.filter((some) => holds(some, term)).length;
      return [term, computeIdf(stems.length, holders) * (verbs.has(term) ? 0.5 : 1)];
    }),
  );
}

const asSign = (isGiven: boolean): number => (isGiven ? 1 : 0);

function signsOf(rating: Rating, segment: OpenSegment, i: number): Record<string, number> {
  const { description, kinds, share, values } = rating;
  const { wanted, speaker } = description;
  const own = rating.stems[i] ?? new Set<string>();
  const near = new Set([...own, ...extractTerms(segment.heading)]);
  const sentence = new Set(rating.bySentence.get(keyOf(segment, true)) ?? []);
  const around = new Set([...sentence, ...(rating.byMessage.get(keyOf(segment, false)) ?? [])]);
  const cosine = rating.cosines[i] ?? 0;
  const isOfKind = [...near].some((one) => kinds.has(one));
  const isOfShape = hasShape(segment.text, wanted);
  const isOfName = !isOfShape && holdsOtherName(rating, segment);
  const isOld = wanted.isOld;
  return {
    words: share(near),
    context: share(around),
    cosine: Math.max(0, cosine - 0.1),
    margin: Math.max(0, (cosine - rating.meanCosine) * 2),
    near: rating.kinship[i] ?? 0,
    kind: asSign(isOfKind),
    kindNear: asSign([...sentence].some((one) => kinds.has(one))),
    shape: asSign(isOfShape),
    shapeName: asSign(isOfName),
    ...nameSigns(rating, segment, { near, sentence, around }),
    nameOnly: asSign(!isOfKind && !isOfShape && !isOfName && holdsOnlyNames(rating, own)),
    valueMissing: asSign(values.some((value) => !holdsValue(segment.text, value))),
    valueHeld: asSign(values.length > 0 && values.every((value) => holdsValue(segment.text, value))),
    kindBroad: asSign(description.isBroad && isOfKind),
    kindNearBroad: asSign(description.isBroad && !isOfKind && [...sentence].some((one) => kinds.has(one))),
    nameHeld: asSign(rating.names.some((name) => holds(near, name))),
    heading: asSign(segment.heading !== ""),
    isCurrent: asSign(isOld && CURRENT.test(segment.text)),
    isPast: asSign(isOld && PAST.test(segment.text)),
    byOthers: asSign(speaker !== undefined && (segment.message?.name ?? "") !== speaker),
    lowerName: asSign(wanted.names.some((name) => isOtherWord(`${segment.heading}: ${segment.text}`, name))),
    assistant: asSign(segment.message?.role === "assistant"),
  };
}

/** "The Larch client name", "the Falcon location", "who I see": the clause gives a name beside those in the description. */
function holdsOtherName({ description, names }: Rating, { text, heading }: OpenSegment): boolean {
  const { wanted, phrase } = description;
  const isAsked =
    wanted.slots.some(({ slot }) => slot.isName || slot.isPlace) ||
    /\b(?:who|whom|client|title|city|town|clinic|venue)\b/i.test(phrase);
  if (!isAsked) return false;
  // The first word has its capital from its place.
  const said =
    `${heading}: ${text.replace(/^\p{L}+/u, "")}`.match(/(?<=[\p{L}\p{N},:=] )\p{Lu}\p{L}{2,}/gu) ?? [];
  const known = new Set(names);
  return said
    .filter((word) => !isCalendarName(word))
    .map((word) => stem(word.toLowerCase()))
    .some((word) => !holds(known, word));
}

function holdsOnlyNames({ terms, names }: Rating, own: ReadonlySet<string>): boolean {
  const matched = terms.filter((term) => holds(own, term));
  return matched.length > 0 && terms.length > names.length && matched.every((term) => names.includes(term));
}

interface WordsNear {
  readonly near: ReadonlySet<string>;
  readonly sentence: ReadonlySet<string>;
  readonly around: ReadonlySet<string>;
}

/** Whether a clause is of whom the description names, or of somebody else. */
function nameSigns(
  { names, runs }: Rating,
  segment: OpenSegment,
  { near, sentence, around }: WordsNear,
): { nameMissing: number; otherName: number } {
  if (names.length === 0) return { nameMissing: 0, otherName: 0 };
  const speakers = splitWords(segment.message?.name ?? "").map(stem);
  const isAmong = (words: ReadonlySet<string>, name: string): boolean =>
    sameRelatives(name).some((one) => holds(new Set([...words, ...speakers]), one));
  const isMet =
    names.every((name) => isAmong(around, name)) &&
    runs.every((run) => holdsValue(segment.message?.content ?? segment.text, run));
  const isNear = names.some((name) => isAmong(near, name));
  const isInSentence = isNear || names.some((name) => holds(sentence, name));
  const isOther =
    (!isNear && OTHER_NAME.test(`${segment.heading}: ${segment.text}`)) ||
    (!isInSentence && /\p{Lu}\p{L}+/u.test(sentenceText(segment)));
  return { nameMissing: asSign(!isMet), otherName: asSign(isOther) };
}

/** "My uncle's illness" is none that is told of "my mum": a clause that begins with another relative than the one whose it is. */
function isOfOtherRelative(phrase: string, clause: string): boolean {
  const other = /^(?:(?:and|but|so|then) )?(?:my|our) (\p{L}+)/iu.exec(clause)?.[1]?.toLowerCase();
  if (other === undefined || !isRelative(other)) return false;
  const owners = Array.from(phrase.matchAll(OWNER), ([, own, of]) => (own ?? of ?? "").toLowerCase()).filter(
    isRelative,
  );
  return owners.length > 0 && !owners.some((owner) => isSameRelative(owner, other));
}

const isRelative = (noun: string): boolean => isHyponym(noun, "relative");

function isSameRelative(one: string, other: string): boolean {
  return isHyponym(one, other) || isHyponym(other, one) || sameRelatives(stem(one)).includes(stem(other));
}

const OTHER_NAME = /(?<!^|: )\p{Lu}\p{L}+|\p{Lu}\p{L}+:? \d|^\p{Lu}\p{L}+ \p{Lu}\p{Ll}+:/u;
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
        if (asked.some((span) => spansOverlap(span, segment))) continue;
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

/** Words that are nearer than this say something of the same thing. */
const LEAST_NEAR = 0.3;
const NO_TERM: ReadonlySet<string> = new Set(
  splitWords("everything anything nothing all stuff thing bit part matter").map(stem),
);

/** How near the nearest word of each segment comes to each word of the phrase, on average; undefined as for cosines. */
async function embedWords(
  embedder: Pick<Embedder, "embed" | "local"> | undefined,
  phrase: string,
  segments: readonly OpenSegment[],
): Promise<number[] | undefined> {
  if (!embedder?.local) return undefined;
  const telling = (text: string): string[] =>
    (text.match(/\p{L}{3,}/gu) ?? []).filter((word) => {
      const stemmed = stem(word.toLowerCase());
      return (
        extractTerms(word).length > 0 && !IDLE.has(stemmed) && !SPEAKING.has(stemmed) && !NO_TERM.has(stemmed)
      );
    });
  const asked = [...new Set(telling(phrase).map((word) => word.toLowerCase()))];
  const names = new Set(
    phrase.match(/(?<=\s)\p{Lu}\p{L}+|^\p{Lu}\p{L}+(?=['’]s)/gu)?.map((name) => name.toLowerCase()),
  );
  const common = asked.filter((word) => !names.has(word));
  if (common.length === 0) return undefined;
  const perSegment = await mapInSlices(segments, ({ text }) => [
    ...new Set(telling(text).map((word) => word.toLowerCase())),
  ]);
  const words = [...new Set(perSegment.flat())];
  const queries = await embedder.embed(common);
  const nearest = new Map<string, readonly number[]>();
  for (let from = 0; from < words.length; from += 256) {
    const some = words.slice(from, from + 256);
    const vectors = await embedder.embed(some);
    for (const [i, vector] of vectors.entries())
      nearest.set(
        some[i] as string,
        queries.map((query) => vector.reduce((sum, value, k) => sum + value * (query[k] ?? 0), 0)),
      );
    await yieldToEventLoop();
  }
  return perSegment.map((own) => {
    const best = common.map((_query, q) => Math.max(0, ...own.map((word) => nearest.get(word)?.[q] ?? 0)));
    return (
      best.reduce((sum, one) => sum + Math.max(0, one - LEAST_NEAR) / (1 - LEAST_NEAR), 0) / common.length
    );
  });
}

/** Whether a value stands whole in a text. */
export function holdsValue(text: string, value: string): boolean {
  if (findPhrase(text, splitWords(value)).length > 0) return true;
  // "884012" is "88-40-12".
  const digits = value.replace(/[\s.,:/-]/g, "");
  if (!/^\d{4,}$/.test(digits)) return false;
  return (text.match(/\d(?:[\s.,:/-]?\d)*/g) ?? []).some((run) => run.replace(/\D/g, "") === digits);
}
