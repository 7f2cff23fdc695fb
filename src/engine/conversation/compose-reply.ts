import type { Answer } from "../../domain/recall.ts";
import {
  areCopiesUnreadable,
  type ErasureReceipt,
  type HeldBackup,
  NOTHING_TO_ERASE,
  type PendingConfirmation,
  type Receipt,
  type ReceiptLine,
} from "../../domain/receipt.ts";
import { joinList, toSecondPerson, toSentence } from "../../domain/text/english-forms.ts";
import type { Answerer } from "../../ports/language/answerer.ts";
import type { Vocabulary } from "../../ports/language/vocabulary.ts";
import { CONFIRMATION_PHRASE } from "../ingest/confirmations.ts";

type DateFormatter = Pick<Answerer, "formatDate">;

/** What a reply without a model needs. */
interface ReplyPorts {
  readonly answerer: DateFormatter;
  readonly vocabulary: Pick<Vocabulary, "phrases">;
}

/**
 * The reply of a turn without a model: what was learnt, changed or forgotten, an answer from memory, or that
 * it is unknown. It repeats no erased word: for an erasure it gives only the counts.
 */
export function composeReply(
  { answerer, vocabulary }: ReplyPorts,
  turn: {
    readonly receipt: Receipt;
    readonly answer?: Answer;
    /** The user's message. */
    readonly said?: string;
  },
): string {
  const { receipt, answer, said = "" } = turn;
  const { erasures = [], waiting = [] } = receipt;
  const isAsking = waiting.some(({ action }) => action === "erase");
  const reported = [
    ...erasures.map((erasure) => sayErasure(answerer, erasure, isAsking)),
    ...waiting.map(formatQuestion),
  ];
  if (reported.length > 0) return reported.join(" ");
  if (hasUnmetRequest(receipt))
    return [UNMET_REQUEST, ...saySaved(receipt.memories.filter(({ text }) => text !== ""))].join(" ");
  const parts = [...(answer && !answer.abstained ? [answer.text] : []), ...saySaved(receipt.memories)];
  if (parts.length > 0) return parts.join(" ");
  if (answer) return vocabulary.phrases.readDemand(said).isForAssistant ? SELF_DESCRIPTION : answer.text;
  if (receipt.pending > 0) return "Noted. I will read it in a moment.";
  return isLong(said) ? "Saved. I found no new facts in that." : "All right, I'm listening.";
}

/** The reply to a request to forget of which nothing was found. */
export const UNMET_REQUEST =
  "I found nothing that clearly matches, so I have erased nothing. If it is something you told me, name it or quote it.";

/** The reply to a sure request to forget of which nothing was found. */
export const NO_MATCH = "I found nothing like that in my memory.";

/** Whether the message asked to forget something, and nothing was found. */
export function hasUnmetRequest({ memories }: Pick<Receipt, "memories">): boolean {
  return memories.some(({ why }) => why === NOTHING_TO_ERASE.why);
}

const SELF_DESCRIPTION =
  "I only remember things. Tell me something about yourself, or ask me about something you told me.";

