import {
  findDescriptionSpans,
  hasBytes,
  isAttachmentPart,
  listAttachmentParts,
} from "../../domain/attachment.ts";
import type { ErasureSelection } from "../../domain/erasure-selection.ts";
import type { Memory, SourceSpan } from "../../domain/memory.ts";
import type { Message, Part } from "../../domain/message.ts";
import type { Scope } from "../../domain/scope.ts";
import { dropContained, type TextCut } from "../../domain/text/cut-text.ts";
import { forEachInSlices } from "../../domain/time-slicing.ts";
import { invalid, MemoryError } from "../../errors.ts";
import type { ForgetRequestReader } from "../../ports/language/forget-request-reader.ts";
import type { Ports } from "../ports.ts";
import type { UserState } from "../user-state/user-state.ts";

/** Items inspected between two yields to the event loop: about two milliseconds. */
const SLICE = 1000;

/** Attachments by id: they, the words that describe them, and the memories that rest on these words alone. */
export async function selectAttachments(
  reader: ForgetRequestReader,
  state: UserState,
  ids: readonly string[],
): Promise<ErasureSelection> {
  if (!Array.isArray(ids) || ids.length === 0 || !ids.every((id) => typeof id === "string"))
    throw invalid("forget: attachments must name at least one attachment.");
  const wanted = new Set(ids);
  const found = new Set<string>();
  const cuts = new Map<string, TextCut[]>();
  const attachments = new Map<string, ReadonlySet<number>>();
  await forEachInSlices(
    state.messages.values(),
    (message) => {
      const parts = listAttachmentParts(message);
      const places = new Set(parts.flatMap(({ id }, i) => (wanted.has(id) ? [i] : [])));
      if (places.size === 0) return;
      attachments.set(message.id, places);
      const spans = parts.flatMap((part, i) => {
        if (!places.has(i)) return [];
        found.add(part.id);
        return findDescriptionSpans(message.content, part).map((span) => ({ ...span, put: "" }));
      });
      cuts.set(message.id, spans);
    },
    SLICE,
  );
  if (found.size < wanted.size)
    throw new MemoryError("not_found", "forget: one of the attachments does not exist. Nothing was erased.");
  const memories = new Set<Memory>();
  const isCut = ({ message, start, end }: SourceSpan): boolean =>
    cuts.get(message)?.some((cut) => cut.start <= start && end <= cut.end) ?? false;
  await forEachInSlices(
    state.memories.values(),
    (memory) => {
      if (memory.sources.length > 0 && memory.sources.every(isCut)) memories.add(memory);
    },
    SLICE,
  );
  await reader.cutSentences(state, memories, cuts);
  for (const [message, spans] of cuts) cuts.set(message, dropContained(spans));
  return { memories, cuts, attachments };
}

/**
 * Adds what belongs together. A description by a model is erased with its attachment. Every reference to an attachment is erased
 * with the description.
 */
export async function addDescriptions(
  { messages, memories }: Pick<UserState, "messages" | "memories">,
  selection: ErasureSelection,
): Promise<ErasureSelection> {
  const { withParts, emptied, unwanted } = await findDescriptions(messages, selection);
  if (emptied.size + unwanted.size === 0) return selection;
  const cuts = new Map<string, readonly TextCut[]>(selection.cuts);
  const attachments = new Map<string, ReadonlySet<number>>(selection.attachments ?? []);
  for (const message of withParts) {
    if (emptied.has(message.id)) cuts.set(message.id, [{ start: 0, end: message.content.length, put: "" }]);
    const parts = listAttachmentParts(message);
    const places = parts.flatMap(({ id, of }, i) => (of === undefined && unwanted.has(id) ? [i] : []));
    if (places.length === 0) continue;
    attachments.set(message.id, new Set([...(attachments.get(message.id) ?? []), ...places]));
    if (!cuts.has(message.id)) cuts.set(message.id, []);
  }
  const gone = [...memories.values()].filter((memory) => restsOn(memory, emptied));
  return { ...selection, memories: new Set([...selection.memories, ...gone]), cuts, attachments };
}

/** Whether a memory comes from these messages alone. */
function restsOn({ sources }: Memory, messages: ReadonlySet<string>): boolean {
  return sources.length > 0 && sources.every(({ message }) => messages.has(message));
}

/** Descriptions whose attachment is erased, and attachments whose description is; among the messages with parts. */
async function findDescriptions(
  messages: UserState["messages"],
  { cuts }: ErasureSelection,
): Promise<{
  readonly withParts: readonly Message[];
  readonly emptied: ReadonlySet<string>;
  readonly unwanted: ReadonlySet<string>;
}> {
  const withParts: Message[] = [];
  const emptied = new Set<string>();
  const unwanted = new Set<string>();
  await forEachInSlices(
    messages.values(),
    (message) => {
      if (!message.parts) return;
      withParts.push(message);
      for (const { of, id } of listAttachmentParts(message)) {
        if (of === undefined || !messages.has(of)) continue;
        if (cuts.has(of)) emptied.add(message.id);
        else if (cuts.has(message.id)) unwanted.add(id);
      }
    },
    SLICE,
  );
  return { withParts, emptied, unwanted };
}

