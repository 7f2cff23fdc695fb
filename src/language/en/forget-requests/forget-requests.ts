import { type ErasureSelection, mergeSelections, NO_SELECTION } from "../../../domain/erasure-selection.ts";
import type { Memory } from "../../../domain/memory.ts";
import { extractTerms } from "../../../domain/search/search-terms.ts";
import type { TextCut } from "../../../domain/text/cut-text.ts";
import { findExactPhrase } from "../../../domain/text/phrase-index.ts";
import { filterInSlices } from "../../../domain/time-slicing.ts";
import { invalid } from "../../../errors.ts";
import type {
  DescribedSelection,
  ForgetDescription,
  ForgetRequestReader,
  ForgetRequestSource,
} from "../../../ports/language/forget-request-reader.ts";
import type { StoredContent } from "../../../ports/language/stored-content.ts";
import { toErasureCommitment } from "../grammar/forgetting/delayed-requests.ts";
import { toCanonicalRelation } from "../relations/relations.ts";
import { findTopic, isOfTopic, isRelationName, TOPICS } from "../topics.ts";
import { type About, aboutOf, isOfOther, isVerbOfOwn, memoriesAbout } from "./about.ts";
import { aliasesIn, isAliasOfBefore, isChangeOfBefore } from "./aliases.ts";
import type { AnswerSources } from "./asked.ts";
import { cutSentences, headSentences } from "./cuts.ts";
import { keepExcepted } from "./exceptions.ts";
import { type Description, type RatedSegment, type RatingPorts, rateSegments } from "./retrieve.ts";
import {
  chooseSegments,
  findValues,
  isAllMeant,
  narrowToClauses,
  narrowToItems,
  toSelection,
} from "./select-spans.ts";
import { selectValues } from "./select-values.ts";
import { thingsIn } from "./things.ts";
import { tellsErased, tellsEvent } from "./told-events.ts";
import { namesValues, type Wanted, wantedIn } from "./wanted.ts";

const MOST_LEFT = 1;

