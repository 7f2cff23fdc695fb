import { expect, it } from "vitest";
import { clearWordCaches } from "../../../domain/search/search-terms.ts";
import { parseEnglish } from "./english-trees.ts";

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