/**
 * The other parts of a message after an erasure. An attachment goes with any word of its description. One without a description
 * goes with any word of its message that describes no other attachment. `places` names further ones, by their number.
 */
export function keepAttachments(
  { content, parts = [] }: Pick<Message, "content" | "parts">,
  cuts: readonly TextCut[],
  places: ReadonlySet<number> = new Set(),
): Part[] {
  const spans = listAttachmentParts({ parts }).map((part) => findDescriptionSpans(content, part));
  let number = -1;
  return parts.filter((part) => {
    if (part.type === "text") return false;
    if (!isAttachmentPart(part)) return true;
    number += 1;
    if (places.has(number)) return false;
    const own = spans[number] ?? [];
    const others = spans.filter((_spans, i) => i !== number).flat();
    return !cuts.some((cut) =>
      own.length > 0
        ? own.some(({ start, end }) => cut.start < end && start < cut.end)
        : !others.some(({ start, end }) => start <= cut.start && cut.end <= end),
    );
  });
}

/** Parts whose texts and descriptions are the content, in order. A description is where it is in the content. */
export function joinParts(content: string, others: readonly Part[]): Part[] {
  const parts: Part[] = [];
  let from = 0;
  const pushText = (end: number): void => {
    const text = content.slice(from, end).replace(/^\n|\n$/g, "");
    if (text !== "") parts.push({ type: "text", text });
    from = end;
  };
  const last: Part[] = [];
  for (const part of others) {
    const description = isAttachmentPart(part) ? part.description : undefined;
    const at = description === undefined ? -1 : content.indexOf(description, from);
    if (description === undefined || at === -1) {
      last.push(part);
      continue;
    }
    pushText(at);
    from += description.length;
    parts.push(part);
  }
  pushText(content.length);
  return [...parts, ...last];
}

/** How many attachments of a message an erasure removes. */
export function countDroppedAttachments(
  message: Message,
  cuts: readonly TextCut[],
  places?: ReadonlySet<number>,
): number {
  if (!message.parts) return 0;
  const kept = keepAttachments(message, cuts, places);
  return listAttachmentParts(message).length - listAttachmentParts({ parts: kept }).length;
}

/** The stored attachments that no message refers to once `remaining` replace their former selves. */
export async function findUnreferenced(
  { store }: Pick<Ports, "store">,
  state: UserState,
  remaining: readonly Message[],
): Promise<string[]> {
  const stored = (await store.attachments?.list(state.scope)) ?? [];
  if (stored.length === 0) return [];
  const changed = new Map(remaining.map((message) => [message.id, message]));
  const referenced = new Set<string>();
  await forEachInSlices(
    state.messages.values(),
    (message) => {
      const now = changed.get(message.id) ?? message;
      for (const part of now.parts ? listAttachmentParts(now) : [])
        if (hasBytes(part)) referenced.add(part.id);
    },
    SLICE,
  );
  return stored.map(({ digest }) => digest).filter((digest) => !referenced.has(digest));
}

const SAMPLE_BYTES = 48;
/** Behind the header, which many files share. */
const HEADER_BYTES = 64;
/** Fewer different bytes are in any file: silence, padding, one colour. */
const MIN_DISTINCT_BYTES = 16;
/** Attachments that are sampled. */
const MAX_SAMPLED = 100;

/** Some bytes of each attachment, for the search that shows that they are gone from the files. */
export async function sampleAttachments(
  { store }: Pick<Ports, "store">,
  scope: Scope,
  digests: readonly string[],
): Promise<Uint8Array[]> {
  const samples: Uint8Array[] = [];
  for (const digest of digests.slice(0, MAX_SAMPLED)) {
    const { bytes = new Uint8Array() } = (await store.attachments?.read(scope, digest)) ?? {};
    const last = Math.max(0, bytes.length - SAMPLE_BYTES);
    const places = new Set([Math.min(HEADER_BYTES, last), Math.floor(last / 2), last]);
    for (const at of places) {
      const sample = bytes.slice(at, at + SAMPLE_BYTES);
      if (new Set(sample).size >= MIN_DISTINCT_BYTES) samples.push(sample);
    }
  }
  return samples;
}

/** How many erased attachments are still stored. */
export async function countRemaining(
  { store }: Pick<Ports, "store">,
  scope: Scope,
  digests: readonly string[],
): Promise<number> {
  if (digests.length === 0) return 0;
  const gone = new Set(digests);
  return ((await store.attachments?.list(scope)) ?? []).filter(({ digest }) => gone.has(digest)).length;
}
