import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { cutText, GAP_MARK, isInsideToken, matchWholeTokens, toWholeTokens } from "./cut-text.ts";

function foundIn(text: string, part: string): string | undefined {
  const start = text.indexOf(part);
  const span = matchWholeTokens(text, { start, end: start + part.length });
  return span && text.slice(span.start, span.end);
}

describe("matchWholeTokens", () => {
  it.each([
    ["2,350 USD", "350"],
    ["2,350 USD", "2"],
    ["2.350,00 EUR", "350"],
    ["2\u202f350 kr", "2"],
    ["at 12:30 today", "12"],
    ["room A-17 it is", "17"],
    ["room A-17 it is", "A"],
    ["we run v2.3.1 now", "v2"],
    ["we run v2.3.1 now", "3"],
    ["Python 3.11 here", "Python 3"],
    ["on 2026-03-01 then", "03"],
    ["120/80 at rest", "80"],
    ["I don't", "don"],
    ["to jo@pine.io.nz", "jo@pine.io"],
    ["to ajo@pine.io", "pine.io"],
  ])("in %j: does not find %j, a part of something else", (text, part) => {
    expect(foundIn(text, part)).toBeUndefined();
  });

  it.each([
    ["2,350 USD", "2,350", "2,350"],
    ["Miso's bowl", "Miso", "Miso's"],
    ["token kappa7-2025-08 it is", "kappa7", "kappa7-2025-08"],
    ["after Covid-19 hit", "Covid", "Covid-19"],
    ["write to miso@pine.io.nz now", "miso", "miso@pine.io.nz"],
    ["see https://x.org/miso/a now", "miso", "https://x.org/miso/a"],
    ["Lisbon.My dog", "Lisbon", "Lisbon"],
    ["Shram/Magnet", "Magnet", "Magnet"],
    ["the 5.", "5", "5"],
    ["你好Miso世界", "Miso", "Miso"],
    ["flat B's key", "B", "B's"],
  ])("in %j: finds %j as %j", (text, part, whole) => {
    expect(foundIn(text, part)).toBe(whole);
  });
});

const AMOUNT = fc
  .tuple(
    fc.integer({ min: 1, max: 999 }),
    fc.integer({ min: 0, max: 999 }),
    fc.constantFrom(",", ".", "\u202f"),
  )
  .map(([most, rest, mark]) => `${most}${mark}${String(rest).padStart(3, "0")}`);
const DECIMAL = fc
  .tuple(fc.nat(9999), fc.nat(99), fc.constantFrom(".", ","))
  .map((all) => `${all[0]}${all[2]}${all[1]}`);
const DATE = fc
  .date({ min: new Date("1990-01-01"), max: new Date("2040-01-01"), noInvalidDate: true })
  .map((one) => one.toISOString().slice(0, 10));
const TIME = fc.tuple(fc.nat(23), fc.nat(59)).map(([h, m]) => `${h}:${String(m).padStart(2, "0")}`);
const CODE = fc
  .tuple(fc.constantFrom("A", "B", "QX", "ward"), fc.nat(99))
  .map(([letters, n]) => `${letters}-${n}`);
const VERSION = fc.tuple(fc.nat(9), fc.nat(20), fc.nat(9)).map((all) => `v${all.join(".")}`);
const MAIL = fc
  .tuple(fc.constantFrom("ana", "jo.b", "miso+x"), fc.constantFrom("pine.io", "mail.example.org"))
  .map((all) => all.join("@"));
const WORD = fc.constantFrom(
  "Miso",
  "Jean-Luc",
  "O'Brien",
  "Ana's",
  "naïve",
  "don't",
  "über",
  "Straße",
  "2nd",
  "C-level",
);
const TOKENS = fc.array(fc.oneof(AMOUNT, DECIMAL, DATE, TIME, CODE, VERSION, MAIL, WORD), {
  minLength: 1,
  maxLength: 8,
});
const BETWEEN = [" ", ", ", ". ", " - ", " (", ") ", "; ", "\n", ": ", "! "];

/** A text of such tokens, and the position of each. */
const TEXT = TOKENS.chain((tokens) =>
  fc
    .array(fc.constantFrom(...BETWEEN), { minLength: tokens.length, maxLength: tokens.length })
    .map((between) => {
      let text = "";
      const spans = tokens.map((token, i) => {
        const start = text.length;
        text += token + (i === tokens.length - 1 ? "." : between[i]);
        return { start, end: start + token.length };
      });
      return { text, spans };
    }),
);

describe("cutText at random positions in amounts, dates, codes, versions and addresses", () => {
  it("removes whole tokens only, including everything named", () => {
    fc.assert(
      fc.property(TEXT, fc.nat(), fc.nat(), ({ text, spans }, one, other) => {
        const [start = 0, end = 0] = [one % text.length, other % text.length].sort((a, b) => a - b);
        fc.pre(start < end);
        const widened = toWholeTokens(text, { start, end });
        expect(widened.start).toBeLessThanOrEqual(start);
        expect(widened.end).toBeGreaterThanOrEqual(end);
        for (const token of spans) {
          const touched = start < token.end && token.start < end;
          const gone = widened.start <= token.start && token.end <= widened.end;
          const kept = token.end <= widened.start || widened.end <= token.start;
          expect([text.slice(token.start, token.end), touched ? gone : kept]).toEqual([
            text.slice(token.start, token.end),
            true,
          ]);
        }
        expect(isInsideToken(text, widened.start) || isInsideToken(text, widened.end)).toBe(false);
        const made = cutText(text, [{ start, end, put: GAP_MARK }]).text;
        expect(made).toBe(text.slice(0, widened.start) + GAP_MARK + text.slice(widened.end));
        for (const place of [widened.start, widened.end]) {
          const around = [text.slice(Math.max(0, place - 1), place), text.slice(place, place + 1)];
          expect(around.every((one) => /[\p{L}\p{N}]/u.test(one))).toBe(false);
        }
      }),
      { numRuns: 2000 },
    );
  });
});
