import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { coveragePage, findCoverageFaults, findSampleFaults } from "./coverage.ts";
import { COVERAGE_ROWS, type CoverageRow } from "./coverage-rows.ts";
import { COVERAGE_SAMPLES } from "./coverage-samples.ts";

describe("the page on coverage", () => {
  it("has 55 rows, and each row that is met names a test that exists", () => {
    expect(COVERAGE_ROWS).toHaveLength(55);
    expect(findCoverageFaults(COVERAGE_ROWS)).toEqual([]);
  });

  it("names for each dialogue and sample a test that exists, or says why there is none", () => {
    expect(findSampleFaults(COVERAGE_SAMPLES)).toEqual([]);
    const sample = { document: 1, shows: "a page" };
    const missing = ["scripts/coverage.test.ts", "no such title".toUpperCase()] as const;
    expect(findSampleFaults([sample, { ...sample, test: missing }])).toHaveLength(2);
  });

  it("is what the rows say", () => {
    const page = join(import.meta.dirname, "../docs/coverage.md");
    expect(readFileSync(page, "utf8")).toBe(coveragePage());
  });

  it.each<[string, Partial<CoverageRow>]>([
    ["a title that no test has", { test: ["scripts/coverage.test.ts", "no such title".toUpperCase()] }],
    ["a file that does not exist", { test: ["scripts/nothing.test.ts", "is what the rows say"] }],
    ["no test", { test: undefined as never }],
    ["a gap that it does not name", { state: "part" }],
    ["a proof of what is not there", { state: "no" }],
    ["another number", { number: 2 }],
  ])("would not accept a row with %s", (_what, change) => {
    const good: CoverageRow = {
      number: 1,
      asks: "a page",
      state: "yes",
      how: "this one",
      test: ["scripts/coverage.test.ts", "is what the rows say"],
    };
    expect(findCoverageFaults([good])).toEqual([]);
    expect(findCoverageFaults([{ ...good, ...change }])).toHaveLength(1);
  });
});
