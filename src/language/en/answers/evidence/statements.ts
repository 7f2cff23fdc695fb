import { isDelayedErasure } from "../../../../domain/delayed-erasure.ts";
import { isAboutLater, isTrueAt } from "../../../../domain/memories/current-memories.ts";
import type { Memory } from "../../../../domain/memory.ts";
import type { Message } from "../../../../domain/message.ts";
import type { Item } from "../../../../domain/recall.ts";
import { toWordKey } from "../../../../domain/search/search-terms.ts";
import { spansOverlap, splitSentences, type TextSpan } from "../../../../domain/text/split-text.ts";
import type { AnswerRequest, ComposedText } from "../../../../ports/language/answerer.ts";
import type { StoredContent } from "../../../../ports/language/stored-content.ts";
import { ownSpans } from "../../grammar/no-facts/borrowed.ts";
import { besideHoles, closeHoles } from "../../grammar/words/holes.ts";
import type { AnswerIndex } from "../answer-index.ts";
import { bagOf, essence } from "../essence.ts";

/** One statement that may carry an answer: a memory, or one sentence of the user's. */
export interface EvidenceStatement {
  /** The id of the memory, or of the passage that the sentence stands in. */
  readonly id: string;
  readonly from: "claims" | "memory" | "sentence";
  /** What to say, where it is not the text: the answer that was composed from claims. */
  readonly said?: ComposedText;
  /** Whether it was composed as all that is of a kind, or their number. */
  readonly isListed: boolean;
  readonly text: string;
  /** The sentence before it, where it is needed to understand it ("He restores organs"). */
  readonly lead: string;
  /** Who said it, in a conversation among several people. */
  readonly speaker: string | undefined;
  /** When it was said (ISO 8601), and the UTC offset of the place. */
  readonly at: string;
  readonly zone: string | undefined;
  /** Recall's score; 0 where recall did not return it. */
  readonly score: number;
  /** Recall's place, from 0. */
  readonly rank: number;
  /** Whether it no longer holds. */
  readonly isOver: boolean;
  /** Whom its memories are about: `user`, `user/teammate`, a name. */
  readonly subjects: readonly string[];
  /** Whether it will only hold later. */
  readonly isLater: boolean;
  readonly memory: Memory | undefined;
  /** The words in the message, to tell what was said in the same breath. */
  readonly source: { readonly message: string; readonly start: number; readonly end: number } | undefined;
}

export interface StatementSources {
  readonly question: string;
  readonly user: string;
  readonly items: readonly Item[];
  readonly content: StoredContent;
  readonly index: AnswerIndex;
  readonly mayUse: (memory: Memory) => boolean;
  /** Whether the caller set no bounds to what may be looked at. */
  readonly isUnbounded: boolean;
  readonly now: string;
  readonly asOf: string | undefined;
  readonly toQuotableText: AnswerRequest["toQuotableText"];
}

/** Up to so many messages all that was said is looked at, whatever recall found. */
const READ_WHOLE = 40;
/** Items beyond these are not looked at. */
const MAX_ITEMS = 20;
const MAX_SENTENCES = 60;
const MAX_LENGTH = 500;

/** The answer that was composed from claims, as a statement: compared by the words of the memories it rests on. */
export function fromComposed(
  sources: StatementSources,
  composed: ComposedText,
  isListed: boolean,
): EvidenceStatement {
  const memories = composed.used.flatMap((id) => sources.content.memories.get(id) ?? []);
  const [memory] = memories;
  const rank = sources.items.findIndex(({ id }) => composed.used.includes(id));
  const message = memory?.sources[0] && sources.content.messages.get(memory.sources[0].message);
  return {
    id: composed.used[0] ?? "",
    from: "claims",
    said: composed,
    isListed,
    text: memories.map(({ text }) => text).join(". ") || composed.text,
    lead: "",
    speaker: undefined,
    at: memory?.at ?? "",
    zone: message?.zone,
    score: sources.items[rank]?.score ?? 0,
    rank: rank < 0 ? sources.items.length : rank,
    isOver: false,
    subjects: subjectsOf(memories),
    isLater: false,
    memory,
    source: memory?.sources[0],
  };
}

/** The statements that recall found: its memories, and the sentences of the user's messages behind its items. */
export function listStatements(sources: StatementSources): EvidenceStatement[] {
  const { content } = sources;
  const items = itemsIn(sources);
  const memories = items.flatMap((placed) => fromMemory(sources, placed) ?? []);
  const sentences: EvidenceStatement[] = [];
  for (const [id, place] of messagesBehind(sources, items)) {
    const message = content.messages.get(id);
    if (message?.role !== "user" || message.undone) continue;
    sentences.push(...sentencesOf(sources, message, place));
    if (sentences.length >= MAX_SENTENCES) break;
  }
  return [...memories, ...sentences];
}

/** What stands behind a statement: an item of recall with its place, or a message that recall did not return. */
interface Placed {
  readonly id: string;
  readonly item: Item | undefined;
  readonly score: number;
  readonly rank: number;
}

/** Whether all that a user has told may be looked at, whatever recall found. */
function isReadWhole({ content, isUnbounded }: StatementSources): boolean {
  return isUnbounded && content.messages.size <= READ_WHOLE;
}

/** The items of recall, and all memories of a user who has told little. */
function itemsIn(sources: StatementSources): Placed[] {
  const { items, content, asOf } = sources;
  const found = items
    .slice(0, MAX_ITEMS)
    .map((item, rank): Placed => ({ id: item.id, item, score: item.score, rank }))
    .filter(({ item }) => asOf === undefined || (item?.at ?? "") <= asOf);
  if (!isReadWhole(sources)) return found;
  const known = new Set(found.map(({ id }) => id));
  const others = [...content.memories.keys()].slice(-MAX_ITEMS).filter((id) => !known.has(id));
  return [...found, ...others.map((id): Placed => ({ id, item: undefined, score: 0, rank: MAX_ITEMS }))];
}

