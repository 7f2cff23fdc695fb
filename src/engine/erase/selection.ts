import { checkName } from "../../domain/limits.ts";
import type { Memory } from "../../domain/memory.ts";
import { getCitedIds, type Message } from "../../domain/message.ts";
import { checkWhere, matchesFilter, type Where } from "../../domain/metadata-filter.ts";
import type { TextCut } from "../../domain/text/cut-text.ts";
import { findExactPhrase } from "../../domain/text/phrase-index.ts";
import { toIsoTime } from "../../domain/time.ts";
import { filterInSlices, forEachInSlices } from "../../domain/time-slicing.ts";
import { invalid, MemoryError } from "../../errors.ts";
import { type About, aboutOf, memoriesAbout } from "../../language/en/forget-requests/about.ts";
import { aliasesIn, isAliasOfBefore, isChangeOfBefore } from "../../language/en/forget-requests/aliases.ts";
import { cutSentences } from "../../language/en/forget-requests/cuts.ts";
import { type Asking, selectValues } from "../../language/en/forget-requests/select-values.ts";
import { thingsIn } from "../../language/en/forget-requests/things.ts";
import type { Value } from "../../language/en/forget-requests/values.ts";
import { namesValues, type Wanted, wantedIn } from "../../language/en/forget-requests/wanted.ts";
import { toCanonicalRelation } from "../../language/en/relations/relations.ts";
import { findTopic, isOfTopic, isRelationName, TOPICS } from "../../language/en/topics.ts";
import type { Forget } from "../api.ts";
import type { Ports } from "../ports.ts";
import type { UserState } from "../user-state/user-state.ts";

/** The content of an erasure: memories in full, and spans of messages. */
export interface ErasureSelection {
  readonly memories: ReadonlySet<Memory>;
  readonly cuts: ReadonlyMap<string, readonly TextCut[]>;
  /** Values to erase wherever they occur, and wordings; both get tombstones. */
  readonly values?: readonly Value[];
  readonly wordings?: readonly string[];
}

const EMPTY_REQUEST_MESSAGE =
  "forget: say what to forget: words, ids, session, where, from, to, topic or everything.";

/**
 * Finds the content to erase. Throws `invalid_input` for an empty filter and `not_found` for an unknown id.
 */
export async function selectForErasure(
  ports: Pick<Ports, "questions">,
  state: UserState,
  what: Forget,
  asking?: Asking,
): Promise<ErasureSelection> {
  return addMerged(state, await selectNamed(ports, state, what, asking));
}

async function selectNamed(
  ports: Pick<Ports, "questions">,
  state: UserState,
  what: Forget,
  asking: Asking | undefined,
): Promise<ErasureSelection> {
  if (typeof what === "string") return selectAbout(ports, state, what, asking);
  if (typeof what !== "object" || what === null) throw invalid(EMPTY_REQUEST_MESSAGE);
  if ("everything" in what) {
    if (what.everything !== true) throw invalid("forget: everything must be true.");
    return {
      memories: new Set(state.memories.values()),
      cuts: await cutWholeMessages(state.messages.values()),
    };
  }
  if ("ids" in what) return selectIds(state, what.ids);
  if ("session" in what) {
    const session = checkName(what.session, "session");
    return selectMessages(
      state,
      (message) => message.session === session,
      () => false,
    );
  }
  if ("topic" in what) return selectTopic(state, what.topic);
  if ("where" in what) return selectWhere(state, what.where);
  return selectTime(state, what);
}

async function selectWhere(state: UserState, where: Where): Promise<ErasureSelection> {
  if (typeof where !== "object" || where === null || Object.keys(where).length === 0) {
    throw invalid("forget: an empty filter would erase everything. Pass { everything: true } to do that.");
  }
  checkWhere(where);
  const passes = (one: { metadata?: Message["metadata"] }): boolean => matchesFilter(where, one.metadata);
  return selectMessages(state, passes, passes);
}

