import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createWordWrap, measureColumns, wrapWords } from "./word-wrap.ts";

describe("wrapWords", () => {
  it("breaks between words, and indents the lines after the first", () => {
    expect(wrapWords("You live in Porto and use Shram.", 14, "  ")).toBe(
      "You live in\n  Porto and\n  use Shram.",
    );
  });

  it("keeps line breaks, and a word that is longer than a line", () => {
    expect(wrapWords("one two\nextraordinary x", 8)).toBe("one two\nextraordinary\nx");
  });

  it("counts wide characters as two columns and codes of colours as none", () => {
    expect([
      measureColumns("日本"),
      measureColumns("\u001b[31mred\u001b[39m"),
      measureColumns("e\u0301"),
    ]).toEqual([4, 3, 1]);
    expect(wrapWords("日本 日本 日本", 9)).toBe("日本 日本\n日本");
  });

  it("leaves no line longer than the columns unless it is one word, and loses no word", () => {
    const text = fc.array(fc.string({ unit: "grapheme-ascii", minLength: 1, maxLength: 9 }), {
      maxLength: 30,
    });
    fc.assert(
      fc.property(text, fc.integer({ min: 5, max: 30 }), (parts, columns) => {
        const given = parts.join(" ");
        const words = (some: string) => some.split(/\s+/).filter((word) => word !== "");
        const wrapped = wrapWords(given, columns);
        expect(words(wrapped)).toEqual(words(given));
        for (const line of wrapped.split("\n"))
          expect(line.length <= columns || words(line).length === 1).toBe(true);
      }),
    );
  });
});

describe("createWordWrap", () => {
  it("wraps the same, however the text is cut into parts", () => {
    const text = "The quick brown fox jumps over the lazy dog.\nAnd again, in another line.";
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 12 }), { maxLength: 40 }), (sizes) => {
        let wrapped = "";
        const wrap = createWordWrap(
          () => 20,
          (part) => {
            wrapped += part;
          },
        );
        let from = 0;
        for (const size of sizes) {
          wrap.write(text.slice(from, from + size));
          from += size;
        }
        wrap.write(text.slice(from));
        wrap.end();
        expect(wrapped).toBe(wrapWords(text, 20));
      }),
    );
  });
});
