import type { ErasedValue, ErasureSelection } from "../../../domain/erasure-selection.ts";
import type { Memory } from "../../../domain/memory.ts";
import type { Message } from "../../../domain/message.ts";
import { extractTerms, splitWords, stem } from "../../../domain/search/search-terms.ts";
import { GAP_MARK, type TextCut } from "../../../domain/text/cut-text.ts";
import { splitSentences, type TextSpan } from "../../../domain/text/split-text.ts";
import { filterInSlices, forEachInSlices, yieldToEventLoop } from "../../../domain/time-slicing.ts";
import type { ForgetRequestSource } from "../../../ports/language/forget-request-reader.ts";
import type { StoredContent } from "../../../ports/language/stored-content.ts";
import { findShapedValues } from "../value-shapes.ts";
import { contactNames } from "./contact-names.ts";
import { stemsMet } from "./kin.ts";
import { placesOfValue, type Said, valuesMeant } from "./values.ts";
import type { Wanted } from "./wanted.ts";
import { aboutWording, type Wording, wordingsIn } from "./wording.ts";

/** What goes where a phrase names or describes values or a wording; nothing where none is found. */
export async function selectValues(
  state: StoredContent,
  phrase: string,
  wanted: Wanted,
  asking: ForgetRequestSource | undefined,
): Promise<ErasureSelection | undefined> {
  const said = saidBefore(state, asking);
  await yieldToEventLoop();
  const found = await valuesMeant(said, wanted, asking?.message.name);
  const values = [...found, ...contactNames(said, phrase, wanted, found)];
  const selection = await withValues(state, values, wanted, asking?.message.name);
  const wording = aboutWording(phrase, wanted);
  const worded =
    wanted.head?.isText || wanted.slots.some(({ slot }) => slot.isText)
      ? withWording(state, wording, phrase, asking)
      : undefined;
  const all = worded ? union(selection, worded) : selection;
  return all.memories.size + all.cuts.size > 0 ? all : undefined;
}

function union(one: ErasureSelection, other: ErasureSelection): ErasureSelection {
  const ids = new Set([...one.cuts.keys(), ...other.cuts.keys()]);
  return {
    memories: new Set([...one.memories, ...other.memories]),
    cuts: new Map([...ids].map((id) => [id, [...(one.cuts.get(id) ?? []), ...(other.cuts.get(id) ?? [])]])),
    values: [...(one.values ?? []), ...(other.values ?? [])],
    wordings: [...(one.wordings ?? []), ...(other.wordings ?? [])],
  };
}

/** Everything in the order in which it was said: the messages, and the memories that came from none. */
function saidBefore(state: StoredContent, asking: ForgetRequestSource | undefined): Said[] {
  const messages = [...state.messages.values()]
    .filter(({ content, undone }) => content !== "" && !undone)
    .map((message) => ({
      text: message.id === asking?.message.id ? blanked(message.content, asking.spans) : message.content,
      role: message.role,
      ...(message.name === undefined ? {} : { by: message.name }),
      at: message.at,
    }));
  const memories = [...state.memories.values()]
    .filter(({ sources }) => sources.length === 0)
    .map(({ text, at }) => ({ text, role: "user" as const, at }));
  return [...messages, ...memories].sort((one, other) =>
    one.at < other.at ? -1 : Number(one.at > other.at),
  );
}

function blanked(text: string, spans: readonly TextSpan[]): string {
  return spans.reduce(
    (left, { start, end }) => left.slice(0, start) + " ".repeat(end - start) + left.slice(end),
    text,
  );
}

async function withValues(
  state: StoredContent,
  values: readonly ErasedValue[],
  wanted: Wanted,
  asker: string | undefined,
): Promise<ErasureSelection> {
  const memories = new Set<Memory>();
  await forEachInSlices(state.memories.values(), (memory) => {
    const text = `${memory.text} ${memory.claim?.value ?? ""}`;
    const isHeld = values.some(
      (value) => placesMeant(text, value, wanted).length > 0 && isOfIt(text, "", value, wanted, asker),
    );
    if (isHeld) memories.add(memory);
  });
  const staying = await filterInSlices(state.memories.values(), (memory) => !memories.has(memory));
  await yieldToEventLoop();
  const kept = Map.groupBy(
    staying.flatMap(({ sources }) => sources),
    ({ message }) => message,
  );
  const cuts = new Map<string, TextCut[]>();
  await forEachInSlices(state.messages.values(), (message) => {
    const found = splitSentences(message.content).flatMap((sentence) =>
      cutValues(
        message,
        sentence,
        meantIn(message, values, wanted, asker),
        wanted,
        kept.get(message.id) ?? [],
      ),
    );
    if (found.length > 0) cuts.set(message.id, found);
  });
  return { memories, cuts, values: values.filter(({ isDistinct }) => isDistinct || wanted.named.length > 0) };
}

