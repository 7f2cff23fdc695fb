import type { Memory } from "../../../domain/memory.ts";
import type { Message } from "../../../domain/message.ts";
import type { ForgetRequestSource } from "../../../ports/language/forget-request-reader.ts";
import type { ReadSentence } from "../grammar/forgetting/request-network.ts";
import { type RateWindow, rateTexts } from "../transformer/reader.ts";
import type { Segment } from "../transformer/segments.ts";
import { chooseTexts, type TextToRead, toWindowEntries } from "../transformer/windows.ts";
import { readingRole, requestPieces } from "./request-pieces.ts";

/** Pieces of what was said that are read for a request: some three windows. */
const MOST_PIECES = 640;

/** A clause with what the first look makes of it: the more, the sooner it is read. */
export interface ClauseToRead extends Segment {
  readonly message?: Message;
  readonly memory?: Memory;
  readonly text: string;
  readonly isEarlier: boolean;
  readonly promise: number;
}

/** What reads a request and what was said; by default in this thread. */
export interface ReadingPorts {
  readonly rateWindow?: RateWindow | undefined;
  readonly readRequest?: ReadSentence | undefined;
}

/** A description; with `isAlone` it is read without the request that it stands in. */
interface DescriptionToRead {
  readonly phrase: string;
  readonly isAlone?: boolean;
}

/**
 * The probability of each clause that a request means it, by the reader of requests: a transformer that reads the request and windows of
 * what was said. Of a long memory the most promising messages are read, and those right before them; the other clauses get undefined.
 */
export async function readMeantClauses(
  { phrase, isAlone = false }: DescriptionToRead,
  source: ForgetRequestSource | undefined,
  clauses: readonly ClauseToRead[],
  { rateWindow, readRequest }: ReadingPorts = {},
): Promise<(number | undefined)[]> {
  const request = await requestPieces(phrase, isAlone ? undefined : source, readRequest);
  const found: (number | undefined)[] = clauses.map(() => undefined);
  if (request.tokens.length === 0) return found;
  const told = chooseTexts(toTold(clauses, source), MOST_PIECES);
  const rated = await rateTexts<number, TextToRead<number>>(request, told, "meant", rateWindow);
  for (const { clause, probability } of rated) found[clause] = probability;
  return found;
}

/** The messages, and the memories that came from none, in order. */
function toTold(
  clauses: readonly ClauseToRead[],
  source: ForgetRequestSource | undefined,
): TextToRead<number>[] {
  const groups = Map.groupBy(clauses.keys(), (i) => clauses[i]?.message ?? clauses[i]?.memory);
  return [...groups.values()].map((places) => {
    const own = places.map((i) => clauses[i] as ClauseToRead);
    const [first] = own as [ClauseToRead];
    const { message, memory } = first;
    const role = readingRole(message, source?.message, first.isEarlier);
    return {
      entries: toWindowEntries(message?.content ?? memory?.text ?? "", message?.name, own, role),
      clauses: places,
      promise: Math.max(...own.map(({ promise }) => promise)),
    };
  });
}
