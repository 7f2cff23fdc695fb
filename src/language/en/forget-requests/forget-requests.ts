import {
  type ErasedValue,
  type ErasureSelection,
  mergeSelections,
  NO_SELECTION,
} from "../../../domain/erasure-selection.ts";
import type { Memory } from "../../../domain/memory.ts";
import type { TextCut } from "../../../domain/text/cut-text.ts";
import { findExactPhrase } from "../../../domain/text/phrase-index.ts";
import { filterInSlices } from "../../../domain/time-slicing.ts";
import { invalid } from "../../../errors.ts";
import type { Embedder } from "../../../ports/language/embedder.ts";
import type {
  DescribedSelection,
  ForgetDescription,
  ForgetRequestReader,
  ForgetRequestSource,
} from "../../../ports/language/forget-request-reader.ts";
import type { StoredContent } from "../../../ports/language/stored-content.ts";
import { toCanonicalRelation } from "../relations/relations.ts";
import { findTopic, isOfTopic, isRelationName, TOPICS } from "../topics.ts";
import { isDistinctValue } from "../value-shapes.ts";
import { type About, aboutOf, memoriesAbout } from "./about.ts";
import { aliasesIn, isAliasOfBefore, isChangeOfBefore } from "./aliases.ts";
import type { AnswerSources } from "./asked.ts";
import { cutSentences } from "./cuts.ts";
import { type Description, overlaps, type RatedSegment, rateSegments } from "./retrieve.ts";
import { chooseSegments, findValues, narrowToClauses, toSelection } from "./select-spans.ts";
import { selectValues } from "./select-values.ts";
import { thingsIn } from "./things.ts";
import { namesValues, type Wanted, wantedIn } from "./wanted.ts";

/** Reads requests to forget in English. Questions in them are read by `questions`. */
export function englishForgetRequests(
  questions: AnswerSources["questions"],
  embedder?: Embedder,
): ForgetRequestReader {
  const ports: ForgetSources = { questions, ...(embedder ? { embedder } : {}) };
  return {
    selectDescribed: (content, description, source) => selectAbout(ports, content, description, source),
    selectTopic,
    findMemories: (content, phrase) => findMeantMemories(ports, content, phrase),
    cutSentences: (content, memories, cuts) => cutSentences(content, memories, cuts),
    findName,
    findValues,
  };
}

function findName(phrase: string): string | undefined {
  const about = aboutOf(phrase);
  if (!about || about.isOwn || about.name.length === 0) return undefined;
  // The words of an amount or address also occur in longer ones, so the exact text is searched for.
  return JOINED_PHRASES.test(about.said) ? about.said : about.name.join(" ");
}

