import { checkCharacters, checkCount, checkName, INPUT_LIMITS } from "../../domain/limits.ts";
import type { SourceSpan } from "../../domain/memory.ts";
import { invalid } from "../../errors.ts";
import type { UserState } from "../user-state/user-state.ts";

/** Sources of one memory, and memories behind one review, at most. */
export const MAX_IMPORTED_SOURCES = 10_000;

/** Checks the sources of a memory of another system. Throws `invalid_input`. */
export function checkImportedSources(sources: unknown = []): SourceSpan[] {
  if (!Array.isArray(sources) || sources.length > MAX_IMPORTED_SOURCES)
    throw invalid(`sources must be a list of at most ${MAX_IMPORTED_SOURCES} sources.`);
  return (sources as readonly SourceSpan[]).map((source) => {
    const { message, start, quote } = source ?? {};
    if (typeof quote !== "string" || quote === "")
      throw invalid("a source must have the words as its quote.");
    const from = checkCount(start, "the start of a source", 0, INPUT_LIMITS.textBytes);
    checkCharacters(quote, "the quote of a source", INPUT_LIMITS.textBytes);
    return {
      message: checkName(message, "the message of a source"),
      start: from,
      end: from + quote.length,
      quote,
    };
  });
}

/**
 * Gives the sources whose words are in the stored messages, with their current positions: they may have moved, if words before them
 * were erased. Marks possible pauses, because ten thousand messages of a megabyte may have to be searched.
 */
export function* findStoredSources(
  { messages }: Pick<UserState, "messages">,
  sources: readonly SourceSpan[],
): Generator<void, SourceSpan[], void> {
  const found: SourceSpan[] = [];
  for (const { message: id, start, quote } of sources) {
    const message = messages.get(id);
    const at = message && !message.undone ? yield* findNearest(message.content, quote, start) : -1;
    if (at >= 0) found.push({ message: id, start: at, end: at + quote.length, quote });
    yield;
  }
  return found;
}

/** Characters that are searched before a possible pause: less than a millisecond. */
const PIECE_LENGTH = 65_536;

/**
 * Gives the position of words: the one that is named, else the next before it, else the next after it; -1 for none. The method
 * is that of Knuth, Morris and Pratt: the time grows with the length of both texts, also for texts that repeat themselves.
 */
function* findNearest(content: string, words: string, start: number): Generator<void, number, void> {
  if (content.startsWith(words, start)) return start;
  if (words.length > content.length) return -1;
  const borders = yield* computeBorders(words);
  let before = -1;
  let matched = 0;
  for (let i = 0; i < content.length; i += 1) {
    if (i % PIECE_LENGTH === PIECE_LENGTH - 1) yield;
    matched = extendMatch(words, borders, matched, content.charCodeAt(i));
    if (matched < words.length) continue;
    const at = i + 1 - matched;
    if (at > start) return before >= 0 ? before : at;
    before = at;
    matched = borders[matched - 1] ?? 0;
  }
  return before;
}

/** For each beginning of the words, the length of its longest end that is a beginning too. */
function* computeBorders(words: string): Generator<void, Uint32Array, void> {
  const borders = new Uint32Array(words.length);
  for (let i = 1; i < words.length; i += 1) {
    if (i % PIECE_LENGTH === PIECE_LENGTH - 1) yield;
    borders[i] = extendMatch(words, borders, borders[i - 1] ?? 0, words.charCodeAt(i));
  }
  return borders;
}

/** How much of the beginning of the words is matched after one more character. */
function extendMatch(words: string, borders: Uint32Array, matched: number, code: number): number {
  let length = matched;
  while (length > 0 && words.charCodeAt(length) !== code) length = borders[length - 1] ?? 0;
  return words.charCodeAt(length) === code ? length + 1 : length;
}
