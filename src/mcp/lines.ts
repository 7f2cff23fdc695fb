import type { Item } from "../domain/recall.ts";
import { extractTerms } from "../domain/search/search-terms.ts";
import { buildPromptBlock, type PromptLine, sanitizeForPrompt } from "../engine/prompt-block.ts";
import type { ToolCall } from "./tool.ts";

/** Found items as lines of at most this many characters. `details` gives the rest. */
const MAX_LINE_LENGTH = 320;

/** Gives the first items, as far as their lengths sum up to at most `most`. */
export function takeWithin<One>(
  items: readonly One[],
  most: number,
  toLength: (item: One) => number,
): readonly One[] {
  let length = 0;
  const end = items.findIndex((item) => {
    length += toLength(item);
    return length > most;
  });
  return end === -1 ? items : items.slice(0, end);
}

/** Found items, one line each, as far as the budget goes. */
export interface FoundLines {
  /** The lines, fenced as data; empty for none. */
  readonly text: string;
  readonly lines: readonly PromptLine[];
  /** How many did not fit. */
  readonly left: number;
}

/** Formats found items as fenced lines with ids, best first. A long quote is cut to what the query is about. */
export function formatItems(
  items: readonly Item[],
  query: string,
  { promptGuard, nonce, maxTokens }: Pick<ToolCall, "promptGuard" | "nonce"> & { readonly maxTokens: number },
): FoundLines {
  const terms = new Set(extractTerms(query));
  const short = items.flatMap((item) => {
    const text = cutToTerms(sanitizeForPrompt(item, promptGuard), terms);
    return text === "" ? [] : [{ ...item, text }];
  });
  const block = buildPromptBlock(short, { nonce, promptGuard, maxTokens, withIds: true });
  const texts = new Set(short.map(({ text }) => text));
  return { text: block.text, lines: block.lines, left: Math.max(0, texts.size - block.lines.length) };
}

/** Gives the sentences with most of the terms, and what follows them, within the length of a line. */
export function cutToTerms(text: string, terms: ReadonlySet<string>): string {
  if (text.length <= MAX_LINE_LENGTH) return text;
  const sentences = text.split(/(?<=[.!?…])\s+/);
  const scores = sentences.map((sentence) => extractTerms(sentence).filter((term) => terms.has(term)).length);
  const first = Math.max(0, scores.indexOf(Math.max(...scores)));
  let cut = sentences[first] ?? "";
  for (const sentence of sentences.slice(first + 1)) {
    if (cut.length + sentence.length + 1 > MAX_LINE_LENGTH) break;
    cut += ` ${sentence}`;
  }
  const before = first > 0 ? "… " : "";
  const whole = cut.length <= MAX_LINE_LENGTH ? cut : toWellFormed(cut.slice(0, MAX_LINE_LENGTH));
  const isEnd = cut.length <= MAX_LINE_LENGTH && text.endsWith(cut);
  return `${before}${whole}${isEnd ? "" : " …"}`;
}

function toWellFormed(text: string): string {
  return text.isWellFormed() ? text : text.slice(0, -1);
}
