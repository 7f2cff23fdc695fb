import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { coveragePage, findCoverageFaults } from "./coverage.ts";
import { COVERAGE_ROWS, type CoverageRow } from "./coverage-rows.ts";

describe("the page on coverage", () => {
  it("has 55 rows, and each row that is met names a test that exists", () => {
    expect(COVERAGE_ROWS).toHaveLength(55);
    expect(findCoverageFaults(COVERAGE_ROWS)).toEqual([]);
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
