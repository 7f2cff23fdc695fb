import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { measureStructure, readSources } from "./structure.ts";
import { STRUCTURE_ROWS } from "./structure-page.ts";

const ROOT = join(import.meta.dirname, "..");
const SRC = join(ROOT, "src");
const PAGE = readFileSync(join(ROOT, "docs/results/structure.md"), "utf8");
const NOW = measureStructure(readSources(SRC), (path) => readFileSync(join(SRC, path), "utf8"));

/** The third column of each row: all of the source, now. */
const WRITTEN = new Map(
  [...PAGE.matchAll(/^\| ([^|`]+) \| [\d,]+ \| [\d,]+ \| ([\d,]+) \|/gm)].map(([, title = "", now = ""]) => [
    title,
    Number(now.replaceAll(",", "")),
  ]),
);

describe("the page on the structure of the source", () => {
  it("has the rows that its program writes, in their order", () => {
    expect([...WRITTEN.keys()]).toEqual(STRUCTURE_ROWS.map(({ title }) => title));
  });

  it("gives the figures of today, and those that follow every change within a twentieth", () => {
    const stale = STRUCTURE_ROWS.filter(({ title, countOf, isVolatile = false }) => {
      const [written = Number.NaN, now] = [WRITTEN.get(title), countOf(NOW)];
      return !(Math.abs(written - now) <= (isVolatile ? Math.max(1, now / 20) : 0));
    });
    // Run `node scripts/structure-page.ts` to write the page anew.
    expect(stale.map(({ title, countOf }) => `${title}: ${countOf(NOW)}`)).toEqual([]);
  });

  it("names every run-time dependency with its size, and draws the layers now and first", () => {
    const { dependencies } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as {
      readonly dependencies: { readonly [name: string]: string };
    };
    const named = [...PAGE.matchAll(/^\| `([^`]+)` \| [\d.]+ MB \|$/gm)].map(([, name]) => name);
    expect(named).toEqual(Object.keys(dependencies));
    expect(PAGE.match(/^flowchart LR$/gm)).toHaveLength(2);
  });
});
