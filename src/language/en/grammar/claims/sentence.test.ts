import { expect, it } from "vitest";
import { absolute } from "./sentence.ts";

/** A text with one date in it, told as a memory tells it. */
function told(text: string, words: string, iso: string): string {
  const start = text.indexOf(words);
  return absolute(text, [{ start, end: start + words.length, iso }], text);
}

it.each([
  ["sold the boat last week", "last week", "2026-03-11", "sold the boat around 11 March 2026"],
  ["left two weeks ago", "two weeks ago", "2026-03-04", "left around 4 March 2026"],
  ["got a dog a few days ago", "a few days ago", "2026-03-15", "got a dog around 15 March 2026"],
  ["went to Oslo last weekend", "last weekend", "2026-03-14", "went to Oslo on the weekend of 14 March 2026"],
  ["sold the boat yesterday", "yesterday", "2026-03-17", "sold the boat on 17 March 2026"],
  ["sold the boat last month", "last month", "2026-02", "sold the boat in February 2026"],
])("tells “%s” no more exactly than it was said", (text, words, iso, expected) => {
  expect(told(text, words, iso)).toBe(expected);
});
