import type { Message } from "../../../domain/message.ts";
import { spansOverlap, type TextSpan } from "../../../domain/text/split-text.ts";
import type { ForgetRequestSource } from "../../../ports/language/forget-request-reader.ts";
import { splitIntoPieces } from "../embedding/sentence-vectors.ts";
import { PART_NUMBERS, type ReadSentence, readRequest } from "../grammar/forgetting/request-network.ts";
import { ROLES, type RoledPieces } from "../transformer/windows.ts";
import { sentencesToRead } from "./clause-words.ts";

/** Pieces of a request that are read. */
export const MOST_OF_REQUEST = 64;

/** The pieces of a request, with what each is for; of an explicit description all are what is to go. */
export async function requestPieces(
  phrase: string,
  source: ForgetRequestSource | undefined,
  read: ReadSentence = readRequest,
): Promise<RoledPieces> {
  const all: RoledPiece[] = [];
  if (!source || source.message.content === "")
    all.push(...splitIntoPieces(phrase).map(({ row }) => ({ row, role: PART_NUMBERS.target })));
  else
    for (const sentence of sentencesToRead(source.message.content, source.spans))
      all.push(...(await piecesOf(sentence, source, read)));
  const some = all.slice(0, MOST_OF_REQUEST);
  return { tokens: some.map(({ row }) => row), roles: some.map(({ role }) => role) };
}

interface RoledPiece {
  readonly row: number;
  readonly role: number;
}

async function piecesOf(
  sentence: TextSpan,
  { message, spans }: ForgetRequestSource,
  read: ReadSentence,
): Promise<RoledPiece[]> {
  const text = message.content.slice(sentence.start, sentence.end);
  const isAsking = spans.some((span) => spansOverlap(span, sentence));
  const parts = isAsking ? (await read(text)).spans : [];
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
