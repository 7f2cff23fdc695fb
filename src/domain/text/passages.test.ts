import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { estimateTokens, formatPassage, splitPassages } from "./split-text.ts";

const sentence = "The quick brown fox jumps over the lazy dog near the river bank. ";

describe("splitPassages", () => {
  test("makes one passage of a short message", () => {
    expect(splitPassages({ id: "m1", content: "I use Shram." })).toEqual([
      { id: "m1#0", message: "m1", start: 0, end: 12 },
    ]);
  });

  test("makes none of a message without a word", () => {
    expect(splitPassages({ id: "m1", content: " \n " })).toEqual([]);
  });

  test("splits a long message at sentences, with overlapping neighbours", () => {
    const content = sentence.repeat(200);
    const passages = splitPassages({ id: "m1", content });
    expect(passages.length).toBeGreaterThan(5);
    for (const [i, { id, start, end }] of passages.entries()) {
      expect(id).toBe(`m1#${i}`);
      expect(content[end - 1]).toBe(".");
      expect(content[start - 1] ?? " ").toBe(" ");
      const before = passages[i - 1];
      if (before) expect(estimateTokens(content.slice(start, before.end))).toBeGreaterThan(30);
    }
  });

  test("splits a megabyte without a space in linear time", () => {
    const began = performance.now();
    const passages = splitPassages({ id: "m1", content: "a".repeat(1_000_000) });
    expect(performance.now() - began).toBeLessThan(1000);
    expect(passages.at(-1)?.end).toBe(1_000_000);
  });

  test("splits any text into small pieces without losing text or breaking a character", () => {
    const text = fc
      .array(
        fc.oneof(
          fc.constantFrom(" ", ". ", "\n", "word", "語", "🙂", sentence),
          fc.string({ unit: "grapheme" }),
        ),
        {
          maxLength: 400,
        },
      )
      .map((parts) => parts.join("").repeat(9));
    fc.assert(
      fc.property(text, (content) => {
        const passages = splitPassages({ id: "m", content });
        let reached = 0;
        for (const { start, end } of passages) {
          const piece = content.slice(start, end);
          expect(estimateTokens(piece)).toBeLessThanOrEqual(512);
          expect(piece.isWellFormed()).toBe(true);
          expect(content.slice(reached, Math.max(reached, start)).trim()).toBe("");
          expect(end).toBeGreaterThan(reached);
          reached = end;
        }
        expect(content.slice(reached).trim()).toBe("");
      }),
      { numRuns: 60 },
    );
  });
});

test("includes the speaker in the searchable text", () => {
  const message = { id: "m1", content: "I love pottery.", name: "Ana" };
  expect(formatPassage(message, { start: 0, end: 15 })).toBe("Ana: I love pottery.");
});
