import fc from "fast-check";
import { expect, it } from "vitest";
import { cutText, GAP_MARK, toWholeTokens } from "./cut-text.ts";

it("removes a sentence together with the space behind it", () => {
  const text = "I use Shram. I use Magnet. I like tea.";
  expect(cutText(text, [{ start: 13, end: 26, put: "" }]).text).toBe("I use Shram. I like tea.");
});

it("removes the last sentence together with the space before it", () => {
  expect(cutText("I like tea. I use Magnet.", [{ start: 12, end: 25, put: "" }]).text).toBe("I like tea.");
});

it("leaves a gap mark for words inside a sentence", () => {
  const text = "I use Shram and Magnet as tools.";
  expect(cutText(text, [{ start: 16, end: 22, put: GAP_MARK }]).text).toBe("I use Shram and […] as tools.");
});

it("applies the wider of two overlapping cuts", () => {
  const text = "I use Magnet. Fine.";
  const cuts = [
    { start: 6, end: 12, put: GAP_MARK },
    { start: 0, end: 13, put: "" },
  ];
  expect(cutText(text, cuts).text).toBe("Fine.");
});

it("removes a whole number if a cut begins or ends in it", () => {
  expect(cutText("It is 2,350 USD now.", [{ start: 6, end: 7, put: GAP_MARK }]).text).toBe(
    `It is ${GAP_MARK} USD now.`,
  );
});

it("removes the white space between two cuts once", () => {
  const cuts = [
    { start: 0, end: 1, put: "" },
    { start: 1, end: 2, put: "" },
  ];
  const { text, place } = cutText(" a", cuts);
  expect([text, place(0), place(1), place(2)]).toEqual(["", 0, 0, 0]);
});

it("maps every kept character to its place in the new text", () => {
  const letters = fc.string({ unit: fc.constantFrom("a", "b", " ", "ü", "."), maxLength: 40 });
  const cut = fc.record({
    start: fc.nat(40),
    length: fc.integer({ min: 1, max: 10 }),
    put: fc.constantFrom("", GAP_MARK),
  });
  fc.assert(
    fc.property(letters, fc.array(cut, { maxLength: 4 }), (text, drawn) => {
      const cuts = drawn
        .map(({ start, length, put }) => ({
          start: Math.min(start, text.length),
          end: Math.min(start + length, text.length),
          put,
        }))
        .filter(({ start, end }) => end > start);
      const { text: left, place } = cutText(text, cuts);
      const wholeCuts = cuts.map((one) => toWholeTokens(text, one));
      for (let i = 0; i < text.length; i += 1) {
        if (/\s/.test(text[i] ?? "") || wholeCuts.some(({ start, end }) => i >= start && i < end)) continue;
        expect(left[place(i)]).toBe(text[i]);
      }
      for (let i = 1; i <= text.length; i += 1) expect(place(i)).toBeGreaterThanOrEqual(place(i - 1));
    }),
  );
});
