import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { type CampaignResults, type CampaignRun, mergeRuns, nameOf, renderCampaign } from "./page.ts";
import { CAMPAIGN } from "./programs.ts";
import { filesPassed, runToEnd } from "./run-program.ts";

const ROOT = join(import.meta.dirname, "../..");
const read = (file: string): string => readFileSync(join(ROOT, file), "utf8");
const results = (): CampaignResults => JSON.parse(read("docs/results/reliability.json")) as CampaignResults;

/** Files that take options and can be run; what they begin themselves takes none. */
function programsOf(folder: string): string[] {
  return readdirSync(join(ROOT, folder))
    .filter((name) => name.endsWith(".ts") && !name.endsWith(".test.ts") && name !== "kill.ts")
    .map((name) => `${folder}/${name}`)
    .filter((file) => /\b(option|printFigures|parseArgs)\(/.test(read(file)));
}

const run: CampaignRun = {
  test: "R14",
  file: "test/crash/migration-kill.ts",
  size: "full",
  result: "passed",
  figures: { kills: 1000, lost: 0, seed: 7 },
  seconds: 130,
  at: "2026-01-05T09:00:00.000Z",
  commit: "abc1234",
  machine: "2 cores",
};

describe("the campaign", () => {
  it("has every program of the folders of tests that kill, fault, move, share and deliver", () => {
    const folders = ["crash", "faults", "postgres", "move", "sharing", "webhooks"];
    const programs = folders.flatMap((folder) => programsOf(`test/${folder}`));
    expect(programs.length).toBeGreaterThan(8);
    const files = CAMPAIGN.map(({ file }) => file);
    expect(programs.filter((file) => !files.includes(file))).toEqual([]);
    expect(new Set(files).size).toBe(files.length);
  });

  it("has a page that is what its results give, and no more", () => {
    expect(read("docs/results/reliability.md")).toBe(renderCampaign(results()));
  });

  it("has a page with a row for each program, run or not", () => {
    const page = read("docs/results/reliability.md");
    for (const { file } of CAMPAIGN) {
      const rows = page.split("\n").filter((line) => line.includes(`\`${nameOf(file)}`));
      expect(rows).toHaveLength(1);
      const hasRun = results().runs.some((one) => one.file === file);
      expect(rows[0]?.includes("| not run |")).toBe(!hasRun);
    }
  });

  it("shows nothing as passed that is not there", () => {
    for (const { file } of results().runs) expect(existsSync(join(ROOT, file))).toBe(true);
  });
});

describe("a resumed campaign", () => {
  it("leaves out what passed, and runs again what failed", () => {
    const failed: CampaignRun = { ...run, file: "test/crash/kill.ts", result: "failed" };
    const passed: CampaignRun = { ...failed, result: "passed" };
    expect([...filesPassed([run, failed])]).toEqual([run.file]);
    expect([...filesPassed([failed, passed])]).toEqual([passed.file]);
    expect([...filesPassed([passed, failed])]).toEqual([]);
  });
});

describe("a program of the campaign", () => {
  it("that takes too long is ended with the processes that it started", async () => {
    const endless = "setInterval(() => {}, 1000)";
    // The second process holds the output open: what waits for its end waits for both.
    const program = `
      const { spawn } = require("node:child_process");
      spawn(process.execPath, ["-e", ${JSON.stringify(endless)}], { stdio: "inherit" });
      console.log("begun");
      ${endless};`;
    const ended = await runToEnd(["-e", program], { folder: ROOT, limitMs: 15_000 });
    expect(ended).toEqual({ code: null, isLate: true, printed: "begun\n" });
  });

  it("gives its status and what it printed", async () => {
    const words = ["-e", "console.log('done'); process.exitCode = 3"];
    const ended = await runToEnd(words, { folder: ROOT, limitMs: 60_000 });
    expect(ended).toEqual({ code: 3, isLate: false, printed: "done\n" });
  });
});

describe("a page of results", () => {
  it("shows the figures, the seed, the commit and the machine of a run", () => {
    const row = renderCampaign({ runs: [run] })
      .split("\n")
      .find((line) => line.includes("migration-kill"));
    expect(row).toContain("| full | passed | kills 1,000, lost 0 | 7 | 2 min | 2026-01-05 | abc1234 | 1 |");
  });

  it("shows a failure and why", () => {
    const page = renderCampaign({ runs: [{ ...run, result: "failed", why: "it ended with 1" }] });
    expect(page).toContain("| **failed**: it ended with 1 |");
    expect(page).toContain("0 passed, 1 failed");
  });

  it("keeps a full run where a small one passes, and drops it where a small one fails", () => {
    const small: CampaignRun = { ...run, size: "ci" };
    expect(mergeRuns({ runs: [run] }, [small]).runs).toEqual([run]);
    const failed: CampaignRun = { ...small, result: "failed" };
    expect(mergeRuns({ runs: [run] }, [failed]).runs).toEqual([failed]);
    expect(mergeRuns({ runs: [failed] }, [run]).runs).toEqual([run]);
  });
});
