import fc from "fast-check";
import { expect, it } from "vitest";
import { splitSentences } from "./split-text.ts";

const texts = (text: string): string[] =>
  splitSentences(text).map(({ start, end }) => text.slice(start, end));

it("splits at sentence marks and line breaks, and keeps the marks", () => {
  expect(texts("I use Shram. Really!! Do you?\nNo")).toEqual(["I use Shram.", "Really!!", "Do you?", "No"]);
});

it("does not split after abbreviations or inside numbers and names", () => {
  expect(texts("Dr. Lindqvist paid 3.50 at shop.example today. Fine.")).toEqual([
    "Dr. Lindqvist paid 3.50 at shop.example today.",
    "Fine.",
  ]);
});

it("splits Chinese and Japanese sentences", () => {
  expect(texts("我住在波尔图。我喜欢茶。")).toEqual(["我住在波尔图。", "我喜欢茶。"]);
});

it("keeps every word of any text, in order and without overlap", () => {
  fc.assert(
    fc.property(
      fc.string({ unit: fc.constantFrom("a", ".", " ", "\n", "!", "é", '"', "Mr."), maxLength: 60 }),
      (text) => {
        const spans = splitSentences(text);
        let covered = "";
        let last = 0;
        for (const { start, end } of spans) {
          expect(start).toBeGreaterThanOrEqual(last);
          expect(text.slice(last, start).trim()).toBe("");
          covered += text.slice(start, end);
          last = end;
        }
        expect(covered.replace(/\s/g, "")).toBe(text.replace(/\s/g, ""));
      },
    ),
  );
});

it("splits a megabyte quickly", () => {
  const text = "I use Shram. ".repeat(80_000);
  const start = performance.now();
  expect(splitSentences(text)).toHaveLength(80_000);
  expect(performance.now() - start).toBeLessThan(2000);
});
