import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { describe, expect, it } from "vitest";

function evaluate(...given: string[]): { status: number | null; stdout: string; stderr: string } {
  const main = join(import.meta.dirname, "main.ts");
  const { status, stdout, stderr } = spawnSync(process.execPath, [main, ...given], { encoding: "utf8" });
  return { status, stdout, stderr };
}

describe("The evaluation", () => {
  it("prints one JSON document and nothing else with --json, and its progress on stderr", () => {
    const { status, stdout, stderr } = evaluate("stories", "--limit", "2", "--json");
    expect(status).toBe(0);
    expect(Object.keys(JSON.parse(stdout) as object).sort()).toEqual([
      "baseline",
      "counts",
      "intervals",
      "metrics",
      "n",
      "per_question",
      "set",
    ]);
    expect(stderr).toContain("2 of 2");
  });

  it("prints a table with the baseline and the interval for people", () => {
    const { stdout } = evaluate("locomo", "--limit", "2");
    expect(stdout).toMatch(/^locomo, n = 2 +keepsake +BM25 +95 %\n/);
    expect(stdout).toMatch(/^turn_recall@10 +\d+\.\d +\d+\.\d +\d+\.\d to \d+\.\d$/m);
  });

  it.each([[["nothing"]], [["stories", "--embedder", "toString"]], [["stories", "--limit", "0"]]])(
    "says how it is used where it is used wrongly: %s",
    (given) => {
      const { status, stdout, stderr } = evaluate(...given);
      expect({ status, stdout }).toEqual({ status: 2, stdout: "" });
      expect(stderr).toContain("SET is one of stories, locomo, longmemeval, beam");
    },
  );

  it("fails at once, and says what is missing, where the data or the embedder is not there", () => {
    const lost = evaluate("beam", "--data", join(import.meta.dirname, "small"));
    expect(lost.status).toBe(1);
    expect(lost.stderr).toContain("bench/quality/README.md");
    const mute = evaluate("stories", "--embedder", "minilm", "--model", "/not/there");
    expect(mute.status).toBe(1);
    expect(mute.stdout).toBe("");
  });
});
