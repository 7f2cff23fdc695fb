import {
  type ErasedValue,
  type ErasureSelection,
  mergeSelections,
  NO_SELECTION,
} from "../../../domain/erasure-selection.ts";
import type { Memory } from "../../../domain/memory.ts";
import { extractTerms, splitWords } from "../../../domain/search/search-terms.ts";
import { GAP_MARK, type TextCut } from "../../../domain/text/cut-text.ts";
import { spansOverlap, type TextSpan } from "../../../domain/text/split-text.ts";
import { forEachInSlices } from "../../../domain/time-slicing.ts";
import type { StoredContent } from "../../../ports/language/stored-content.ts";
import { isDistinctive } from "../distinctive-words.ts";
import { type ReadSentence, readRequest } from "../grammar/forgetting/request-network.ts";
import { splitSegments } from "../transformer/segments.ts";
import { findShapedValues, findSlot, isDistinctValue } from "../value-shapes.ts";
import { type About, isHeadedBy } from "./about.ts";
import { isKin } from "./kin.ts";
import { holdsValue, type RatedSegment } from "./retrieve.ts";
import type { Wanted } from "./wanted.ts";

/** From this probability on, a clause may be meant, and is asked back. */
const MAYBE = 0.28;
/** The same for what the assistant said, and for what stands beside the request: it mostly repeats what is meant. */
const MAYBE_BESIDE = 0.75;
/** From this probability on, the words of the assistant are asked about without any of the user. */
const ALONE = 0.9;
/** More clauses than these are too many for a question. */
const MOST_ASKED = 14;
/** From this probability on, a clause is meant: where all that go are, none is asked about. By `scripts/forgetting/run-cases.ts`. */
const SURE_CLAUSE = 0.8;

/**
 * The clauses that a request means by their probabilities, in order; of many the most probable. `own` is the message of the request. What
 * is read by itself (`isAlone`), as an exception is, must be as likely as what stands beside: it keeps what was clearly named.
 */
export async function chooseSegments(
  rated: readonly RatedSegment[],
  own: string | undefined,
  isAlone: boolean,
  read: ReadSentence = readRequest,
): Promise<RatedSegment[]> {
  const isBeside = ({ message }: RatedSegment): boolean =>
    message !== undefined && (message.id === own || message.role === "assistant");
  const likely = rated.filter((one) => one.probability >= (isAlone || isBeside(one) ? MAYBE_BESIDE : MAYBE));
  const meant: RatedSegment[] = [];
  for (const one of likely) if (!(await isRequest(one, read))) meant.push(one);
  if (!meant.some((one) => !isBeside(one) || one.probability >= ALONE)) return [];
  const asked = new Set(
    meant.toSorted((one, other) => other.probability - one.probability).slice(0, MOST_ASKED),
  );
  return meant.filter((one) => asked.has(one));
}

/**
 * Whether all that goes is meant by the reader of clauses, too: each clause of a user that it touches, and each memory that came from none.
 * The assistant repeats what is meant among other things.
 */
export function isAllMeant(rated: readonly RatedSegment[], selections: readonly ErasureSelection[]): boolean {
  const goes = mergeSelections(selections);
  const cuts = [...goes.cuts].flatMap(([id, some]) => some.map((cut) => ({ id, cut })));
  const isIn = ({ message, memory, ...span }: RatedSegment): boolean =>
    memory
      ? goes.memories.has(memory)
      : cuts.some(({ id, cut }) => id === message?.id && spansOverlap(span, cut));
  const taken = rated.filter(isIn);
  const isRated = cuts.every(({ id, cut }) =>
    taken.some(({ message, ...span }) => message?.id === id && spansOverlap(span, cut)),
  );
  const told = taken.filter(({ message }) => message?.role !== "assistant");
  return isRated && told.length > 0 && told.every(({ probability }) => probability >= SURE_CLAUSE);
}

/** "Lose what I said about the attic", "yes, forget it": an earlier request tells nothing by itself. */
async function isRequest({ message, sentence }: RatedSegment, read: ReadSentence): Promise<boolean> {
  if (message?.role !== "user") return false;
  const { probability } = await read(message.content.slice(sentence.start, sentence.end));
  return probability >= 0.5;
}

/** "£430 to fix", "she said so twice": it has no subject of its own. */
function isRemark({ text, signs }: RatedSegment): boolean {
  if (signs.otherName || signs.nameMissing) return false;
  if (/^(?:it|that|this|they|he|she|his|her|their|its|which|those|these)\b/i.test(text)) return true;
  return /^[£$€\d]/.test(text) && splitWords(text).length <= 8;
}

