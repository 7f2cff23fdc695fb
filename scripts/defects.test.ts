import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { DEFECT_ROWS, defectsPage, findDefectFaults } from "./defects.ts";

describe("the page on defects found by use", () => {
  it("has twenty rows, and each names a test that exists", () => {
    expect(DEFECT_ROWS).toHaveLength(20);
    expect(findDefectFaults(DEFECT_ROWS)).toEqual([]);
  });

  it("is the one that the rows give", () => {
    const page = join(import.meta.dirname, "../docs/results/defects.md");
    expect(readFileSync(page, "utf8")).toBe(defectsPage());
  });

  it("would not accept a row with a title that no test has, or a number twice", () => {
    const [row] = DEFECT_ROWS;
    if (!row) throw new Error("there are no rows");
    const wrong = { ...row, test: [row.test[0], "no such title".toUpperCase()] as const };
    expect(findDefectFaults([wrong])).toEqual([`row ${row.number}: there is no such test`]);
    expect(findDefectFaults([row, row])).toEqual([`row ${row.number}: occurs twice`]);
  });
});
