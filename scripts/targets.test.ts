import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { targetsPage } from "./targets.ts";

it("the page of the targets is what the results give", () => {
  const page = readFileSync(join(import.meta.dirname, "../docs/targets.md"), "utf8");
  expect(page, "run: npm run docs").toBe(targetsPage());
});

it("each target is defined, measured, and said to be reached or not", () => {
  const rows = targetsPage()
    .split("\n")
    .filter((line) => line.startsWith("| ") && !line.startsWith("| Target"));
  expect(rows).toHaveLength(5);
  for (const row of rows) expect(row).toMatch(/ \| (?:yes|no|as far as [^|]+) \| \[/);
});
