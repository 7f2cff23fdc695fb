import type { ErasureSelection } from "../../domain/erasure-selection.ts";
import { checkWhere, matchesFilter, type Where } from "../../domain/filters/metadata-filter.ts";
import { checkWhereText, type WhereText } from "../../domain/filters/text-filter.ts";
import { checkName } from "../../domain/limits.ts";
import type { Memory, SourceSpan } from "../../domain/memory.ts";
import { getCitedIds, type Message } from "../../domain/message.ts";
import { dropContained, type TextCut } from "../../domain/text/cut-text.ts";
import { splitPassages } from "../../domain/text/split-text.ts";
import { toIsoTime } from "../../domain/time.ts";
import { filterInSlices, forEachInSlices } from "../../domain/time-slicing.ts";
import { invalid, MemoryError } from "../../errors.ts";
import type { ForgetRequestReader, ForgetRequestSource } from "../../ports/language/forget-request-reader.ts";
import type { Forget } from "../api/writing-types.ts";
import { selectAttachments } from "../attachments/erase-attachments.ts";
import type { Ports } from "../ports.ts";
import { selectMatchingUnits } from "../recall/matching-units.ts";
import type { UserState } from "../user-state/user-state.ts";

const EMPTY_REQUEST_MESSAGE =
  "forget: say what to forget: words, ids, session, where, whereText, from, to, topic, attachments or everything.";

/**
 * Finds the content to erase. Throws `invalid_input` for an empty filter and `not_found` for an unknown id.
 */
export async function selectForErasure(
  { forgetRequests }: Pick<Ports, "forgetRequests">,
  state: UserState,
  what: Forget,
  asking?: ForgetRequestSource,
): Promise<ErasureSelection> {
  return addMerged(state, await selectNamed(forgetRequests, state, what, asking));
}

async function selectNamed(
  reader: ForgetRequestReader,
  state: UserState,
  what: Forget,
  asking: ForgetRequestSource | undefined,
): Promise<ErasureSelection> {
  if (typeof what === "string")
    return addUnfounded(state, (await reader.selectDescribed(state, { phrase: what }, asking)).sure);
  if (typeof what !== "object" || what === null) throw invalid(EMPTY_REQUEST_MESSAGE);
  if ("everything" in what) {
    if (what.everything !== true) throw invalid("forget: everything must be true.");
    return {
      memories: new Set(state.memories.values()),
      cuts: await cutWholeMessages(state.messages.values()),
    };
  }
  if ("attachments" in what) return selectAttachments(reader, state, what.attachments);
  if ("ids" in what) return selectIds(reader, state, what.ids);
  if ("session" in what) {
    const session = checkName(what.session, "session");
    return selectMessages(
      state,
      (message) => message.session === session,
      () => false,
    );
  }
  if ("topic" in what) return reader.selectTopic(state, checkName(what.topic, "topic"));
  if ("where" in what) return selectWhere(state, what.where);
  if ("whereText" in what) return selectByText(reader, state, what.whereText);
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

/** The memories and passages whose own text matches, as a recall with this filter finds them. */
async function selectByText(
  reader: ForgetRequestReader,
  state: UserState,
  whereText: WhereText,
): Promise<ErasureSelection> {
  checkWhereText(whereText);
  if (Object.keys(whereText).length === 0)
    throw invalid("forget: an empty filter would erase everything. Pass { everything: true } to do that.");
  const matching = await selectMatchingUnits(state, whereText);
  const cuts = new Map<string, TextCut[]>();
  await forEachInSlices(
    state.messages.values(),
    (message) => {
      for (const { id, start, end } of splitPassages(message))
        if (matching.has(id))
          cuts.set(message.id, [...(cuts.get(message.id) ?? []), { start, end, put: "" }]);
    },
    PASSAGE_SLICE,
  );
  const memories = new Set<Memory>();
  await forEachInSlices(
    state.memories.values(),
    (memory) => {
      if (matching.has(memory.id) || isUnfounded(memory, cuts)) memories.add(memory);
    },
    SLICE,
  );
  await reader.cutSentences(state, memories, cuts);
  for (const [message, found] of cuts) cuts.set(message, dropContained(found));
  return { memories, cuts };
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

/** Items inspected between two yields to the event loop: about two milliseconds. */
const SLICE = 1000;
/** Messages split into passages between two yields. */
const PASSAGE_SLICE = 20;

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

async function selectIds(
  reader: ForgetRequestReader,
  state: UserState,
  ids: readonly string[],
): Promise<ErasureSelection> {
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
  await reader.cutSentences(state, memories, cuts);
  return { memories, cuts };
}

/** Items inspected between two yields to the event loop: about two milliseconds. */
const MERGED_SLICE = 2000;

/** Adds the memories that go with what words select: those that rest on it alone, and those that say the same. */
export async function addDependents(
  state: UserState,
  selection: ErasureSelection,
): Promise<ErasureSelection> {
  return addMerged(state, await addUnfounded(state, selection));
}

/** Whether a memory was read from messages, and every quote of it is cut. */
function isUnfounded({ sources }: Memory, cuts: ReadonlyMap<string, readonly TextCut[]>): boolean {
  const isCut = ({ message, start, end }: SourceSpan): boolean =>
    cuts.get(message)?.some((cut) => cut.start <= start && end <= cut.end) ?? false;
  return sources.length > 0 && sources.every(isCut);
}

/** A memory whose every quote is cut has no words left that it was read from, and is erased with them. */
async function addUnfounded(state: UserState, selection: ErasureSelection): Promise<ErasureSelection> {
  const { memories, cuts } = selection;
  if (cuts.size === 0) return selection;
  const unfounded = await filterInSlices(
    state.memories.values(),
    (memory) => !memories.has(memory) && isUnfounded(memory, cuts),
    SLICE,
  );
  return unfounded.length === 0
    ? selection
    : { ...selection, memories: new Set([...memories, ...unfounded]) };
}

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