const JOINED_PHRASES = /[\p{L}\p{N}][^\p{L}\p{N}\p{M}\s'’]+[\p{L}\p{N}]/u;

/** The memories of a topic or a relation, and the words that they came from. */
async function selectTopic(state: StoredContent, wanted: string): Promise<ErasureSelection> {
  const topic = findTopic(wanted);
  if (!topic && !isRelationName(wanted)) {
    throw invalid(`forget: unknown topic. Known: ${[...TOPICS.keys()].join(", ")}; or a relation.`);
  }
  const relation = toCanonicalRelation(wanted.trim().toLowerCase());
  const memories = new Set(
    await filterInSlices(state.memories.values(), (memory) =>
      topic ? isOfTopic(topic, memory) : memory.claim?.relation === relation,
    ),
  );
  const cuts = new Map<string, TextCut[]>();
  await cutSentences(state, memories, cuts);
  return { memories, cuts };
}

/** The memories that words describe, without their dependants. */
async function findMeantMemories(
  ports: AnswerSources,
  state: StoredContent,
  phrase: string,
): Promise<ReadonlySet<Memory>> {
  const about = aboutOf(phrase);
  return about ? addContinuations(state, await memoriesAbout(ports, state, phrase, about)) : new Set();
}

/** Adds memories that continue them and were added by hand: another name, a changed value. */
function addContinuations(state: StoredContent, found: ReadonlySet<Memory>): Set<Memory> {
  const memories = new Set(found);
  let before: Memory | undefined;
  for (const memory of state.memories.values()) {
    const isNext = before !== undefined && memories.has(before) && memory.sources.length === 0;
    if (isNext && (isAliasOfBefore(memory.text) || isChangeOfBefore(memory.text, before?.text ?? ""))) {
      memories.add(memory);
    }
    before = memory;
  }
  return memories;
}

/** What requests are read by: questions, and an embedder that needs no network. */
interface ForgetSources extends AnswerSources {
  readonly embedder?: Embedder;
}

/** Each item of a list by itself. */
async function selectAbout(
  ports: ForgetSources,
  state: StoredContent,
  { phrase, except, isBroad = false }: ForgetDescription,
  asking?: ForgetRequestSource,
): Promise<DescribedSelection> {
  // "Kai and the vaping" is one thing.
  const parts = thingsIn(phrase);
  const things =
    parts.some((part) => /^\p{Lu}\p{L}+$/u.test(part)) && parts.some((part) => /^the\s/i.test(part))
      ? [phrase]
      : parts;
  const isListed = things.length > 1 && things.some((thing) => wantedIn(thing).named.length > 0);
  const selections: DescribedSelection[] = [];
  for (const thing of things)
    selections.push(await selectThing(ports, state, thing, { isListed, asking, except, isBroad }));
  return {
    sure: mergeSelections(selections.map(({ sure }) => sure)),
    unsure: mergeSelections(selections.map(({ unsure }) => unsure)),
  };
}

interface ThingContext {
  readonly isListed: boolean;
  readonly asking: ForgetRequestSource | undefined;
  readonly except: string | undefined;
  readonly isBroad: boolean;
}

/** Named values where they stand; else the clauses that the words mean; else the memories that answer them as a question. */
async function selectThing(
  ports: ForgetSources,
  state: StoredContent,
  phrase: string,
  { isListed, asking, except, isBroad }: ThingContext,
): Promise<DescribedSelection> {
  const wanted = wantedIn(phrase, { isListed });
  const isOwnText = wanted.head?.isText && wanted.isOwn && asking?.message.name !== undefined;
  const description: Description = {
    phrase,
    wanted,
    isBroad,
    ...(isOwnText ? { speaker: asking.message.name as string } : {}),
  };
  const meant = await selectByMemories(ports, state, phrase, wanted, asking);
  const rated = await rateSegments(ports.embedder, state, description, asking);
  const exact = narrowToClauses(state, meant, rated, isBroad || namesOnly(wanted));
  if (exact.memories.size + exact.cuts.size > 0) return { sure: exact, unsure: NO_SELECTION };
  const chosen = chooseSegments(rated, description, { except, own: asking?.message.id });
  const likely = chosen.sure.length > 0 ? chosen.sure : chosen.unsure;
  return {
    sure: NO_SELECTION,
    unsure: likely.length === 0 ? NO_SELECTION : await addAliases(state, await toSelection(state, likely, wanted)),
  };
}

/** "Room 6" in "the old code for room 6" only says which code: what holds nothing else is not what is meant. */
function onlyDescribes(
  { named, slots, terms }: Wanted,
  { values = [], memories }: ErasureSelection,
): boolean {
  if (values.length === 0 || memories.size > 0 || named.length === 0 || slots.length + terms.length === 0)
    return false;
  const said = named.filter((one) => !isDistinctValue(one)).map(({ text }) => text.toLowerCase());
  return values.every(({ text }) => said.includes(text.toLowerCase()));
}

/** What the assistant repeated of it, where both ways of reading agree. */
function withEchoes(
  { messages }: StoredContent,
  found: ErasureSelection,
  exact: ErasureSelection,
): ErasureSelection {
  const isAgreed = [...exact.cuts].some(([id, cuts]) =>
    cuts.some((cut) => (found.cuts.get(id) ?? []).some((one) => overlaps(one, cut))),
  );
  if (!isAgreed) return found;
  const cuts = new Map([...exact.cuts].filter(([id]) => messages.get(id)?.role === "assistant"));
  return mergeSelections([found, { memories: new Set(), cuts }]);
}

/** Whether a phrase names what goes: a value, the end of one, a name that somebody is called, a wording. */
function isNamed({ named, terms, slots, part, called, isListed }: Wanted, exact: ErasureSelection): boolean {
  if (part !== undefined || isListed || called.length > 0 || (exact.wordings?.length ?? 0) > 0) return true;
  return terms.length + slots.length === 0 && named.some(isDistinctValue);
}

function isByHand({ memories }: ErasureSelection): boolean {
  return [...memories].some(({ sources }) => sources.length === 0);
}

/** Whether it takes some of the memories of another selection, and no others. */
function isNarrower({ memories }: ErasureSelection, found: ErasureSelection): boolean {
  const isPart = [...memories].every((memory) => found.memories.has(memory));
  return isPart && memories.size > 0 && memories.size < found.memories.size;
}

function isPreferred(exact: ErasureSelection, found: ErasureSelection, isOneThing: boolean): boolean {
  return (isOneThing && isNarrower(exact, found)) || isExactPart(exact, found);
}

function isExactPart(exact: ErasureSelection, found: ErasureSelection): boolean {
  const isTelling = ({ shape, text }: ErasedValue): boolean =>
    shape === undefined || shape === "quoted" || isDistinctValue({ shape, text });
  return (exact.values ?? []).some(isTelling) && isWithin(exact, found);
}

/** Whether a selection takes the clause that is rated best: two ways of reading agree on it. */
function holdsBest({ cuts, memories }: ErasureSelection, rated: readonly RatedSegment[]): boolean {
  const best = rated.reduce<RatedSegment | undefined>(
    (most, one) => (one.probability > (most?.probability ?? 0) ? one : most),
    undefined,
  );
  if (!best) return true;
  if (best.memory) return memories.has(best.memory);
  return (cuts.get(best.message?.id ?? "") ?? []).some((cut) => overlaps(cut, best));
}

/** "forget Tove": all that is said of whom the words name. */
function namesOnly({ names, terms }: Wanted): boolean {
  return names.length > 0 && terms.length <= names.length;
}

/** Whether an exact selection lies within one by meaning: it is the smaller one that covers what is meant. */
function isWithin(exact: ErasureSelection, found: ErasureSelection): boolean {
  const isCovered = [...exact.cuts].every(([id, cuts]) =>
    cuts.every((cut) => (found.cuts.get(id) ?? []).some((one) => overlaps(one, cut))),
  );
  const isSmaller = lengthOf(exact) <= lengthOf(found);
  return (
    isSmaller &&
    isCovered &&
    [...exact.memories].every((memory) => found.memories.has(memory)) &&
    [...found.cuts.keys()].every((id) => exact.cuts.has(id))
  );
}

function lengthOf({ cuts }: ErasureSelection): number {
  return [...cuts.values()].flat().reduce((sum, { start, end }) => sum + end - start, 0);
}

async function selectByMemories(
  ports: AnswerSources,
  state: StoredContent,
  phrase: string,
  wanted: Wanted,
  asking: ForgetRequestSource | undefined,
): Promise<ErasureSelection> {
  const about = aboutOf(phrase);
  const byValues = (): Promise<ErasureSelection | undefined> => selectValues(state, phrase, wanted, asking);
  if (about?.isOwn) return selectOwn(ports, state, { phrase, about, wanted }, byValues);
  const isPerson = about?.person !== undefined;
  const named = !isPerson && namesValues(wanted) ? await byValues() : undefined;
  if (named) return named;
  // "the old line": a noun of information alone is too vague to match by.
  const isBare = wanted.slots.length > 0 && wanted.terms.length === 0 && !isPerson;
  if (!about || isBare) return NO_SELECTION;
  const memories = await memoriesAbout(ports, state, phrase, about);
  // Verbatim words from which no memory was read are erased alone.
  const isSaid = memories.size === 0 && !isPerson && wanted.run !== undefined;
  const verbatim = isSaid ? await byValues() : undefined;
  if (verbatim) return verbatim;
  const cuts = new Map<string, TextCut[]>();
  await cutSentences(state, memories, cuts, about);
  return addAliases(state, { memories, cuts });
}

/**
 * "my employer", "what car I drive": memories first; values if no memory matches, or if the words contain a
 * value too.
 */
async function selectOwn(
  ports: AnswerSources,
  state: StoredContent,
  { phrase, about, wanted }: { phrase: string; about: About; wanted: Wanted },
  byValues: () => Promise<ErasureSelection | undefined>,
): Promise<ErasureSelection> {
  const isDescribed = wanted.named.length + wanted.called.length === 0 && !wanted.part;
  const memories = isDescribed ? await memoriesAbout(ports, state, phrase, about) : new Set<Memory>();
  const isTold = memories.size === 0 ? namesValues(wanted) : wanted.follows !== undefined;
  const values = isTold ? await byValues() : undefined;
  if (values && memories.size === 0) return values;
  const meant = memories.size > 0 ? memories : await memoriesAbout(ports, state, phrase, about);
  const cuts = new Map<string, TextCut[]>();
  await cutSentences(state, meant, cuts, about);
  return mergeSelections([{ memories: meant, cuts }, ...(values ? [values] : [])]);
}

/** Adds content under another name given in the texts: "also known as", "call it", "the spelling". */
async function addAliases(state: StoredContent, found: ErasureSelection): Promise<ErasureSelection> {
  const memories = addContinuations(state, found.memories);
  const texts = [
    ...[...memories].map(({ text }) => text),
    ...[...found.cuts].flatMap(([id, spans]) => {
      const content = state.messages.get(id)?.content ?? "";
      return spans.map(({ start, end }) => content.slice(start, end));
    }),
  ];
  const aliases = [...new Set(texts.flatMap(aliasesIn))];
  if (aliases.length === 0) return { ...found, memories };
  const named: ErasureSelection[] = [];
  for (const alias of aliases) named.push(await selectName(state, alias));
  return mergeSelections([{ ...found, memories }, ...named]);
}

/** Everything that names it: memories in full, and sentences in full if nothing else depends on them. */
async function selectName(state: StoredContent, name: string): Promise<ErasureSelection> {
  const isHeld = ({ text, claim }: Memory): boolean =>
    findExactPhrase(`${text} ${claim?.value ?? ""}`, name).length > 0;
  const memories = new Set(await filterInSlices(state.memories.values(), isHeld));
  const cuts = new Map<string, TextCut[]>();
  const about = aboutOf(name);
  await cutSentences(state, memories, cuts, about && { ...about, isOwn: false });
  return { memories, cuts };
}
