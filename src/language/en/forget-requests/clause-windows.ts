import type { Message } from "../../../domain/message.ts";
import { spansOverlap, splitSentences, type TextSpan } from "../../../domain/text/split-text.ts";
import type { ForgetRequestSource } from "../../../ports/language/forget-request-reader.ts";
import { countPieces, splitIntoPieces } from "../embedding/sentence-vectors.ts";
import { PART_NUMBERS, readRequest } from "../grammar/forgetting/request-network.ts";

/** What a word piece is for. Below these are the parts of a request. */
export const ROLES = {
  /** In a sentence that asks, beside its parts. */
  asking: 5,
  /** In the message of the request, beside the sentences that ask. */
  beside: 6,
  user: 7,
  assistant: 8,
  /** Said in another conversation. */
  userEarlier: 9,
  assistantEarlier: 10,
  /** The message of the request, as one of those that may be meant. */
  own: 11,
} as const;

/** Pieces of a request that are read. */
export const MOST_OF_REQUEST = 64;
/** Pieces of what was said that are read at a time. */
export const WINDOW = 224;
/** The longest part of a message that is read at a time. */
const LONGEST_ENTRY = 120;
/** From this length on, in characters, only the sentences that ask are read. */
const LONGEST_MESSAGE = 400;

/** Word pieces with the role of each. */
export interface RoledPieces {
  readonly tokens: readonly number[];
  readonly roles: readonly number[];
}

/** A message, or a part of a long one, with the pieces of each of its clauses: from, to. */
export interface WindowEntry extends RoledPieces {
  readonly clauses: readonly (readonly [number, number])[];
}

/** A request, and some of what was said behind it; clauses by their pieces. */
export interface ClauseWindow extends RoledPieces {
  readonly clauses: readonly {
    readonly from: number;
    readonly to: number;
    readonly entry: number;
    readonly clause: number;
  }[];
}

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

/** The entries of a message, whose clauses are given in order; each clause is in one of them. */
export function toWindowEntries(
  text: string,
  name: string | undefined,
  clauses: readonly TextSpan[],
  role: number,
): WindowEntry[] {
  const pieces = splitIntoPieces(text);
  const heading = name === undefined ? [] : splitIntoPieces(`${name}:`).map(({ row }) => row);
  const entries: WindowEntry[] = [];
  let [from, first] = [0, 0];
  const rangeOf = ({ start, end }: TextSpan): [number, number] => {
    const begin = pieces.findIndex((one) => one.start >= start);
    const behind = pieces.findIndex((one) => one.start >= end);
    return [begin < 0 ? pieces.length : begin, behind < 0 ? pieces.length : behind];
  };
  const ranges = clauses.map(rangeOf);
  const push = (to: number, last: number): void => {
    const tokens = [...heading, ...pieces.slice(from, to).map(({ row }) => row)].slice(0, LONGEST_ENTRY);
    const place = (piece: number): number =>
      Math.min(tokens.length, Math.max(0, piece - from + heading.length));
    entries.push({
      tokens,
      roles: tokens.map(() => role),
      clauses: ranges.slice(first, last).map(([a, b]) => [place(a), place(b)] as const),
    });
    [from, first] = [to, last];
  };
  for (const [i, [begin]] of ranges.entries())
    if (i > first && (ranges[i]?.[1] ?? 0) - from > LONGEST_ENTRY - heading.length) push(begin, i);
  push(pieces.length, clauses.length);
  return entries;
}

/** Puts a request before each window of entries. */
export function toWindows(request: RoledPieces, entries: readonly WindowEntry[]): ClauseWindow[] {
  const [opening, closing] = [countPieces(), countPieces() + 1];
  const windows: ClauseWindow[] = [];
  const head = { tokens: [opening, ...request.tokens, closing], roles: [0, ...request.roles, 0] };
  let [tokens, roles, clauses] = [[...head.tokens], [...head.roles], [] as ClauseWindow["clauses"][number][]];
  const flush = (): void => {
    if (clauses.length > 0) windows.push({ tokens, roles, clauses });
    [tokens, roles, clauses] = [[...head.tokens], [...head.roles], []];
  };
  for (const [number, entry] of entries.entries()) {
    if (tokens.length + entry.tokens.length + 1 > head.tokens.length + WINDOW) flush();
    const at = tokens.length;
    tokens.push(...entry.tokens, closing);
    roles.push(...entry.roles, 0);
    for (const [i, [from, to]] of entry.clauses.entries())
      if (to > from) clauses.push({ from: at + from, to: at + to, entry: number, clause: i });
  }
  flush();
  return windows;
}
