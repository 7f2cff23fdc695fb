import fc from "fast-check";
import { expect, it } from "vitest";
import type { RankingOptions } from "../../domain/recall.ts";
import {
  createSignals,
  isBitSignal,
  SIGNAL_NAMES,
  type Signals,
  type UnitPlaces,
} from "./retrievers/signals.ts";
import {
  accessOf,
  blendWeights,
  boostOf,
  computeRelevance,
  explainRelevance,
  explainScore,
  findRankingProfile,
  scoreOf,
} from "./scoring.ts";

const share = fc.double({ min: 0, max: 1, noNaN: true });
const qualities = fc.record({
  recency: share,
  access: share,
  evidence: share,
  importance: share,
  confidence: share,
});
const profile = fc.constantFrom(
  findRankingProfile({ profile: "default" }),
  findRankingProfile({ profile: "classic" }),
);
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
  const none = { recency: 0, access: 0, evidence: 0, importance: 0, confidence: 0 };
  expect(boostOf(findRankingProfile({ profile: "default" }), none)).toBeGreaterThan(5 / 6);
  expect(
    boostOf(findRankingProfile({ profile: "default" }), {
      recency: 1,
      access: 1,
      evidence: 1,
      importance: 1,
      confidence: 1,
    }),
  ).toBe(1);
});

it("higher relevance gives a higher score, all else equal", () => {
  fc.assert(
    fc.property(profile, share, share, qualities, (one, a, b, quality) => {
      if (a > b) expect(scoreOf(one, a, quality)).toBeGreaterThanOrEqual(scoreOf(one, b, quality));
    }),
  );
});

it("the classic profile is 0.4 similarity, 0.3 recency, 0.2 access, 0.1 confidence", () => {
  const classic = findRankingProfile({ profile: "classic" });
  const score = scoreOf(classic, 0.5, {
    recency: 0.2,
    access: 0.4,
    evidence: 1,
    importance: 1,
    confidence: 0.6,
  });
  expect(score).toBeCloseTo(0.4 * 0.5 + 0.3 * 0.2 + 0.2 * 0.4 + 0.1 * 0.6, 10);
});

it("refuses an unknown profile", () => {
  expect(() => findRankingProfile({ profile: "best" })).toThrow(
    expect.objectContaining({ code: "invalid_input" }),
  );
});

it("weights count by their share of the sum", () => {
  const weighted = findRankingProfile({ weights: { similarity: 3, access: 1 } });
  const quality = { recency: 1, access: 0.5, evidence: 1, importance: 1, confidence: 1 };
  expect(scoreOf(weighted, 0.8, quality)).toBeCloseTo(0.75 * 0.8 + 0.25 * 0.5, 10);
  const asClassic = { similarity: 0.4, recency: 0.3, access: 0.2, confidence: 0.1 };
  const classic = findRankingProfile({ profile: "classic" });
  expect(scoreOf(findRankingProfile({ weights: asClassic }), 0.3, quality)).toBeCloseTo(
    scoreOf(classic, 0.3, quality),
    10,
  );
});

it.each<[unknown, RegExp]>([
  [{ weights: {} }, /at least one/],
  [{ weights: { similarity: 0 } }, /at least one/],
  [{ weights: { similarity: -1 } }, /from 0/],
  [{ weights: { similarity: Number.NaN } }, /from 0/],
  [{ weights: { similarity: "1" } }, /from 0/],
  [{ weights: { likeness: 1 } }, /Known weights: similarity, recency, access, /],
  [{ weights: [1] }, /an object/],
  [{ weights: { similarity: 1 }, profile: "default" }, /classic/],
])("refuses the weights %j", (options, message) => {
  expect(() => findRankingProfile(options as RankingOptions)).toThrow(message);
});

it("the number of uses counts on a logarithmic scale up to 100", () => {
  expect([0, 100, 5000].map(accessOf)).toEqual([0, 1, 1]);
  expect(accessOf(10)).toBeGreaterThan(0.5);
  expect(accessOf(10)).toBeLessThan(accessOf(11));
});

it("the parts of a score give the score again", () => {
  fc.assert(
    fc.property(profile, share, qualities, (one, relevance, quality) => {
      const { adds, factors } = explainScore(one, relevance, quality);
      const sum = Object.values(adds).reduce((all, part) => all + part, 0);
      const product = Object.values(factors).reduce((all, factor) => all * factor, sum);
      expect(product).toBeCloseTo(scoreOf(one, relevance, quality), 10);
    }),
  );
});