/** Reads requests to forget in English. Questions in them are read by `questions`. */
export function englishForgetRequests(
  questions: AnswerSources["questions"],
  rating: RatingPorts = {},
): ForgetRequestReader {
  const ports: ForgetSources = { questions, ...rating };
  return {
    selectDescribed: (content, description, source) => selectAbout(ports, content, description, source),
    selectBefore: (content, source) => selectBefore(ports, content, source),
    keepExcepted: (content, found, except, source) =>
      keepExcepted(
        (some, phrase) => selectAbout(ports, some, { phrase }, source, true),
        content,
        found,
        except,
      ),
    selectTopic,
    findMemories: (content, phrase) => findMeantMemories(ports, content, phrase),
    cutSentences: (content, memories, cuts) => cutSentences(content, memories, cuts),
    findName,
    findValues,
    describeDelayed: toErasureCommitment,
    tellsEvent,
    tellsErased,
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

/** What requests are read by. */
interface ForgetSources extends AnswerSources, RatingPorts {}

/** Each item of a list by itself. */
async function selectAbout(
  ports: ForgetSources,
  state: StoredContent,
  { phrase, except, isBroad = false }: ForgetDescription,
  asking?: ForgetRequestSource,
  isAlone = false,
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
    selections.push(await selectThing(ports, state, thing, { isListed, asking, isBroad, isAlone }));
  // What else is to stay may be among what the clauses tell.
  const isWhole = except === undefined && !isAlone;
  return {
    sure: mergeSelections(selections.map((one) => (isWhole && one.isCertain ? allOf(one) : one.sure))),
    unsure: mergeSelections(selections.map((one) => (isWhole && one.isCertain ? NO_SELECTION : one.unsure))),
    isLikely: selections.some(({ isLikely }) => isLikely === true),
    isCertain: isWhole && selections.every((one) => one.isCertain === true),
  };
}

function allOf({ sure, unsure }: DescribedSelection): ErasureSelection {
  return mergeSelections([sure, unsure]);
}

interface ThingContext {
  readonly isListed: boolean;
  readonly asking: ForgetRequestSource | undefined;
  readonly isBroad: boolean;
  readonly isAlone: boolean;
}

/** Named values where they stand; else the clauses that the words mean; else the memories that answer them as a question. */
async function selectThing(
  ports: ForgetSources,
  state: StoredContent,
  phrase: string,
  { isListed, asking, isBroad, isAlone }: ThingContext,
): Promise<DescribedSelection> {
  const wanted = wantedIn(phrase, { isListed });
  const speaker = speakerOf(wanted, asking);
  const description: Description = {
    phrase,
    wanted,
    isBroad,
    isAlone,
    ...(speaker === undefined ? {} : { speaker }),
  };
  const meant = await selectByMemories(ports, state, phrase, wanted, asking);
  const about = aboutOf(phrase);
  const rated = (await rateSegments(ports, state, description, asking)).filter(
    ({ text }) => about === undefined || !isOfOther(text, about),
  );
  // "Magnet", "2026-03-01": a name is all that is meant, and goes as it stands.
  const isName = (namesOnly(wanted) && !isBroad) || namesValuesOnly(wanted);
  const narrow = isName
    ? narrowToItems(state, meant, rated, phrase)
    : narrowToClauses(state, meant, rated, { isWide: isBroad, about });
  const exact = onlyBy(state, narrow, speaker);
  const chosen = await chooseSegments(rated, asking?.message.id, isAlone, ports.readRequest);
  if (exact.memories.size + exact.cuts.size > 0) {
    // A value that was asked for and found is all of it.
    const isAll = isName || (!isBroad && (exact.values ?? []).length > 0);
    const rest = isAll ? [] : chosen.filter((one) => !isCovered(one, exact));
    const unsure = await toSelection(state, rest, wanted);
    return { sure: exact, unsure, isCertain: isAllMeant(rated, [exact, unsure]) };
  }
  if (chosen.length === 0) return { sure: NO_SELECTION, unsure: NO_SELECTION };
  const unsure = await addAliases(state, await toSelection(state, chosen, wanted), wanted.terms);
  // A name that nothing stored has means nothing for certain: other clauses are only like it.
  const isNamed = isName || wanted.named.length > 0;
  return { sure: NO_SELECTION, unsure, isLikely: true, isCertain: !isNamed && isAllMeant(rated, [unsure]) };
}

/** From this probability on, a request that describes nothing means words of an earlier message. */
const MEANT_BEFORE = 0.75;

/** The clauses of earlier messages that a request means, if one of them is likelier than all that its own message tells beside it. */
async function selectBefore(
  ports: ForgetSources,
  state: StoredContent,
  source: ForgetRequestSource,
): Promise<ErasureSelection> {
  const { message, spans } = source;
  const phrase = spans.map(({ start, end }) => message.content.slice(start, end)).join(" ");
  const wanted = wantedIn(phrase);
  const rated = await rateSegments(ports, state, { phrase, wanted, isBroad: false }, source);
  const [own, before] = [
    rated.filter((one) => one.message?.id === message.id),
    rated.filter((one) => one.message?.id !== message.id),
  ];
  const least = Math.max(MEANT_BEFORE, ...own.map(({ probability }) => probability));
  const isMeant = before.some(
    (one) => one.message !== undefined && one.message.role !== "assistant" && one.probability > least,
  );
  if (!isMeant) return NO_SELECTION;
  return toSelection(state, await chooseSegments(before, message.id, false, ports.readRequest), wanted);
}

/** Whether a selection holds the telling words of a clause already. */
function isCovered(
  { message, memory, start, end, text }: RatedSegment,
  { memories, cuts }: ErasureSelection,
): boolean {
  if (memory) return memories.has(memory);
  const some = cuts.get(message?.id ?? "") ?? [];
  const left = some.reduce((rest, cut) => {
    const [from, to] = [Math.max(0, cut.start - start), Math.min(end, cut.end) - start];
    return to > from ? rest.slice(0, from) + " ".repeat(to - from) + rest.slice(to) : rest;
  }, text);
  return left !== text && extractTerms(left).length <= MOST_LEFT;
}

/** "My comment", "what I said on the intern": among several people, only the words of who asks are meant. */
function speakerOf({ head, isOwn }: Wanted, asking: ForgetRequestSource | undefined): string | undefined {
  if (!asking) return undefined;
  const { message, spans } = asking;
  const isOwnText = head?.isText === true && isOwn;
  const isOfAsker =
    isOwnText || spans.some(({ start, end }) => OWN_WORDS.test(message.content.slice(start, end)));
  return isOfAsker ? message.name : undefined;
}

const OWN_WORDS =
  /\b(?:what|all|anything|everything|stuff|things?)(?: that)? I(?:['’]ve| have)?(?: just| ever)? (?:said|told|wrote|posted|mentioned|shared)\b/i;

/** The part of a selection that one speaker said. */
function onlyBy(
  { messages }: StoredContent,
  selection: ErasureSelection,
  speaker: string | undefined,
): ErasureSelection {
  if (speaker === undefined) return selection;
  const isOther = (id: string): boolean => (messages.get(id)?.name ?? speaker) !== speaker;
  return {
    ...selection,
    memories: new Set(
      [...selection.memories].filter(({ sources }) => !sources.some(({ message }) => isOther(message))),
    ),
    cuts: new Map([...selection.cuts].filter(([id]) => !isOther(id))),
  };
}

/** "forget 2026-03-01": the value itself, without a word on what it is. */
function namesValuesOnly({ named, terms, slots }: Wanted): boolean {
  return named.length > 0 && terms.length + slots.length === 0;
}

/** "forget Tove": all that is said of whom the words name. */
function namesOnly({ names, terms }: Wanted): boolean {
  return names.length > 0 && terms.length <= names.length;
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
  // Verbatim words from which no memory was read are erased alone, unless they head what was said.
  const isSaid = memories.size === 0 && !isPerson && wanted.run !== undefined;
  const verbatim = isSaid && !(await headSentences(state, about)) ? await byValues() : undefined;
  if (verbatim) return verbatim;
  const cuts = new Map<string, TextCut[]>();
  await cutSentences(state, memories, cuts, about);
  return addAliases(state, { memories, cuts }, about.terms);
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
  await cutSentences(state, meant, cuts, isVerbOfOwn(phrase, about) ? undefined : about);
  return mergeSelections([{ memories: meant, cuts }, ...(values ? [values] : [])]);
}

/** Adds content under another name given in the texts: "also known as", "call it", "the spelling". */
async function addAliases(
  state: StoredContent,
  found: ErasureSelection,
  stems: readonly string[],
): Promise<ErasureSelection> {
  const memories = addContinuations(state, found.memories);
  const texts = [
    ...[...memories].map(({ text }) => text),
    ...[...found.cuts].flatMap(([id, spans]) => {
      const content = state.messages.get(id)?.content ?? "";
      return spans.map(({ start, end }) => content.slice(start, end));
    }),
  ];
  const aliases = [...new Set(texts.flatMap((text) => aliasesIn(text, stems)))];
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
