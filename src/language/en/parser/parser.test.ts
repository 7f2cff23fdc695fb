import { readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isMemoryError } from "../../../errors.ts";
import { loadParser, type ParsedSentence } from "./parser.ts";

/** Our own sentences as spaCy parses them with the same weights: `scripts/parser/predict.py … --rounded`. */
interface Fixture {
  readonly text: string;
  readonly sentences: readonly (readonly [
    word: string,
    tag: string,
    pos: string,
    head: number,
    label: string,
  ])[][];
}

const bytes = readFileSync(new URL("../../../../assets/parser-en.bin", import.meta.url));
const fixtures = JSON.parse(
  readFileSync(new URL("./__fixtures__/sentences.json", import.meta.url), "utf8"),
) as Fixture[];
const parser = loadParser(bytes);

const toRows = (sentences: readonly ParsedSentence[]): unknown[] =>
  sentences.map(({ tokens }) =>
    tokens.map(({ text, tag, pos, head, label }) => [text, tag, pos, head, label]),
  );

/** What is wrong with a parse; empty where nothing is. */
function findFaults(text: string, sentences: readonly ParsedSentence[]): string[] {
  const faults: string[] = [];
  const words = sentences.flatMap(({ tokens }) => tokens);
  if (words.map((word) => word.text).join("") !== text.replaceAll(/\s/gu, ""))
    faults.push("words are missing");
  if (words.some(({ text: word, start, end }) => text.slice(start, end) !== word))
    faults.push("wrong offsets");
  for (const { tokens } of sentences) {
    if (tokens.filter(({ head }) => head === -1).length !== 1) faults.push("not one root");
    if (tokens.some(({ head, label }) => (head === -1) !== (label === "root")))
      faults.push("a label of a root");
    if (tokens.some((_, i) => !reachesRoot(tokens, i))) faults.push("a circle");
    if (tokens.length > 200) faults.push("a long sentence");
  }
  return faults;
}

function reachesRoot(tokens: ParsedSentence["tokens"], from: number): boolean {
  let at = from;
  for (let steps = 0; steps <= tokens.length; steps += 1) {
    if (at === -1) return true;
    at = tokens[at]?.head ?? Number.NaN;
  }
  return false;
}

describe("the parser", () => {
  it("has sixty sentences and more to be compared on", () => {
    expect(fixtures.length).toBeGreaterThan(60);
  });

  it.each(fixtures)("reads as spaCy does: $text", ({ text, sentences }) => {
    expect(toRows(parser.parse(text))).toEqual(sentences);
  });

  it("reads the same without WebAssembly", () => {
    const plain = loadParser(bytes, { isPlain: true });
    for (const { text } of fixtures.slice(0, 12)) expect(plain.parse(text)).toEqual(parser.parse(text));
  });

  it("reads a text the same after others", () => {
    const text = "My sister Ana lives in Denver. i dont like it there";
    const first = parser.parse(text);
    parser.parse("Turn off the lights at eleven, please! Who's coming to dinner?");
    expect(parser.parse(text)).toEqual(first);
    expect(loadParser(bytes).parse(text)).toEqual(first);
  });

  it("begins a sentence at a new line and after a full stop", () => {
    const starts = parser
      .parse("I live in York.\nMy cat is old\nWe sold it. Then we left")
      .map(({ start }) => start);
    expect(starts).toEqual([0, 16, 30, 42]);
  });

  it("gives nothing for nothing", () => {
    expect(parser.parse("")).toEqual([]);
    expect(parser.parse(" \n\t ")).toEqual([]);
  });

  it("gives trees over all words of any text", () => {
    const word = fc.constantFrom(
      "I",
      "my",
      "dog",
      "lives",
      "don't",
      "…",
      ".",
      "(",
      ":)",
      "and",
      "\n",
      "é",
      "😀",
      "-",
      "''",
      "__",
    );
    const texts = fc.oneof(
      fc.string({ unit: "grapheme" }),
      fc.array(word, { maxLength: 60 }).map((words) => words.join(" ")),
    );
    fc.assert(
      fc.property(texts, (text) => {
        expect(findFaults(text, parser.parse(text))).toEqual([]);
      }),
      { numRuns: 200, seed: 26 },
    );
  });

  it.each(["(", "a.", "'s", "x@y", "1-", "\ud800", "I think that ", "a".repeat(500), ":)", "http://a.b/"])(
    "takes eight times as long for eight times as many of %j, and not much more",
    (piece) => {
      const time = (length: number): number => {
        const text = piece.repeat(Math.ceil(length / piece.length)).slice(0, length);
        let least = Number.POSITIVE_INFINITY;
        for (let i = 0; i < 2; i += 1) {
          const start = performance.now();
          parser.parse(text);
          least = Math.min(least, performance.now() - start);
        }
        return least;
      };
      // A quadratic rule would take 64 times as long.
      expect(time(8000) / time(1000)).toBeLessThan(32);
    },
  );

  it("reads 100,000 characters of every kind of sign whole", () => {
    const signs = "(([{\"'.,;:!?…-–—/\\@#$%^&*_=+~`|<>😀 é\n1a";
    const text = signs.repeat(Math.ceil(100_000 / signs.length)).slice(0, 100_000);
    expect(findFaults(text, parser.parse(text))).toEqual([]);
  });
});

describe("a model file", () => {
  it.each([
    ["is empty", new Uint8Array(0)],
    ["is something else", new TextEncoder().encode("KSEMBED1 and more")],
    ["is cut off in its header", bytes.subarray(0, 1000)],
    ["is cut off in its data", bytes.subarray(0, bytes.length - 1000)],
  ])("is refused if it %s", (_, given) => {
    expect(() => loadParser(given)).toThrow(/damaged/);
    try {
      loadParser(given);
    } catch (error) {
      expect(isMemoryError(error) && error.code).toBe("corrupt");
    }
  });
});
