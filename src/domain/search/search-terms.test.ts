import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { extractTerms, hasSameWords, splitWords, stem, toWordKey } from "./search-terms.ts";

describe("words", () => {
  it("are in lower case, without accents and what follows an apostrophe", () => {
    expect(splitWords("Ana's Café, at 9:30 — don’t!")).toEqual(["ana", "cafe", "at", "9", "30", "don"]);
  });

  it("are the same by the fast way for plain text as by the long way", () => {
    // A no-break space keeps the text off the fast way and is no word.
    fc.assert(
      fc.property(fc.string({ unit: "grapheme-ascii", maxLength: 60 }), (text) => {
        expect(splitWords(text)).toEqual(splitWords(`${text} \u00a0`));
      }),
    );
  });
});

describe("analyse", () => {
  it("leaves out words that tell nothing, and lets forms of a word meet", () => {
    expect(extractTerms("What productivity tools do I use?")).toEqual(["productivity", "tool", "use"]);
    expect(extractTerms("I used a productivity tool")).toEqual(["use", "productivity", "tool"]);
  });

  it("takes Chinese, Japanese and Korean by characters and pairs of them, but for those that tell nothing", () => {
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

  it("takes a number and the characters after it apart", () => {
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
  ])("takes %s for a form of %s", (word, base) => {
    expect(stem(word)).toBe(stem(base));
    expect(stem(base)).toBe(base);
  });
});

describe("sameWords", () => {
  it("does not mind case, accents, articles and endings", () => {
    expect(hasSameWords("the Productivity Tools", "productivity tool")).toBe(true);
    expect(hasSameWords("a red kettle", "a blue kettle")).toBe(false);
  });

  it("keeps articles where there is nothing else", () => {
    expect(toWordKey("The A")).toBe("the a");
  });
});
