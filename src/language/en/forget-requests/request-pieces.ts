import type { Message } from "../../../domain/message.ts";
import { spansOverlap, splitSentences, type TextSpan } from "../../../domain/text/split-text.ts";
import type { ForgetRequestSource } from "../../../ports/language/forget-request-reader.ts";
import { splitIntoPieces } from "../embedding/sentence-vectors.ts";
import { PART_NUMBERS, readRequest } from "../grammar/forgetting/request-network.ts";
import { ROLES, type RoledPieces } from "../transformer/windows.ts";

/** Pieces of a request that are read. */
export const MOST_OF_REQUEST = 64;
/** From this length on, in characters, only the sentences that ask are read. */
const LONGEST_MESSAGE = 400;

/** The pieces of a request, with what each is for; of an explicit description all are what is to go. */
export function requestPieces(phrase: string, source: ForgetRequestSource | undefined): RoledPieces {
  const all =
    source && source.message.content !== ""
      ? sentencesToRead(source).flatMap((sentence) => piecesOf(sentence, source))
      : splitIntoPieces(phrase).map(({ row }) => ({ row, role: PART_NUMBERS.target }));
  const some = all.slice(0, MOST_OF_REQUEST);
  return { tokens: some.map(({ row }) => row), roles: some.map(({ role }) => role) };
}

function sentencesToRead({ message: { content }, spans }: ForgetRequestSource): readonly TextSpan[] {
  return content.length <= LONGEST_MESSAGE ? splitSentences(content) : spans;
}

function piecesOf(
  sentence: TextSpan,
  { message, spans }: ForgetRequestSource,
): { readonly row: number; readonly role: number }[] {
  const text = message.content.slice(sentence.start, sentence.end);
  const isAsking = spans.some((span) => spansOverlap(span, sentence));
  const parts = isAsking ? readRequest(text).spans : [];
  return splitIntoPieces(text).map(({ row, start }) => {
    const part = parts.find((one) => start >= one.start && start < one.end)?.part;
    if (!isAsking) return { row, role: ROLES.beside };
    return { row, role: part ? PART_NUMBERS[part] : ROLES.asking };
  });
}

/** What a message is to a request. */
export function readingRole(
  message: Pick<Message, "id" | "role"> | undefined,
  asking: Pick<Message, "id"> | undefined,
  isEarlier: boolean,
): number {
  if (message !== undefined && message.id === asking?.id) return ROLES.own;
  if (message?.role === "assistant") return isEarlier ? ROLES.assistantEarlier : ROLES.assistant;
  return isEarlier ? ROLES.userEarlier : ROLES.user;
}