/** Messages said between two times, and memories added by hand in that time. */
async function selectTime(
  state: UserState,
  time: { from?: Date | string; to?: Date | string },
): Promise<ErasureSelection> {
  const from = time.from === undefined ? undefined : toIsoTime(time.from, "from");
  const to = time.to === undefined ? undefined : toIsoTime(time.to, "to");
  if (from === undefined && to === undefined) {
    throw invalid(EMPTY_REQUEST_MESSAGE);
  }
  if (from !== undefined && to !== undefined && to <= from) {
    throw invalid("forget: to must be after from.");
  }
  const isThen = ({ at }: { at: string }): boolean =>
    (from === undefined || at >= from) && (to === undefined || at < to);
  return selectMessages(state, isThen, (memory) => memory.sources.length === 0 && isThen(memory));
}

/** The memories of a topic or a relation, and the words that they came from. */
async function selectTopic(state: UserState, name: string): Promise<ErasureSelection> {
  const wanted = checkName(name, "topic");
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

/** Items inspected between two yields to the event loop: about two milliseconds. */
const SLICE = 1000;

async function cutWholeMessages(messages: Iterable<Message>): Promise<Map<string, TextCut[]>> {
  const cuts = new Map<string, TextCut[]>();
  await forEachInSlices(
    messages,
    ({ id, content, parts }) => {
      if (content !== "" || parts) cuts.set(id, [{ start: 0, end: content.length, put: "" }]);
    },
    SLICE,
  );
  return cuts;
}

/** Whole messages, and the memories that depend on them alone or are selected themselves. */
async function selectMessages(
  state: UserState,
  takesMessage: (message: Message) => boolean,
  takesMemory: (memory: Memory) => boolean,
): Promise<ErasureSelection> {
  const cuts = await cutWholeMessages(await filterInSlices(state.messages.values(), takesMessage, SLICE));
  const memories = new Set<Memory>();
  await forEachInSlices(
    state.memories.values(),
    (memory) => {
      const rests = memory.sources.length > 0 && memory.sources.every(({ message }) => cuts.has(message));
      if (rests || takesMemory(memory)) memories.add(memory);
    },
    SLICE,
  );
  return { memories, cuts };
}

async function selectIds(state: UserState, ids: readonly string[]): Promise<ErasureSelection> {
  if (!Array.isArray(ids) || ids.length === 0)
    throw invalid("forget: ids must name at least one memory or message.");
  const memories = new Set<Memory>();
  const messages: Message[] = [];
  for (const id of ids) {
    const memory = state.memories.get(id);
    const message = state.messages.get(id);
    if (!memory && !message)
      throw new MemoryError("not_found", "forget: one of the ids does not exist. Nothing was erased.");
    if (memory) memories.add(memory);
    if (message) messages.push(message);
  }
  const cuts = await cutWholeMessages(messages);
  await forEachInSlices(
    state.memories.values(),
    (memory) => {
      if (memory.sources.length > 0 && memory.sources.every(({ message }) => cuts.has(message)))
        memories.add(memory);
    },
    SLICE,
  );
  await cutSentences(state, memories, cuts);
  return { memories, cuts };
}

/** The memories that words describe, without their dependants. */
export async function findMeantMemories(
  ports: Pick<Ports, "questions">,
  state: UserState,
  phrase: string,
): Promise<ReadonlySet<Memory>> {
  const about = aboutOf(phrase);
  return about ? addContinuations(state, await memoriesAbout(ports, state, phrase, about)) : new Set();
}

/** Adds memories that continue them and were added by hand: another name, a changed value. */
function addContinuations(state: UserState, found: ReadonlySet<Memory>): Set<Memory> {
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

/** Each item of a list by itself: its values or its wording, else the memories and sentences about it. */
async function selectAbout(
  ports: Pick<Ports, "questions">,
  state: UserState,
  phrase: string,
  asking?: Asking,
): Promise<ErasureSelection> {
  const things = thingsIn(phrase);
  const isListed = things.length > 1 && things.some((thing) => wantedIn(thing).named.length > 0);
  const selections: ErasureSelection[] = [];
  for (const thing of things) selections.push(await selectThing(ports, state, thing, { isListed, asking }));
  return mergeSelections(selections);
}

async function selectThing(
  ports: Pick<Ports, "questions">,
  state: UserState,
  phrase: string,
  { isListed, asking }: { isListed: boolean; asking: Asking | undefined },
): Promise<ErasureSelection> {
  const about = aboutOf(phrase);
  const wanted = wantedIn(phrase, { isListed });
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

const NO_SELECTION: ErasureSelection = { memories: new Set(), cuts: new Map() };

/**
 * "my employer", "what car I drive": memories first; values if no memory matches, or if the words contain a
 * value too.
 */
async function selectOwn(
  ports: Pick<Ports, "questions">,
  state: UserState,
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
async function addAliases(state: UserState, found: ErasureSelection): Promise<ErasureSelection> {
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
async function selectName(state: UserState, name: string): Promise<ErasureSelection> {
  const isHeld = ({ text, claim }: Memory): boolean =>
    findExactPhrase(`${text} ${claim?.value ?? ""}`, name).length > 0;
  const memories = new Set(await filterInSlices(state.memories.values(), isHeld));
  const cuts = new Map<string, TextCut[]>();
  const about = aboutOf(name);
  await cutSentences(state, memories, cuts, about && { ...about, isOwn: false });
  return { memories, cuts };
}

/** The union of several requests. */
export function mergeSelections(selections: readonly ErasureSelection[]): ErasureSelection {
  const cuts = new Map<string, TextCut[]>();
  for (const [id, more] of selections.flatMap((one) => [...one.cuts]))
    cuts.set(id, [...(cuts.get(id) ?? []), ...more]);
  return {
    memories: new Set(selections.flatMap(({ memories }) => [...memories])),
    cuts,
    values: selections.flatMap(({ values = [] }) => values),
    wordings: selections.flatMap(({ wordings = [] }) => wordings),
  };
}

/** Items inspected between two yields to the event loop: about two milliseconds. */
const MERGED_SLICE = 2000;

/** A memory that was merged into a selected one says the same and is erased with it. */
async function addMerged(state: UserState, selection: ErasureSelection): Promise<ErasureSelection> {
  const memories = new Set(selection.memories);
  const ids = new Set([...memories].map(({ id }) => id));
  const merged = await filterInSlices(
    state.memories.values(),
    ({ archived, supersededBy }) => archived === true && supersededBy !== undefined,
    MERGED_SLICE,
  );
  for (let before = -1; before !== memories.size; ) {
    before = memories.size;
    for (const memory of merged) {
      if (!ids.has(memory.supersededBy ?? "")) continue;
      memories.add(memory);
      ids.add(memory.id);
    }
  }
  return memories.size === selection.memories.size ? selection : { ...selection, memories };
}

/** Adds a model's replies that are based on the selection: they paraphrase it, so they are erased in full. */
export async function addReplies(
  { messages }: Pick<UserState, "messages">,
  selection: ErasureSelection,
): Promise<ErasureSelection> {
  const gone = new Set([...selection.memories].map(({ id }) => id));
  const cuts = new Map<string, readonly TextCut[]>(selection.cuts);
  const isGone = (id: string): boolean =>
    // A passage is erased with its message.
    gone.has(id) || selection.cuts.has(id) || selection.cuts.has(id.replace(/#\d+$/, ""));
  await forEachInSlices(messages.values(), (message) => {
    if (message.content !== "" && getCitedIds(message).some(isGone))
      cuts.set(message.id, [{ start: 0, end: message.content.length, put: "" }]);
  });
  return { ...selection, cuts };
}