/** Longer than a greeting or a thank-you. */
function isLong(text: string): boolean {
  return (text.match(/[\p{L}\p{N}'’]+/gu) ?? []).length > 4;
}

function sayErasure(answerer: DateFormatter, erasure: ErasureReceipt, isAsking: boolean): string {
  const { memories, messages, rewritten = 0, requests = 0 } = erasure.erased;
  if (memories + messages + rewritten === 0) return NO_MATCH;
  if (memories + messages === requests && requests > 0) return isAsking ? ONLY_ASKING : ONLY_REQUEST;
  if (memories + messages === 0) return "Done. It was only in the history, and is erased there.";
  const verb = memories + messages === 1 && memories === 1 ? "is" : "are";
  const opening = sayForgotten(erasure, isAsking);
  const readableBackups = areCopiesUnreadable(erasure) ? [] : (erasure.backups ?? []);
  return `${opening}: ${countErased(erasure.erased)} ${verb} erased.${sayBackups(answerer, readableBackups)}`;
}

/** "1 memory and the words in 2 messages"; empty if neither was erased. */
export function countErased({ memories, messages }: ErasureReceipt["erased"]): string {
  return joinList([
    ...(memories > 0 ? [`${memories} ${memories === 1 ? "memory" : "memories"}`] : []),
    ...(messages > 0 ? [`the words in ${messages} ${messages === 1 ? "message" : "messages"}`] : []),
  ]);
}

const ONLY_REQUEST = "I found nothing like that, so I erased only your request itself.";
const ONLY_ASKING = "I am not sure what you mean, so I erased only your request itself.";

function sayForgotten({ complete }: ErasureReceipt, isAsking: boolean): string {
  if (!complete) return "I have forgotten that, but could not verify every place";
  return isAsking
    ? "Done. I have forgotten what I am sure of"
    : "Done. I have forgotten everything about that";
}

/** Backups that cannot be changed from here, and how long they are kept. */
function sayBackups(answerer: DateFormatter, backups: readonly HeldBackup[]): string {
  if (backups.length === 0) return "";
  const many = backups.length === 1 ? "A backup" : `${backups.length} backups`;
  const holds = backups.length === 1 ? "holds" : "hold";
  const ends = backups.flatMap(({ until }) => until ?? []).sort();
  const last = ends.length === backups.length ? ends.at(-1) : undefined;
  const deadline =
    last === undefined
      ? ""
      : `, until ${answerer.formatDate(last.slice(0, 10), { weekday: false })} at the latest`;
  return ` ${many} made before still ${holds} it${deadline}.`;
}

/** The question about a request that waits: what would be removed, and how to confirm it. */
export function formatQuestion({ action, memories, quotes }: PendingConfirmation): string {
  const verb = action === "erase" ? "forget" : "end";
  if (quotes.length > 0) {
    const said = quotes.slice(0, MAX_QUOTED).map(({ quote }, i) => `${i + 1}. “${quote}”`);
    const more = quotes.length > MAX_QUOTED ? ` and ${quotes.length - MAX_QUOTED} more` : "";
    const them = quotes.length === 1 ? "this" : `these ${quotes.length} things that were said`;
    return `Shall I forget ${them}? ${said.join(" ")}${more}. Say “yes, forget them” ${CONFIRMATION_PHRASE}, or which ones.`;
  }
  const things = memories.length === 1 ? "1 thing" : `${memories.length} things`;
  const texts = formatList(memories.map(({ text }) => text));
  return `That would ${verb} ${things}: ${texts}. Say “yes, ${verb} them” ${CONFIRMATION_PHRASE}.`;
}

const MAX_QUOTED = 10;
const MAX_LISTED = 6;

function saySaved(lines: readonly ReceiptLine[]): string[] {
  const added = textsOf(lines, "added");
  const merged = textsOf(lines, "merged");
  const ended = lines
    .filter(({ action, by }) => (action === "superseded" || action === "retracted") && !by)
    .map(({ text }) => text);
  const replaced = lines
    .filter(({ action, by }) => (action === "superseded" || action === "retracted") && by)
    .map(({ text }) => text);
  const refused = lines.filter(({ action }) => action === "refused" || action === "quarantined");
  const sentences: string[] = [];
  if (added.length > 0)
    sentences.push(formatNoted(added, replaced.length > 0 ? "Noted, that is changed" : "Noted"));
  if (ended.length > 0)
    sentences.push(
      `${added.length > 0 ? "Also no longer so" : "Noted. No longer so"}: ${formatList(ended)}.`,
    );
  if (sentences.length === 0 && replaced.length > 0) sentences.push("Noted, that is changed.");
  if (sentences.length === 0 && merged.length > 0) sentences.push(`I know: ${formatList(merged)}.`);
  const [why] = refused.flatMap((line) => line.why ?? []);
  if (sentences.length === 0 && why) sentences.push(`I did not keep that: ${why}.`);
  return sentences;
}

function formatNoted(texts: readonly string[], opening: string): string {
  return `${opening}: ${formatList(texts)}.`;
}

function textsOf(lines: readonly ReceiptLine[], action: ReceiptLine["action"]): string[] {
  return lines.filter((line) => line.action === action && line.text !== "").map(({ text }) => text);
}

/** "you use Shram; you use Magnet" */
function formatList(texts: readonly string[]): string {
  const shown = texts.slice(0, MAX_LISTED).map((text) => {
    const sentence = toSentence(toSecondPerson(text)).replace(/\.$/, "");
    return /^(?:You|Your|The)\b/.test(sentence)
      ? sentence.charAt(0).toLowerCase() + sentence.slice(1)
      : sentence;
  });
  const more = texts.length - shown.length;
  return shown.join("; ") + (more > 0 ? `; and ${more} more` : "");
}