interface MessagePlace extends Placed {
  readonly span: TextSpan | undefined;
}

/** The messages that items come from, in the order of the items; then the others of a user who has told little. */
function messagesBehind(sources: StatementSources, placed: readonly Placed[]): Map<string, MessagePlace> {
  const messages = new Map<string, MessagePlace>();
  const behind = placed.flatMap((one) => (one.item?.sources ?? []).map((source) => ({ one, source })));
  for (const { one, source } of behind) {
    const span = one.item?.type === "passage" ? { start: source.start, end: source.end } : undefined;
    const known = messages.get(source.message);
    if (!known || (span && !known.span)) messages.set(source.message, { ...(known ?? one), span });
  }
  if (!isReadWhole(sources)) return messages;
  for (const id of sources.content.messages.keys())
    if (!messages.has(id))
      messages.set(id, { id: `${id}#0`, item: undefined, score: 0, rank: MAX_ITEMS, span: undefined });
  return messages;
}

/** A request to forget answers only a question about what is to be forgotten. */
const ABOUT_ERASURE = /\b(?:forg[eo]t|delet|eras|remov)/i;

function fromMemory(
  { question, mayUse, now, asOf, content }: StatementSources,
  { id, score, rank }: Placed,
): EvidenceStatement | undefined {
  const memory = content.memories.get(id);
  if (!memory || (isDelayedErasure(memory) && !ABOUT_ERASURE.test(question))) return undefined;
  if (memory.quarantined || memory.status === "retracted" || !mayUse(memory)) return undefined;
  const [source] = memory.sources;
  const message = source && content.messages.get(source.message);
  if (message && !isWholeClause(message, source)) return undefined;
  return {
    id: memory.id,
    from: "memory",
    isListed: false,
    text: memory.text,
    lead: "",
    speaker: undefined,
    at: memory.at,
    zone: message?.zone,
    score,
    rank,
    isOver:
      !isTrueAt(memory, asOf ?? now) || (memory.validTo !== undefined && memory.validTo <= (asOf ?? now)),
    subjects: subjectsOf([memory]),
    isLater: isAboutLater(memory, asOf ?? now),
    memory,
    source,
  };
}

const ANAPHOR =
  /^(?:(?:and|but|so|also|oh|well|then|yes|no)[, ]+)*(?:he|she|they|it|him|her|them|his|its|their|that|this|those|these|there|one|both|the (?:other|rest|former|latter))\b|\bi own one\b/i;

function* sentencesOf(
  sources: StatementSources,
  message: Message,
  place: MessagePlace,
): Iterable<EvidenceStatement> {
  const { question, index, toQuotableText, now, asOf } = sources;
  const asked = toWordKey(question);
  const passage = place.span ?? { start: 0, end: message.content.length };
  const memories = [...(index.sources.get(message.id) ?? [])];
  const sentences = ownSpans(message.content, splitSentences(message.content));
  let before = "";
  for (const span of sentences.flatMap((sentence) => besideHoles(message.content, sentence))) {
    if (!spansOverlap(span, passage)) continue;
    const text = closeHoles(toQuotableText(message.content, passage, span))
      .replace(/\s+/g, " ")
      .trim();
    // The question itself is no answer.
    const isUsable = text !== "" && toWordKey(text) !== asked && text.length <= MAX_LENGTH;
    const isQuestion = /\?["”'’)]*$/.test(text);
    const about = memories.filter(({ sources }) =>
      sources.some((one) => one.message === message.id && spansOverlap(one, span)),
    );
    // "Delete the code after Friday" does not tell the code.
    const isRequest = about.some(isDelayedErasure);
    if (isUsable && !isQuestion && !isRequest) {
      yield {
        id: place.id,
        from: "sentence",
        isListed: false,
        text,
        lead: ANAPHOR.test(text) ? before : "",
        speaker: message.name,
        at: message.at,
        zone: message.zone,
        score: place.score,
        rank: place.rank,
        isOver: isPartlyOver(about, asOf ?? now, text),
        subjects: subjectsOf(about),
        isLater: about.some((memory) => isAboutLater(memory, asOf ?? now)),
        memory: undefined,
        source: { message: message.id, start: span.start, end: span.end },
      };
    }
    before = isUsable ? text : "";
  }
}

/** A part that was changed cannot be told from the rest in a quote; the memories of the rest can. */
function isPartlyOver(memories: readonly Memory[], at: string, said: string): boolean {
  const isChanged = memories.some((memory) => memory.status !== "current" || isChangedByHand(memory, said));
  return isChanged || (memories.length > 0 && memories.every((memory) => !isTrueAt(memory, at)));
}

/** Whether somebody has changed a memory by hand, so that it says something else than the words that it was read from. */
function isChangedByHand({ action, text }: Memory, said: string): boolean {
  if (action !== "updated") return false;
  const words = bagOf(said);
  return essence(text).some((word) => word !== USER && !words.has(word));
}

/** "The user lives in Porto." of "I live in Porto." */
const USER = "user";

function subjectsOf(memories: readonly Memory[]): string[] {
  return memories.flatMap(({ claim }) => claim?.subject ?? []);
}

/** Whether nothing was erased from the clauses that a memory was read from. */
function isWholeClause({ content }: Message, source: TextSpan): boolean {
  return splitSentences(content)
    .filter((sentence) => spansOverlap(sentence, source))
    .every((sentence) =>
      besideHoles(content, sentence).some(
        ({ start, end }) =>
          start <= Math.max(source.start, sentence.start) && end >= Math.min(source.end, sentence.end),
      ),
    );
}
