import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { extractTerms, hasSameWords, splitWords, stem, toWordKey } from "./search-terms.ts";

describe("words", () => {
  it("lower-cases words and removes accents and what follows an apostrophe", () => {
    expect(splitWords("Ana's Café, at 9:30 — don’t!")).toEqual(["ana", "cafe", "at", "9", "30", "don"]);
  });

  it("splits plain text the same on the fast and the slow path", () => {
    // The no-break space forces the slow path and is not a word.
    fc.assert(
      fc.property(fc.string({ unit: "grapheme-ascii", maxLength: 60 }), (text) => {
        expect(splitWords(text)).toEqual(splitWords(`${text} \u00a0`));
      }),
    );
  });
});

describe("extractTerms", () => {
  it("drops stop words and reduces word forms to one term", () => {
    expect(extractTerms("What productivity tools do I use?")).toEqual(["productivity", "tool", "use"]);
    expect(extractTerms("I used a productivity tool")).toEqual(["use", "productivity", "tool"]);
  });

  it("splits Chinese, Japanese and Korean into characters and pairs, without common ones", () => {
    expect(extractTerms("我住在波尔图")).toEqual([
      "住",
      "波",
      "尔",
      "图",
      "我住",
      "住在",
      "在波",
      "波尔",
      "尔图",
    ]);
    expect(extractTerms("猫")).toEqual(["猫"]);
    expect(extractTerms("这是什么")).toEqual([]);
  });

  it("separates a number from the characters after it", () => {
    expect(extractTerms("他38岁")).toEqual(["他", "38", "岁"].slice(1));
  });

  it.each([
    ["used", "use"],
    ["using", "use"],
    ["went", "go"],
    ["bakeries", "bakery"],
    ["running", "run"],
    ["bus", "bus"],
    ["classes", "class"],
  ])("reduces %s to %s", (word, base) => {
    expect(stem(word)).toBe(stem(base));
    expect(stem(base)).toBe(base);
  });
});

describe("hasSameWords", () => {
  it("ignores case, accents, articles and endings", () => {
    expect(hasSameWords("the Productivity Tools", "productivity tool")).toBe(true);
    expect(hasSameWords("a red kettle", "a blue kettle")).toBe(false);
  });

  it("keeps articles if there are no other words", () => {
    expect(toWordKey("The A")).toBe("the a");
  });
});