/** "I gamble online, about 50 quid a week": how much, of what stands before. */
function isMeasure({ text }: RatedSegment): boolean {
  return /^(?:about|around|roughly|nearly|almost|up to|over|under) [£$€]?\d/i.test(text);
}

/** The selection of clauses: their words, the memories that were read from them, and the same values elsewhere. */
export async function toSelection(
  content: StoredContent,
  chosen: readonly RatedSegment[],
  wanted?: Wanted,
): Promise<ErasureSelection> {
  if (chosen.length === 0) return NO_SELECTION;
  const cuts = new Map<string, TextCut[]>();
  for (const [message, some] of Map.groupBy(chosen, ({ message }) => message)) {
    if (!message) continue;
    const [alone, within] = partition(some, (one) => valuesWithin(one, wanted).length === 0);
    cuts.set(message.id, [
      ...(alone.length > 0 ? toCuts(message.content, alone) : []),
      ...within.flatMap((one) => valuesWithin(one, wanted)),
    ]);
  }
  const memories = new Set<Memory>(chosen.flatMap(({ memory }) => memory ?? []));
  await forEachInSlices(content.memories.values(), (memory) => {
    if (memory.sources.length > 0 && isTakenFrom(memory, cuts, content)) memories.add(memory);
  });
  const values = chosen.flatMap(({ text }) => findValues(text));
  values.push(...(await namesAlone(content, cuts, chosen)));
  await addEchoes(
    content,
    cuts,
    values.map(({ text }) => text),
    memories,
  );
  return { memories, cuts, values, wordings: [] };
}

function partition<T>(all: readonly T[], isFirst: (one: T) => boolean): [T[], T[]] {
  return [all.filter(isFirst), all.filter((one) => !isFirst(one))];
}

/** Words beside a value and its description, from which on the value goes alone: "call me on […] about the roof job". */
const MOST_BESIDE = 2;

/** The values alone, where their clause tells more than the description: none, where it goes whole. */
function valuesWithin({ text, start, message }: RatedSegment, wanted: Wanted | undefined): TextCut[] {
  const shapes = new Set(
    (wanted?.slots ?? []).filter(({ slot }) => !slot.isText).flatMap(({ slot }) => slot.shapes),
  );
  if (!wanted || !message || shapes.size === 0) return [];
  const found = findShapedValues(text).filter(({ shape }) => shapes.has(shape));
  if (found.length !== 1) return [];
  const rest = found.reduceRight((left, one) => blank(left, one), text);
  const known = [...wanted.terms, ...wanted.slots.map(({ noun }) => noun)];
  const beside = extractTerms(rest).filter(
    (term) => !known.some((one) => isKin(one, term)) && findSlot(term) === undefined,
  );
  if (beside.length <= MOST_BESIDE) return [];
  return found.map((one) => ({ start: start + one.start, end: start + one.end, put: GAP_MARK }));
}

