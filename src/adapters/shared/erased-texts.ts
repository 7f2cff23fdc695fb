import type { Memory } from "../../domain/memory.ts";
import type { Message } from "../../domain/message.ts";
import { collectStrings } from "../../domain/opaque-parts.ts";
import type { KeptReceipt } from "../../domain/receipt.ts";

/** Texts of a user that an erasure must remove. Ids, times and fixed values are not texts. */

export function collectMessageTexts({ content, name, parts, metadata }: Message): string[] {
  return [content, name ?? "", ...collectStrings(parts), ...collectStrings(metadata)];
}

export function collectMemoryTexts({ text, claim, sources, metadata, why }: Memory): string[] {
  const quotes = sources.map(({ quote }) => quote);
  return [text, ...collectStrings(claim), ...quotes, ...collectStrings(metadata), why ?? ""];
}

export function collectReceiptTexts({ memories }: KeptReceipt): string[] {
  return memories.map(({ why }) => why ?? "");
}

/**
 * Counts the texts that occur in `words`, as whole words and ignoring case. ("Ana" does not occur in "banana".)
 * In Chinese, Japanese and other scripts without spaces, a match may start and end anywhere.
 */
export function countOccurringTexts(texts: readonly string[], words: readonly string[]): number {
  const all = words.join("\n").toLowerCase();
  return texts.filter((text) => occursIn(text.toLowerCase(), all)).length;
}

const SPACED_SCRIPTS =
  /[\p{Script=Latin}\p{Script=Cyrillic}\p{Script=Greek}\p{Script=Arabic}\p{Script=Hebrew}\p{N}]/u;

function occursIn(text: string, all: string): boolean {
  if (text === "") return false;
  for (let at = all.indexOf(text); at !== -1; at = all.indexOf(text, at + 1)) {
    const end = at + text.length;
    const isCutBefore = isOneWord(all.charAt(at - 1), text.charAt(0));
    const isCutAfter = isOneWord(text.charAt(text.length - 1), all.charAt(end));
    if (!isCutBefore && !isCutAfter) return true;
  }
  return false;
}

/** Whether two neighbouring characters belong to the same word. */
function isOneWord(left: string, right: string): boolean {
  return SPACED_SCRIPTS.test(left) && SPACED_SCRIPTS.test(right);
}
