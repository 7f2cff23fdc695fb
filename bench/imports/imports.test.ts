import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { IMPORT_FORMATS } from "../../src/domain/operations/import-format.ts";
import { FILE_MAKERS } from "./made-files.ts";
import { type ImportResults, mergeImportRuns, renderImportPage } from "./page.ts";
import { type ImportFigures, measureImport } from "./run.ts";

const FOLDER = join(import.meta.dirname, "../../docs/results");
/** Formats of Keepsake itself, and of data sets, which no other program writes. */
const OWN = ["auto", "jsonl", "keepsake", "locomo", "longmemeval"];
const NO_BARS = { peakMegabytes: Number.POSITIVE_INFINITY };

describe("the measure of imports", () => {
  it("has a maker for each format of another program", () => {
    const others = IMPORT_FORMATS.filter((name) => !OWN.includes(name));
    expect(Object.keys(FILE_MAKERS).toSorted()).toEqual(others.toSorted());
  });

  it.each(Object.keys(FILE_MAKERS))(
    "imports a made file of %s whole, stores nothing the second time, and undoes it to an equal digest",
    async (format) => {
      const figures = await measureImport(format, 200, NO_BARS);
      expect(figures).toMatchObject({ problems: [], againNew: 0, isUndone: true });
      expect(figures.messages + figures.memories).toBeGreaterThanOrEqual(200);
    },
  );

  it("ends with 1 and says why where a bar does not hold", () => {
    const program = join(import.meta.dirname, "main.ts");
    const args = ["--format", "mem0", "--messages", "20", "--most-mb", "1"];
    const { status, stderr } = spawnSync(process.execPath, ["--no-warnings", program, ...args], {
      encoding: "utf8",
    });
    expect([status, stderr]).toEqual([
      1,
      expect.stringMatching(/mem0: the process took \d+ MB; the bar is 1 MB/),
    ]);
  });
});

describe("the page of imports", () => {
  const read = (name: string): string => readFileSync(join(FOLDER, name), "utf8");
  const results = (): ImportResults => JSON.parse(read("imports.json")) as ImportResults;

  it("says what its results say", () => {
    expect(read("imports.md")).toBe(renderImportPage(results()));
  });

  it("has a row of 10,000 for each format of another program, and every bar holds there", () => {
    const runs = results().runs.filter(({ size }) => size === 10_000);
    expect(runs.map(({ format }) => format)).toEqual(Object.keys(FILE_MAKERS));
    expect(runs.flatMap(({ problems }) => problems)).toEqual([]);
  });

  it("has larger imports, which store nothing the second time and are undone, too", () => {
    const larger = results().runs.filter(({ size }) => size > 10_000);
    expect(larger.length).toBeGreaterThan(0);
    expect(larger.filter(({ againNew, isUndone }) => againNew !== 0 || !isUndone)).toEqual([]);
  });

  it("keeps a format's rows of other sizes, and replaces the one of the same size", () => {
    const run = (format: string, size: number, importSeconds: number): ImportFigures => {
      const known = results().runs.find((one) => one.format === format) as ImportFigures;
      return { ...known, size, importSeconds };
    };
    const before = [run("pam", 100, 1), run("mem0", 100, 2), run("mem0", 1000, 3)];
    const merged = mergeImportRuns(before, [run("mem0", 100, 4)], ["mem0", "pam"]);
    expect(merged.map(({ format, size, importSeconds }) => [format, size, importSeconds])).toEqual([
      ["mem0", 100, 4],
      ["pam", 100, 1],
      ["mem0", 1000, 3],
    ]);
  });
});