/** The values in a text that belong to one owner: codes, numbers, addresses. */
export function findValues(text: string): ErasedValue[] {
  return findShapedValues(text)
    .filter(isDistinctValue)
    .map(({ text: value, shape }) => ({
      text: value.replace(/^["“'‘]|["”'’]$/g, ""),
      shape,
      isDistinct: true,
    }));
}

/**
 * Leaves what a sentence says of others: of a whole sentence that goes, the clauses stay that hold none of the words
 * and values that are meant, and have a subject of their own. What a memory that goes was read from alone is meant.
 */
export function narrowToClauses(
  { messages, memories }: StoredContent,
  selection: ErasureSelection,
  rated: readonly RatedSegment[],
  { isWide, about }: { isWide: boolean; about: About | undefined },
): ErasureSelection {
  const told = [...selection.memories].flatMap(({ claim }) => (claim ? [claim.value] : []));
  const values = [...told, ...(selection.values ?? []).map(({ text }) => text)];
  const byMessage = Map.groupBy(rated, ({ message }) => message?.id);
  const read = findOwnQuotes(memories.values(), selection.memories);
  const cuts = new Map(
    [...selection.cuts].map(([id, some]) => {
      const content = messages.get(id)?.content ?? "";
      const segments = byMessage.get(id) ?? [];
      const meant = { values, quotes: read.get(id) ?? [], isWide, about };
      return [id, some.flatMap((cut) => narrowCut(content, cut, segments, meant))] as const;
    }),
  );
  return { ...selection, cuts };
}

/** The places in messages that only memories that go were read from. */
function findOwnQuotes(all: Iterable<Memory>, gone: ReadonlySet<Memory>): Map<string, TextSpan[]> {
  const own = Map.groupBy(
    [...gone].flatMap(({ sources }) => sources),
    ({ message }) => message,
  );
  for (const memory of all) {
    if (gone.has(memory)) continue;
    for (const source of memory.sources) {
      const quotes = own.get(source.message);
      if (quotes)
        own.set(
          source.message,
          quotes.filter((quote) => !spansOverlap(quote, source)),
        );
    }
  }
  return own;
}

/** What is meant in a message: values, and places that only memories that go were read from. */
interface MeantWords {
  readonly values: readonly string[];
  readonly quotes: readonly TextSpan[];
  /** Whether remarks go, too. */
  readonly isWide: boolean;
  readonly about: About | undefined;
}

/** Of a list in which one thing is named, the other items stay, and so does another value of the same look. */
export function narrowToItems(
  { messages }: StoredContent,
  selection: ErasureSelection,
  rated: readonly RatedSegment[],
  name: string,
): ErasureSelection {
  const byMessage = Map.groupBy(rated, ({ message }) => message?.id);
  const shapes = new Set(findShapedValues(name).map(({ shape }) => shape));
  const narrow = (id: string, cut: TextCut): readonly TextCut[] => {
    const inside = (byMessage.get(id) ?? []).filter((one) => spansOverlap(one, cut));
    const isNamed = ({ text }: RatedSegment): boolean => holdsValue(text, name);
    if (inside.length < 2 || !inside.some(isNamed)) return [cut];
    const left = inside.filter(
      (one) =>
        !isNamed(one) &&
        (isItemBeside(one, inside, name) ||
          findShapedValues(one.text).some(({ shape }) => shapes.has(shape))),
    );
    const gone = inside.filter((one) => !left.includes(one));
    return left.length === 0 ? [cut] : toCuts(messages.get(id)?.content ?? "", gone);
  };
  return {
    ...selection,
    cuts: new Map([...selection.cuts].map(([id, some]) => [id, some.flatMap((cut) => narrow(id, cut))])),
  };
}

/** Whether a clause is another item of the list in which a name stands, or the words that open that list. */
function isItemBeside(one: RatedSegment, inside: readonly RatedSegment[], name: string): boolean {
  return inside.some(
    ({ heading, text, sentence }) =>
      heading !== "" &&
      sentence.start === one.sentence.start &&
      holdsValue(text, name) &&
      !holdsValue(heading, name) &&
      (one.heading === heading || one.text === heading),
  );
}

function narrowCut(
  content: string,
  cut: TextCut,
  segments: readonly RatedSegment[],
  { values, quotes, isWide, about }: MeantWords,
): readonly TextCut[] {
  const inside = segments.filter((one) => spansOverlap(one, cut));
  if (inside.length < 2) return [cut];
  const isMeant = ({ text, heading, signs, start, end }: RatedSegment): boolean =>
    (signs.words ?? 0) > 0 ||
    quotes.some((quote) => quote.start <= start && end <= quote.end) ||
    signs.kind === 1 ||
    signs.shape === 1 ||
    (about !== undefined && isHeadedBy(heading, about)) ||
    values.some((value) => holdsValue(text, value));
  const isAdded = (one: RatedSegment): boolean =>
    one.isAttached || isMeasure(one) || (isWide && isRemark(one));
  const left = inside.filter((one) => !isMeant(one) && !isAdded(one));
  if (left.length === 0 || left.length === inside.length) return [cut];
  return toCuts(
    content,
    inside.filter((one) => !left.includes(one)),
  );
}

/** Whole clauses with the mark beside them; a sentence of which nothing is left goes whole. */
export function toCuts(text: string, chosen: readonly TextSpan[]): TextCut[] {
  const all = splitSegments(text);
  const cuts: TextCut[] = [];
  for (const sentence of new Map(all.map((one) => [one.sentence.start, one.sentence])).values()) {
    const inside = all.filter((one) => one.sentence.start === sentence.start);
    const isGone = inside.map((one) => chosen.some((span) => spansOverlap(span, one)));
    if (!isGone.some(Boolean)) continue;
    if (isGone.every(Boolean)) cuts.push({ start: sentence.start, end: sentence.end, put: "" });
    else cuts.push(...inside.flatMap((_one, i) => (isGone[i] ? [cutAt(inside, isGone, i)] : [])));
  }
  return cuts;
}

/** A clause with the mark behind it; at the end of its sentence, with the mark before it. */
function cutAt(inside: readonly TextSpan[], isGone: readonly boolean[], i: number): TextCut {
  const one = inside[i] as TextSpan;
  const before = inside[i - 1];
  if (before && isGone.slice(i).every(Boolean)) return { start: before.end, end: one.end, put: "" };
  return { start: one.start, end: inside[i + 1]?.start ?? one.end, put: "" };
}

/** Telling names in what goes that stand nowhere else. */
async function namesAlone(
  { messages }: StoredContent,
  cuts: ReadonlyMap<string, readonly TextCut[]>,
  chosen: readonly RatedSegment[],
): Promise<ErasedValue[]> {
  const names = new Set(
    chosen.flatMap(({ text }) =>
      Array.from(text.matchAll(INNER_NAME), ([name]) => name).filter(isDistinctive),
    ),
  );
  if (names.size === 0) return [];
  await forEachInSlices(messages.values(), ({ id, content, role }) => {
    if (role !== "user") return;
    const left = (cuts.get(id) ?? []).reduce(blank, content).toLowerCase();
    for (const name of names) if (left.includes(name.toLowerCase())) names.delete(name);
  });
  return [...names].map((text) => ({ text, isDistinct: true }));
}

const INNER_NAME = /(?<=[\p{L}\p{N},:] )\p{Lu}[\p{L}\p{N}'-]{3,}(?: \p{Lu}[\p{L}\p{N}'-]+)*/gu;

/** Whether a memory tells what is cut: it was read from the cut words alone, or its own words are among them. */
export function isTakenFrom(
  memory: Memory,
  cuts: ReadonlyMap<string, readonly TextCut[]>,
  { messages }: StoredContent,
): boolean {
  return memory.sources.some((source) => {
    const some = cuts.get(source.message) ?? [];
    const touching = some.filter((cut) => spansOverlap(cut, source));
    if (touching.length === 0) return false;
    if (touching.some((cut) => cut.start <= source.start && source.end <= cut.end)) return true;
    const content = messages.get(source.message)?.content ?? "";
    const gone = new Set(touching.flatMap((cut) => extractTerms(content.slice(cut.start, cut.end))));
    const rest = new Set(
      extractTerms(touching.reduce((left, cut) => blank(left, cut), content).slice(source.start, source.end)),
    );
    const told = extractTerms(`${memory.text} ${memory.claim?.value ?? ""}`);
    return told.some((term) => gone.has(term) && !rest.has(term));
  });
}

function blank(text: string, { start, end }: TextSpan): string {
  return text.slice(0, start) + " ".repeat(end - start) + text.slice(end);
}

/** The distinct values of what goes, wherever else they stand. */
async function addEchoes(
  { messages, memories: all }: StoredContent,
  cuts: Map<string, TextCut[]>,
  values: readonly string[],
  memories: Set<Memory>,
): Promise<void> {
  if (values.length === 0) return;
  const lower = values.map((value) => value.toLowerCase());
  await forEachInSlices(messages.values(), (message) => {
    const said = message.content.toLowerCase();
    for (const value of lower) {
      for (let at = said.indexOf(value); at >= 0; at = said.indexOf(value, at + value.length)) {
        const span = { start: at, end: at + value.length };
        if (isPart(said, span) || (cuts.get(message.id) ?? []).some((cut) => spansOverlap(cut, span)))
          continue;
        cuts.set(message.id, [...(cuts.get(message.id) ?? []), { ...span, put: GAP_MARK }]);
      }
    }
  });
  await forEachInSlices(all.values(), (memory) => {
    const text = `${memory.text} ${memory.claim?.value ?? ""}`.toLowerCase();
    for (const value of lower) {
      const at = text.indexOf(value);
      if (at >= 0 && !isPart(text, { start: at, end: at + value.length })) memories.add(memory);
    }
  });
}

function isPart(text: string, { start, end }: TextSpan): boolean {
  return /[\p{L}\p{N}]$/u.test(text.slice(0, start)) || /^[\p{L}\p{N}]|^[.,:/-]\p{N}/u.test(text.slice(end));
}
