import { expect, it } from "vitest";
import { clearWordCaches } from "../../../domain/search/search-terms.ts";
import { parseEnglish, tokenizeEnglish } from "./english-trees.ts";

it("keeps the trees of the last short texts until the caches of words are emptied", () => {
  const text = "I live in Porto.";
  const trees = parseEnglish(text);
  expect(parseEnglish(text)).toBe(trees);
  clearWordCaches();
  expect(parseEnglish(text)).not.toBe(trees);
  expect(parseEnglish(text)).toEqual(trees);
  for (let i = 0; i < 64; i++) parseEnglish(`${i} cats.`);
  expect(parseEnglish(text)).not.toBe(trees);
});

it("does not keep long texts", () => {
  const text = "I live in Porto. ".repeat(300);
  expect(parseEnglish(text)).not.toBe(parseEnglish(text));
});

it("gives the words of the trees without the trees", () => {
  const text = "I can't stay, so Dr. Sato moved it to 10:30.\nThe rest (all of it) isn't mine!";
  const words = parseEnglish(text).flatMap(({ tokens }) =>
    tokens.map((token) => ({ text: token.text, start: token.start, end: token.end })),
  );
  expect(
    tokenizeEnglish(text).map((word) => ({ text: word.text, start: word.start, end: word.end })),
  ).toEqual(words);
});
