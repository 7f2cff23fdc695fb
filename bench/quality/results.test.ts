import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { pageOf } from "./page.ts";
import { readResults, resultOf } from "./results.ts";

const REPORT = {
  set: "beam",
  metrics: { "recall@10": 55, "recall@10 (b)": 50, "recall@10 (a)": 60, mrr: 40, context_tokens: 1234 },
  baseline: { "recall@10": 42, "recall@10 (b)": 41, "recall@10 (a)": 43, mrr: 30, context_tokens: 5678 },
  intervals: { "recall@10": [51, 59] as const },
  n: 2,
  per_question: [{ question: "Where is the boat?", "recall@10": 1 }],
};

describe("The page of results", () => {
  it("is what the committed figures make of it", () => {
    const page = readFileSync(join(import.meta.dirname, "../../docs/results/quality.md"), "utf8");
    expect(page).toBe(pageOf(readResults()));
  });

  it("shows each figure with its interval, BM25, n, both sizes and the command", () => {
    const sets = [resultOf(REPORT, "npm run -s eval -- beam --data DIR")];
    const page = pageOf({ measuredOn: "2026-01-01", node: "24.0.0", embedder: "static", sets });
    expect(page).toContain("| beam | recall@10 | **55.0** | 51.0 to 59.0 | 42.0 | 2 | 1,234 | 5,678 |");
    expect(page).toContain("npm run -s eval -- beam --data DIR");
    expect(page.indexOf("| a | **60.0** | 43.0 |")).toBeLessThan(page.indexOf("| b | **50.0** | 41.0 |"));
  });

  it("shows what was left out of the fitting where it is known", () => {
    const none = pageOf({ measuredOn: "2026-01-01", node: "24.0.0", embedder: "static", sets: [] });
    expect(none).not.toContain("left out of the fitting");
    const leftOut = [
      { set: "locomo", metric: "turn_recall@10", without: "each conversation", fitted: 78, leftOut: 76.5 },
    ];
    const page = pageOf({ measuredOn: "2026-01-01", node: "24.0.0", embedder: "static", sets: [], leftOut });
    expect(page).toContain("| locomo | turn_recall@10 | each conversation | 78.0 | **76.5** |");
  });

  it("takes no question from the data", () => {
    expect(JSON.stringify(resultOf(REPORT, ""))).not.toContain("boat");
  });
});
