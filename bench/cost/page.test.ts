import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { BAR, type CostResults, pageOf } from "./page.ts";

const FOLDER = join(import.meta.dirname, "../../docs/results");
const results = JSON.parse(readFileSync(join(FOLDER, "cost.json"), "utf8")) as CostResults;

it("the page of costs says what the results say", () => {
  expect(readFileSync(join(FOLDER, "cost.md"), "utf8")).toBe(pageOf(results));
});

it("and they hold the bar", () => {
  expect(results.runs.find(({ atOnce }) => atOnce === "session")?.perThousand.dollars).toBeLessThan(BAR);
});
