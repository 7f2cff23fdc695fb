import fc from "fast-check";
import { expect, it } from "vitest";
import {
  createSignals,
  isBitSignal,
  SIGNAL_NAMES,
  type Signals,
  type UnitPlaces,
} from "./retrievers/signals.ts";
import {
  blendWeights,
  boostOf,
  computeRelevance,
  explainRelevance,
  findRankingProfile,
  scoreOf,
} from "./scoring.ts";

const share = fc.double({ min: 0, max: 1, noNaN: true });
const qualities = fc.record({ recency: share, evidence: share, importance: share, confidence: share });
const profile = fc.constantFrom(findRankingProfile("default"), findRankingProfile("classic"));
const columns = fc.integer({ min: 1, max: 8 }).chain((slots) =>
  fc.array(fc.array(share, { minLength: slots, maxLength: slots }), {
    minLength: SIGNAL_NAMES.length,
    maxLength: SIGNAL_NAMES.length,
  }),
);
const BITS = { answers: 1, own: 2, theirs: 4, tells: -8 };

function signalsOf(values: readonly (readonly number[])[]): Signals {
  const filled = createSignals(BITS);
  for (const [i, signal] of SIGNAL_NAMES.entries()) {
    const column = Float32Array.from(values[i] ?? []);
    if (signal === "named") filled.named = column;
    else if (!isBitSignal(signal)) filled.columns[signal] = column;
    // Shares of the greatest, but for those that have a natural top.
    const isShare = ["words", "window", "session", "near", "apart", "around"].includes(signal);
    filled.tops[signal] = isShare ? Math.max(...column) : 1;
  }
  return filled;
}

/** As many turns and sessions as units; every third unit is from no turn. */
function placesOf(slots: number): UnitPlaces {
  const numbers = Array.from({ length: slots }, (_, i) => i);
  return {
    slots,
    turn: Int32Array.from(numbers, (i) => (i % 3 === 2 ? -1 : i)),
    turns: slots,
    session: Int32Array.from(numbers.toReversed()),
    speaker: Int32Array.from(numbers, (i) => i - 1),
    bits: Uint8Array.from(numbers, (i) => i % 16),
  };
}

it("relevance and score lie between 0 and 1, and the parts add up to the relevance", () => {
  fc.assert(
    fc.property(columns, profile, share, qualities, (values, one, talk, quality) => {
      const filled = signalsOf(values);
      const weights = blendWeights(one, talk);
      const places = placesOf(filled.columns.words.length);
      const slots = Int32Array.from({ length: places.slots }, (_, slot) => slot);
      for (const [slot, value] of computeRelevance(filled, weights, places, slots).entries()) {
        expect(value).toBeGreaterThanOrEqual(0);
        expect(value).toBeLessThanOrEqual(1 + 1e-6);
        const parts = Object.values(explainRelevance(filled, weights, places, slot));
        expect(parts.reduce((all, part) => all + part, 0)).toBeCloseTo(value, 4);
        const score = scoreOf(one, Math.min(1, value), quality);
        expect(score).toBeGreaterThanOrEqual(0);
        expect(score).toBeLessThanOrEqual(1);
      }
    }),
  );
});

it("qualities reduce a score by at most a sixth, so that relevance dominates", () => {
  const none = { recency: 0, evidence: 0, importance: 0, confidence: 0 };
  expect(boostOf(findRankingProfile("default"), none)).toBeGreaterThan(5 / 6);
  expect(
    boostOf(findRankingProfile("default"), { recency: 1, evidence: 1, importance: 1, confidence: 1 }),
  ).toBe(1);
});

it("higher relevance gives a higher score, all else equal", () => {
  fc.assert(
    fc.property(profile, share, share, qualities, (one, a, b, quality) => {
      if (a > b) expect(scoreOf(one, a, quality)).toBeGreaterThanOrEqual(scoreOf(one, b, quality));
    }),
  );
});

it("the classic profile is 0.4 similarity, 0.3 recency, 0.2 evidence, 0.1 confidence", () => {
  const classic = findRankingProfile("classic");
  const score = scoreOf(classic, 0.5, { recency: 0.2, evidence: 0.4, importance: 1, confidence: 0.6 });
  expect(score).toBeCloseTo(0.4 * 0.5 + 0.3 * 0.2 + 0.2 * 0.4 + 0.1 * 0.6, 10);
});

it("refuses an unknown profile", () => {
  expect(() => findRankingProfile("best")).toThrow(expect.objectContaining({ code: "invalid_input" }));
});
