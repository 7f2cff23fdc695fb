import type { Message } from "../../../domain/message.ts";
import { splitSentences, type TextSpan } from "../../../domain/text/split-text.ts";
import type { ForgetRequestSource } from "../../../ports/language/forget-request-reader.ts";
import { PART_NUMBERS, type ReadSentence, readRequest } from "../grammar/forgetting/request-network.ts";
import { tokenizeEnglish } from "../parser/english-trees.ts";
import type { WordSpan } from "../parser/tokenizer.ts";
import type { Segment } from "../transformer/segments.ts";

/** Words of a request or of a clause with its sentence that are read. */
export const MOST_WORDS = 60;
/** The role of a word beside the sentences that ask. Below it are the parts of a request. */
const AROUND = 5;
/** The roles of the words of a clause, and of those around it in its sentence. */
const [CONTEXT, OWN] = [6, 7];

/** Words with the role of each. */
export interface RoledWords {
  readonly words: readonly WordSpan[];
  readonly roles: readonly number[];
}

/** The words of a request, with what each is for; of an explicit description all are what is to go. */
export async function requestWords(
  phrase: string,
  source: ForgetRequestSource | undefined,
  read: ReadSentence = readRequest,
): Promise<RoledWords> {
  if (!source || source.message.content === "") {
    const words = tokenizeEnglish(phrase).slice(0, MOST_WORDS);
    return { words, roles: words.map(() => PART_NUMBERS.target) };
  }
  const { content } = source.message;
  const words: WordSpan[] = [];
  const roles: number[] = [];
  for (const sentence of sentencesToRead(content, source.spans)) {
    const text = content.slice(sentence.start, sentence.end);
    const isAsking = source.spans.some((span) => span.start < sentence.end && sentence.start < span.end);
    const parts = isAsking ? (await read(text)).spans : [];
    for (const word of tokenizeEnglish(text)) {
      const part = parts.find(({ start, end }) => word.start >= start && word.start < end)?.part;
      words.push(word);
      roles.push(isAsking ? (part ? PART_NUMBERS[part] : 0) : AROUND);
    }
  }
  return { words: words.slice(0, MOST_WORDS), roles: roles.slice(0, MOST_WORDS) };
}

/** From this length on, in characters, only the sentences that ask are read. */
const LONGEST_MESSAGE = 400;

/** The sentences of a message with a request that are read; of a long one, those that ask. */
export function sentencesToRead(content: string, spans: readonly TextSpan[]): readonly TextSpan[] {
  return content.length <= LONGEST_MESSAGE ? splitSentences(content) : spans;
}

/** The words of the sentence of a clause; its own have another role than those around it. */
export function clauseWords(clause: Segment, text: string): RoledWords {
  const { sentence } = clause;
  const isLong = sentence.end - sentence.start > LONGEST_MESSAGE;
  const from = isLong ? clause.start : sentence.start;
  const words = tokenizeEnglish(text.slice(from, isLong ? clause.end : sentence.end)).slice(0, MOST_WORDS);
  const isOwn = ({ start, end }: WordSpan): boolean => from + start < clause.end && from + end > clause.start;
  const roles = words.map((word) => (isOwn(word) ? OWN : CONTEXT));
  return { words, roles: roles.includes(OWN) ? roles : roles.map(() => OWN) };
}

/** Where a message stands beside a request. */
export function placeOf(message: Message | undefined, asking: Message | undefined): Record<string, number> {
  if (!message || !asking) return {};
  const distance = asking.turn - message.turn;
  return {
    nearness: distance === 0 ? 1 : 1 / Math.abs(distance),
    isBehind: distance < 0 ? 1 : 0,
    isOwnMessage: message.id === asking.id ? 1 : 0,
    isOtherSession: isOfPresent(message, asking) ? 0 : 1,
  };
}

/** What was said longer ago than this was said in another conversation, where conversations have no names. */
const LONGEST_PAUSE_MS = 6 * 3_600_000;

function isOfPresent(message: Message, asking: Message): boolean {
  if (message.session !== undefined || asking.session !== undefined)
    return message.session === asking.session;
  return Math.abs(Date.parse(asking.at) - Date.parse(message.at)) < LONGEST_PAUSE_MS;
}
