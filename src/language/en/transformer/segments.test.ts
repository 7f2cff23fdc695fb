import { expect, it } from "vitest";
import { clearWordCaches } from "../../../domain/search/search-terms.ts";
import { splitSegments } from "./segments.ts";

const wordsOf = (text: string): string[] =>
  splitSegments(text).map(({ start, end }) => text.slice(start, end));

it("parts a sentence at commas and at conjunctions of verbs", () => {
  expect(wordsOf("My gate code is 4471, and I moved to Porto and work from home.")).toEqual([
    "My gate code is 4471",
    "I moved to Porto",
    "work from home",
  ]);
  expect(wordsOf("Ana likes tea.")).toEqual(["Ana likes tea."]);
});

it("keeps the segments of short texts until the caches of words are emptied", () => {
  const text = "I like tea, and Ana likes coffee.";
  const segments = splitSegments(text);
  expect(splitSegments(text)).toBe(segments);
  clearWordCaches();
  expect(splitSegments(text)).not.toBe(segments);
  expect(splitSegments(text)).toEqual(segments);
  const long = text.repeat(200);
  expect(splitSegments(long)).not.toBe(splitSegments(long));
});
