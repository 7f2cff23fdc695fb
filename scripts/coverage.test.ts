import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { coveragePage, findCoverageFaults, findSampleFaults, findUnproven } from "./coverage.ts";
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

  it("is shown only by tests that ran and passed", () => {
    const reportOf = (name: string, ...runs: readonly (readonly [title: string, status: string])[]) => ({
      testResults: [{ name, assertionResults: runs.map(([title, status]) => ({ title, status })) }],
    });
    const find = (run: ReturnType<typeof reportOf>, file = "src/a.test.ts", title = "is good") =>
      findUnproven(
        [reportOf("/x/src/b.test.ts", ["is good", "passed"]), run],
        ["/src/absent/"],
        [[file, title]],
      );
    expect(find(reportOf("/x/src/a.test.ts", ["is good", "passed"]))).toEqual([]);
    expect(find(reportOf("/x/src/a.test.ts", ["is good", "skipped"]))).toEqual([
      'src/a.test.ts: "is good" did not pass',
    ]);
    expect(find(reportOf("/x/src/a.test.ts", ["is good", "failed"]))).toHaveLength(1);
    expect(find(reportOf("/x/src/c.test.ts", ["is good", "passed"]))).toEqual([
      'src/a.test.ts: "is good" did not run',
    ]);
    const each = reportOf(
      "/x/src/a.test.ts",
      ["is good for 3 (of 4)", "passed"],
      ["is good for 5", "skipped"],
    );
    expect(find(each, "src/a.test.ts", "is good for %d (of 4)")).toEqual([]);
    expect(find(each, "src/a.test.ts", "is good for %d")).toHaveLength(1);
    expect(find(each, "src/absent/a.test.ts")).toEqual([]);
    const suite = reportOf("/x/src/a.test.ts", ["keeps", "skipped"], ["keeps", "passed"]);
    expect(find(suite, "src/testing/cases.ts", "keeps")).toEqual([]);
  });

  it("is not shown by a test that is switched off", () => {
    const file = "scripts/coverage.test.ts";
    const rowOf = (title: string): CoverageRow => ({
      number: 1,
      asks: "a page",
      state: "yes",
      how: "this one",
      test: [file, title],
    });
    // As a test that is switched off would stand here: it.skip("is switched off here")
    expect(findCoverageFaults([rowOf("is what the rows say")])).toEqual([]);
    expect(findCoverageFaults([rowOf(["is switched off", "here"].join(" "))])).toHaveLength(1);
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
