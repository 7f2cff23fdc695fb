import type { Memory } from "../../domain/memory.ts";
import type { Message } from "../../domain/message.ts";
import type { KeptReceipt } from "../../domain/receipt.ts";

/** Where words of a user stand, and may be looked for after an erasure. Ids, times and fixed values are no words. */

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

/** All strings inside a value of JSON, names of fields too: the caller chose those of metadata. */
function collectStrings(value: unknown): string[] {
  if (typeof value === "string") return [value];
  if (typeof value !== "object" || value === null) return [];
  const names = Array.isArray(value) ? [] : Object.keys(value);
  return [...names, ...Object.values(value).flatMap(collectStrings)];
}

/**
 * How many of the texts stand in the words given: whole words, without regard to case. ("Ana" does not stand in
 * "banana".) Chinese, Japanese and other scripts without spaces match anywhere.
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

/** Whether two neighbouring characters belong to one word. */
function isOneWord(left: string, right: string): boolean {
  return SPACED_SCRIPTS.test(left) && SPACED_SCRIPTS.test(right);
}
