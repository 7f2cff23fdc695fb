import { expect, it } from "vitest";
import { clearWordCaches, memoizeByWord } from "./search-terms.ts";

it("computes a word once, until the caches are cleared", () => {
  const made: string[] = [];
  const lengthOf = memoizeByWord(10, (word) => {
    made.push(word);
    return word.length;
  });
  expect([lengthOf("tea"), lengthOf("tea"), lengthOf("milk")]).toEqual([3, 3, 4]);
  expect(made).toEqual(["tea", "milk"]);
  clearWordCaches();
  expect(lengthOf("tea")).toBe(3);
  expect(made).toEqual(["tea", "milk", "tea"]);
});

it("keeps no more words than its limit, and no long word", () => {
  let made = 0;
  const lengthOf = memoizeByWord(3, (word) => {
    made += 1;
    return word.length;
  });
  for (const word of ["a", "b", "c", "d"]) lengthOf(word);
  expect(made).toBe(4);
  lengthOf("a");
  expect(made).toBe(5);
  const long = "x".repeat(65);
  lengthOf(long);
  lengthOf(long);
  expect(made).toBe(7);
});
