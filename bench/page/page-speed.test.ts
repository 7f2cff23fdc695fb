import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { findSlow, renderPage } from "./bars.ts";
import { CHROMIUM, type PageFigures, runPageBench } from "./measure-page.ts";

const RESULTS = join(import.meta.dirname, "../../docs/results/page-speed.json");

describe("the speed of the page", () => {
  it.skipIf(!existsSync(CHROMIUM))(
    "is measured in a browser, from loads to frames, at a small size",
    async () => {
      const figures = await runPageBench({ memories: 500, rounds: 2 });
      const { firstList, opened, keystroke, frame } = figures;
      expect([firstList.warm.n, opened.n]).toEqual([2, 2]);
      expect(keystroke.n).toBe("sister porto".length + "painted the door".length);
      expect(frame.n).toBe(300);
      for (const time of [firstList.cold, firstList.warm.p50, opened.p50, keystroke.p50, frame.p50])
        expect(time).toBeGreaterThan(0);
    },
  );

  it("is told with what is above its bar", () => {
    const figures = JSON.parse(readFileSync(RESULTS, "utf8")) as PageFigures;
    const slow = { ...figures, frame: { ...figures.frame, longest: 51 } };
    expect(findSlow(slow)).toContain("Longest frame while scrolling: 51 ms, the bar is 50 ms.");
    const fast = { ...figures, frame: { ...figures.frame, longest: 50 } };
    expect(findSlow(fast).some((line) => line.startsWith("Longest frame"))).toBe(false);
  });

  it("is on the page of results as it was measured", () => {
    const figures = JSON.parse(readFileSync(RESULTS, "utf8")) as PageFigures;
    expect(readFileSync(RESULTS.replace(".json", ".md"), "utf8")).toBe(renderPage(figures));
  });
});
