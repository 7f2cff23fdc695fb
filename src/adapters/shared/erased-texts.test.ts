import { describe, expect, it } from "vitest";
import { makeMemory, makeMessage } from "../../testing/memory-store/change-sets.ts";
import { collectMemoryTexts, collectMessageTexts, countOccurringTexts } from "./erased-texts.ts";

describe("the texts of a user", () => {
  it("are counted as whole words in any case", () => {
    expect(countOccurringTexts(["Ana"], ["banana, anaphora"])).toBe(0);
    expect(countOccurringTexts(["Ana", "rome"], ["banana split\nfor ANA.", "(Rome)"])).toBe(2);
    expect(countOccurringTexts(["école"], ["L'ÉCOLE"])).toBe(1);
    expect(countOccurringTexts(["東京"], ["東京都に住む"])).toBe(1);
    expect(countOccurringTexts([""], ["anything"])).toBe(0);
  });

  it("are collected from every field with words, and from no other", () => {
    const all = collectMessageTexts(
      makeMessage("magnet", {
        content: "a",
        name: "b",
        metadata: { c: "d" },
        parts: [{ type: "x", y: { z: "e" } }],
      }),
    );
    expect(["a", "b", "c", "d", "e"].every((word) => countOccurringTexts([word], all) === 1)).toBe(true);
    expect(countOccurringTexts(["magnet", "content", "user_message"], all)).toBe(0);
    const held = collectMemoryTexts(
      makeMemory("magnet", 1, {
        text: "a",
        claim: { subject: "b", relation: "c", value: "d", qualifier: "e" },
        sources: [{ message: "magnet", start: 0, end: 1, quote: "f" }],
        why: "g",
      }),
    );
    expect(["a", "b", "c", "d", "e", "f", "g"].every((word) => countOccurringTexts([word], held) === 1)).toBe(
      true,
    );
    expect(countOccurringTexts(["magnet", "fact"], held)).toBe(0);
  });
});
