import { describe, expect, it } from "vitest";
import { createTokenizer } from "./tokenizer.ts";
import { findShape } from "./word-features.ts";

const tokenize = createTokenizer(
  new Map([
    ["don't", [["do"], ["n't", "not"]]],
    ["im", [["i"], ["m", "am"]]],
    [":)", [[":)"]]],
    ["a.m.", [["a.m."]]],
    ["Mr.", [["Mr."]]],
  ]),
);
const cut = (text: string): string =>
  tokenize(text)
    .map(({ text: word }) => word)
    .join(" ");

describe("words", () => {
  it.each([
    ["Hello, world!", "Hello , world !"],
    ["(I don't know)", "( I do n't know )"],
    ["im at Mr. Peters's house", "i m at Mr. Peters 's house"],
    ["see you at 6:45 a.m.", "see you at 6:45 a.m."],
    ["well-known,blue/green", "well - known , blue / green"],
    ["great:) thanks...", "great :) thanks ..."],
    ["paid $1,200 for 5km", "paid $ 1,200 for 5 km"],
    ["write to ana@example.org or www.example.org/a-b.", "write to ana@example.org or www.example.org/a-b ."],
    ["U.S.A. won", "U.S.A. won"],
    ["party🎉🎉now", "party 🎉 🎉 now"],
  ])("are cut as spaCy cuts them: %s", (text, words) => {
    expect(cut(text)).toBe(words);
  });

  it("have a usual spelling", () => {
    const norms = tokenize("I don't “pay” €5").map(({ norm }) => norm);
    expect(norms).toEqual(["i", "do", "not", '"', "pay", '"', "$", "5"]);
  });

  it("carry their offsets, and cover all but the spaces", () => {
    const text = "  My cat,\tMitzi:) isn't\n\n  here…  ";
    const words = tokenize(text);
    for (const { text: word, start, end } of words) expect(text.slice(start, end)).toBe(word);
    expect(words.map(({ text: word }) => word).join("")).toBe(text.replaceAll(/\s/g, ""));
  });

  it("of a run without spaces are cut after 300 characters, not inside a pair of surrogates", () => {
    const words = tokenize(`a${"😀".repeat(400)}`);
    expect(words.map(({ text: word }) => word).join("")).toBe(`a${"😀".repeat(400)}`);
    for (const { text: word } of words) expect(word).not.toMatch(/^[\udc00-\udfff]|[\ud800-\udbff]$/);
  });
});

it.each([
  ["Steven", "Xxxxx"],
  ["10:30", "dd:dd"],
  ["iPhone", "xXxxxx"],
  ["internationally", "xxxx"],
  ["!!!!!!", "!!!!"],
  ["x".repeat(100), "LONG"],
])("the shape of %s is %s", (word, shape) => {
  expect(findShape(word)).toBe(shape);
});
