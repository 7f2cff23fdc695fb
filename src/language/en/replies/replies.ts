import {
  areCopiesUnreadable,
  type ErasureReceipt,
  type HeldBackup,
  hasUnmetRequest,
  type PendingConfirmation,
  type ReceiptLine,
} from "../../../domain/receipt.ts";
import type { ReplyWriter, ReportedTurn } from "../../../ports/language/reply-writer.ts";
import { formatDateInWords } from "../format-date.ts";
import { takesBackErasure } from "../grammar/forgetting/erase-forms.ts";
import { englishPhrases } from "../phrases.ts";
import { joinList, nameUser, toSecondPerson, toSentence } from "../word-forms.ts";
import { explainAnswer, explainMemory, explainOmission } from "./explanations.ts";

const NO_WAY_BACK =
  "All right, I erase nothing. What is erased already cannot be brought back: tell me again what I should know.";
const UNKNOWN = "I don't know that.";
const UNMET_REQUEST =
  "I found nothing that clearly matches, so I have erased nothing. If it is something you told me, name it or quote it.";
const NO_MATCH = "I found nothing like that in my memory.";
/** Part of the question whose answer "yes" executes a request. */
const CONFIRMATION_PHRASE = "to do it";

/** Writes replies in English. */
export const englishReplies: ReplyWriter = {
  unknown: UNKNOWN,
  unread: "I found nothing at first sight, and had no time to look closely. Please ask again in a moment.",
  unmetRequest: UNMET_REQUEST,
  noMatch: NO_MATCH,
  unquotedQuestion:
    "Shall I forget what matches? The user should name it or quote it, because it is not certain what is meant.",
  writeReply,
  countErased,
  reportErasure,
  askToConfirm,
  asksToConfirm: (message) => message.includes(CONFIRMATION_PHRASE),
  addressUser: toSecondPerson,
  nameUser,
  quoteShared: (owner, texts) => `${owner} shares: ${texts.map(toSentence).join(" ")}`,
  explainAnswer,
  explainMemory,
  explainOmission,
};

function writeReply({ receipt, answer, said = "" }: ReportedTurn): string {
  const { erasures = [], waiting = [] } = receipt;
  const isAsking = waiting.some(({ action }) => action === "erase");
  const reported = [
    ...erasures.map((erasure) => sayErasure(erasure, isAsking)),
    ...waiting.map(askToConfirm),
  ];
  if (reported.length > 0) return reported.join(" ");
  if (hasUnmetRequest(receipt))
    return [UNMET_REQUEST, ...saySaved(receipt.memories.filter(({ text }) => text !== ""))].join(" ");
  const parts = [...(isTold(answer) ? [answer.text] : []), ...saySaved(receipt.memories)];
  if (parts.length > 0) return parts.join(" ");
  if (answer) return englishPhrases.readDemand(said).isForAssistant ? SELF_DESCRIPTION : answer.text;
  if (receipt.pending > 0) return "Noted. I will read it in a moment.";
  if (takesBackErasure(said)) return NO_WAY_BACK;
  return isLong(said) ? "Saved. I found no new facts in that." : "All right, I'm listening.";
}

/** An answer that is sure, or that there was no time to be sure of: a question is not passed over because of the load. */
function isTold(answer: ReportedTurn["answer"]): answer is NonNullable<ReportedTurn["answer"]> {
  return answer !== undefined && (!answer.abstained || answer.trouble === "busy");
}

const SELF_DESCRIPTION =
  "I only remember things. Tell me something about yourself, or ask me about something you told me.";

/** Longer than a greeting or a thank-you. */
function isLong(text: string): boolean {
  return (text.match(/[\p{L}\p{N}'’]+/gu) ?? []).length > 4;
}

function sayErasure(erasure: ErasureReceipt, isAsking: boolean): string {
  const { memories, messages, rewritten = 0, requests = 0 } = erasure.erased;
  if (memories + messages + rewritten === 0) return NO_MATCH;
  if (memories + messages === requests && requests > 0) return isAsking ? ONLY_ASKING : ONLY_REQUEST;
  if (memories + messages === 0) return "Done. It was only in the history, and is erased there.";
  const verb = memories + messages === 1 && memories === 1 ? "is" : "are";
  const opening = sayForgotten(erasure, isAsking);
  const readableBackups = areCopiesUnreadable(erasure) ? [] : (erasure.backups ?? []);
  return `${opening}: ${countErased(erasure.erased)} ${verb} erased.${sayBackups(readableBackups)}`;
}

function countErased({
  memories,
  messages,
}: Pick<ErasureReceipt["erased"], "memories" | "messages">): string {
  return joinList([
    ...(memories > 0 ? [formatCount(memories, "memory", "memories")] : []),
    ...(messages > 0 ? [`the words in ${formatCount(messages, "message", "messages")}`] : []),
  ]);
}

function reportErasure({ erased, complete }: Pick<ErasureReceipt, "erased" | "complete">): string {
  const { memories, messages, rewritten = 0 } = erased;
  if (memories + messages + rewritten === 0)
    return "I know nothing about that, so there was nothing to forget.";
  const counts = `${formatCount(memories, "memory", "memories")} and the words in ${formatCount(messages, "message", "messages")}`;
  if (!complete) return `Forgotten: ${counts}. Some traces could not be removed yet: try again in a moment.`;
  return `Forgotten: ${counts}.`;
}

function formatCount(count: number, one: string, many: string): string {
  return `${count} ${count === 1 ? one : many}`;
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
function sayBackups(backups: readonly HeldBackup[]): string {
  if (backups.length === 0) return "";
  const many = backups.length === 1 ? "A backup" : `${backups.length} backups`;
  const holds = backups.length === 1 ? "holds" : "hold";
  const ends = backups.flatMap(({ until }) => until ?? []).sort();
  const last = ends.length === backups.length ? ends.at(-1) : undefined;
  const deadline =
    last === undefined
      ? ""
      : `, until ${formatDateInWords(last.slice(0, 10), { weekday: false })} at the latest`;
  return ` ${many} made before still ${holds} it${deadline}.`;
}

function askToConfirm({ action, memories, quotes }: PendingConfirmation): string {
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