/** "8080 image files", "4408 guests": a count, where the words are another thing's. */
const COUNTED =
  /^\s+(?!(?:in|on|at|for|to|as|of|from|by|with|and|or|but|until|after|before|because|so|then|now|not)\b)(?:\p{Ll}+\s+)?(?!(?:its|his|this|is|was|has|does|stays|remains|works|expires|needs|opens|belongs|becomes|gets|goes|unlocks|gives|always|as)\b)\p{Ll}{3,}s\b/u;

/** Where a value stands in a text and is meant there: not where a number only counts something. */
function placesMeant(text: string, value: ErasedValue, { terms, slots }: Wanted): TextSpan[] {
  const places = placesOfValue(text, value);
  if (value.shape !== "number" || places.length === 0 || terms.length + slots.length === 0) return places;
  const stems = extractTerms(text);
  const isNear = [...terms, ...slots.map(({ noun }) => noun)].some((term) => stemsMet(stems, term));
  return isNear ? places : places.filter(({ end }) => !COUNTED.test(text.slice(end)));
}

/** A value that others can have too goes only where the other words of the description stand. */
function isOfIt(
  text: string,
  by: string,
  { isDistinct }: ErasedValue,
  { terms, names, slots, named }: Wanted,
  asker?: string,
): boolean {
  if (isDistinct || terms.length === 0) return true;
  // A time that somebody names themself is meant wherever they said it, and where the noun for it stands.
  const isNamed =
    named.length > 0 && (by === asker || slots.some(({ noun }) => stemsMet(extractTerms(text), noun)));
  if (isNamed) return true;
  const stems = [...extractTerms(text), ...splitWords(by).map(stem)];
  const met = terms.filter((term) => stemsMet(stems, term));
  return names.every((name) => stemsMet(stems, name)) && met.length * 2 >= terms.length;
}

function meantIn(
  { content, name = "" }: Message,
  values: readonly ErasedValue[],
  wanted: Wanted,
  asker: string | undefined,
): ErasedValue[] {
  return values.filter((value) => isOfIt(content, name, value, wanted, asker));
}

/** A short sentence that says nothing else goes whole. */
const SHORT = 14;

function cutValues(
  message: Message,
  sentence: TextSpan,
  values: readonly ErasedValue[],
  wanted: Wanted,
  kept: readonly TextSpan[],
): TextCut[] {
  const text = message.content.slice(sentence.start, sentence.end);
  const places = values.flatMap((value) => placesMeant(text, value, wanted));
  if (places.length === 0) return [];
  const others = findShapedValues(text).filter(
    (shaped) => !places.some(({ start, end }) => start < shaped.end && shaped.start < end),
  );
  const isShared = kept.some(({ start, end }) => start < sentence.end && sentence.start < end);
  const isWhole =
    !isShared && others.length === 0 && splitWords(text).length <= SHORT && !/[,;:]\s/.test(text);
  if (isWhole) return [{ ...sentence, put: "" }];
  return places.map(({ start, end }) => ({
    start: sentence.start + start,
    end: sentence.start + end,
    put: GAP_MARK,
  }));
}

function withWording(
  state: StoredContent,
  wording: Wording,
  phrase: string,
  asking: ForgetRequestSource | undefined,
): ErasureSelection | undefined {
  const cuts = new Map<string, TextCut[]>();
  const wordings: string[] = [];
  for (const message of state.messages.values()) {
    const content =
      message.id === asking?.message.id ? blanked(message.content, asking.spans) : message.content;
    const found = wordingsIn(content, wording, phrase);
    if (found.length === 0) continue;
    wordings.push(...found.map(({ start, end }) => content.slice(start, end)));
    cuts.set(
      message.id,
      found.map((span) => ({ ...span, put: isAll(content, span) ? "" : GAP_MARK })),
    );
  }
  const memories = [...state.memories.values()].filter(
    ({ text, sources }) =>
      (sources.length === 0 && wordingsIn(text, wording, phrase).length > 0) ||
      (sources.length > 0 && sources.every((source) => isInside(source, cuts.get(source.message) ?? []))),
  );
  if (memories.length + cuts.size === 0) return undefined;
  return { memories: new Set(memories), cuts, wordings: [...wordings, wording.text] };
}

function isInside({ start, end }: TextSpan, cuts: readonly TextSpan[]): boolean {
  return cuts.some((cut) => cut.start < end && start < cut.end);
}

/** Whether a stretch is a sentence of its own. */
function isAll(content: string, span: TextSpan): boolean {
  return splitSentences(content).some(({ start, end }) => span.start <= start + 1 && span.end >= end - 2);
}
