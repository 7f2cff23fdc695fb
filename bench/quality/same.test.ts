import { expect, it } from "vitest";
import type { QualityReport } from "./report.ts";
import { differences } from "./same.ts";

const report = (metrics: QualityReport["metrics"], n = 8): QualityReport => ({
  set: "stories",
  metrics,
  baseline: {},
  n,
});

it("takes figures within half a point for the same, and leaves times alone", () => {
  expect(
    differences(report({ passed: 90, p50_ms: 1 }), report({ passed: 90.5, p50_ms: 70, index_answered: 99 })),
  ).toEqual([]);
});

it("names what differs, what is missing on either side, and other questions", () => {
  expect(differences(report({ passed: 90, mrr: 70 }), report({ passed: 89.4, far: 3 }, 7))).toEqual([
    "not the same questions",
    "passed: 90 and 89.4",
    "mrr: 70 and undefined",
    "far: undefined and 3",
  ]);
});

it("does not believe an index that was not asked", () => {
  expect(differences(report({ passed: 90 }), report({ passed: 90, index_answered: 12 }))).toEqual([
    "the index answered 12 of 100",
  ]);
});
