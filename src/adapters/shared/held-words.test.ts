import { describe, expect, it } from "vitest";
import { memory, message } from "../../testing/change-sets.ts";
import { countHeld, wordsOfMemory, wordsOfMessage } from "./held-words.ts";

describe("words that are held", () => {
  it("are whole words, in any case", () => {
    expect(countHeld(["Ana"], ["banana, anaphora"])).toBe(0);
    expect(countHeld(["Ana", "rome"], ["banana split\nfor ANA.", "(Rome)"])).toBe(2);
    expect(countHeld(["école"], ["L'ÉCOLE"])).toBe(1);
    expect(countHeld(["東京"], ["東京都に住む"])).toBe(1);
    expect(countHeld([""], ["anything"])).toBe(0);
  });

  it("are in every field that a person fills, and in no other", () => {
    const all = wordsOfMessage(
      message("magnet", {
        content: "a",
        name: "b",
        metadata: { c: "d" },
        parts: [{ type: "x", y: { z: "e" } }],
      }),
    );
    expect(["a", "b", "c", "d", "e"].every((word) => countHeld([word], all) === 1)).toBe(true);
    expect(countHeld(["magnet", "content", "user_message"], all)).toBe(0);
    const held = wordsOfMemory(
      memory("magnet", 1, {
        text: "a",
        claim: { subject: "b", relation: "c", value: "d", qualifier: "e" },
        sources: [{ message: "magnet", start: 0, end: 1, quote: "f" }],
        why: "g",
      }),
    );
    expect(["a", "b", "c", "d", "e", "f", "g"].every((word) => countHeld([word], held) === 1)).toBe(true);
    expect(countHeld(["magnet", "fact"], held)).toBe(0);
  });
});
