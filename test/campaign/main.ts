/**
 * Runs the campaign: each program as a process, one after the other.
 *
 *     npm run -s campaign -- [--only R1,R2] [--size ci|full] [--resume] [--page]
 *
 * What each came to is a line in reports/campaign.jsonl. With `--resume`, what passed at this commit and size is left out. At the end,
 * and after each program, docs/results/reliability.json and the page made of it are written; `--page` writes the page alone. Ends with 0 where
 * everything that was to be run passed, 1 where something failed or could not be run, 2 on wrong use.
 */
import { execFileSync } from "node:child_process";
import { appendFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { describeMachine } from "./machine.ts";
import { type CampaignResults, type CampaignRun, mergeRuns, renderCampaign } from "./page.ts";
import { CAMPAIGN, type CampaignProgram, type CampaignSize } from "./programs.ts";
import { filesPassed, runToEnd } from "./run-program.ts";

const ROOT = join(import.meta.dirname, "../..");
const LINES = join(ROOT, "reports/campaign.jsonl");
const RESULTS = join(ROOT, "docs/results/reliability.json");
const PAGE = join(ROOT, "docs/results/reliability.md");

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      only: { type: "string" },
      size: { type: "string", default: "ci" },
      resume: { type: "boolean", default: false },
      page: { type: "boolean", default: false },
    },
  });
  const { size } = values;
  const chosen = choose(values.only);
  if ((size !== "ci" && size !== "full") || chosen.length === 0) {
    process.stderr.write("campaign: --size is ci or full, and --only names tests such as R1,R14 or files.\n");
    return 2;
  }
  if (values.page) {
    write([]);
    return 0;
  }
  const commit = commitNow();
  const done = values.resume ? filesPassed(linesAt(commit, size)) : new Set();
  const machine = describeMachine();
  process.stdout.write(`${chosen.length} programs, size ${size}, commit ${commit}; ${machine}\n`);
  let unproved = 0;
  for (const program of chosen) {
    const hindrance = hindranceOf(program);
    if (done.has(program.file)) say(program, "passed before at this commit and size");
    else if (hindrance !== undefined) {
      say(program, `not run: ${hindrance}`);
      unproved += 1;
    } else {
      const run = { ...(await runProgram(program, size)), commit, machine };
      mkdirSync(join(ROOT, "reports"), { recursive: true });
      appendFileSync(LINES, `${JSON.stringify(run)}\n`);
      write([run]);
      say(program, `${run.result} in ${run.seconds} s ${JSON.stringify(run.figures)}`);
      if (run.result === "failed") unproved += 1;
    }
  }
  return unproved === 0 ? 0 : 1;
}

/** By the names of tests or by files; all of them where nothing is named. */
function choose(only: string | undefined): readonly CampaignProgram[] {
  if (only === undefined) return CAMPAIGN;
  const names = only.split(",");
  return CAMPAIGN.filter(({ test, file }) =>
    names.some((name) => test.split("/").includes(name) || file === name),
  );
}

function hindranceOf({ file, needs }: CampaignProgram): string | undefined {
  if (!existsSync(join(ROOT, file))) return "there is no such program yet";
  if (needs !== undefined && !process.env[needs]) return `it needs ${needs}`;
  return undefined;
}

async function runProgram(
  { test, file, args, minutes }: CampaignProgram,
  size: CampaignSize,
): Promise<Omit<CampaignRun, "commit" | "machine">> {
  const begun = performance.now();
  const words = ["--no-warnings", join(ROOT, file), ...args[size]];
  const limitMs = minutes[size] * 60_000;
  const { code, isLate, printed } = await runToEnd(words, { folder: ROOT, limitMs });
  const figures = lastFigures(printed);
  const why = whyFailed({ code, isLate, hasFigures: figures !== undefined, minutes: minutes[size] });
  return {
    test,
    file,
    size,
    result: why === undefined ? "passed" : "failed",
    ...(why === undefined ? {} : { why }),
    figures: figures ?? {},
    seconds: Math.round((performance.now() - begun) / 100) / 10,
    at: new Date().toISOString(),
  };
}

function whyFailed(ended: {
  readonly code: number | null;
  readonly isLate: boolean;
  readonly hasFigures: boolean;
  readonly minutes: number;
}): string | undefined {
  if (ended.isLate) return `not done after ${ended.minutes} minutes`;
  if (ended.code !== 0) return `it ended with ${ended.code ?? "a signal"}`;
  // Nothing that says nothing has passed.
  return ended.hasFigures ? undefined : "it said no figures";
}

/** The last line that is JSON and names a test. */
function lastFigures(printed: string): { readonly [name: string]: unknown } | undefined {
  for (const line of printed.split("\n").reverse()) {
    if (!line.startsWith("{")) continue;
    try {
      const { test, ...figures } = JSON.parse(line) as { readonly [name: string]: unknown };
      if (test !== undefined) return figures;
    } catch {
      // A line that only begins like one.
    }
  }
  return undefined;
}

function linesAt(commit: string, size: CampaignSize): CampaignRun[] {
  // What was run with changes since the commit is not known to be the same.
  if (commit.endsWith("+") || !existsSync(LINES)) return [];
  return readFileSync(LINES, "utf8")
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as CampaignRun)
    .filter((run) => run.commit === commit && run.size === size);
}

function commitNow(): string {
  const git = (...words: string[]) => execFileSync("git", words, { cwd: ROOT, encoding: "utf8" }).trim();
  const changed = git("status", "--porcelain", "--", ".", ":!docs/results");
  return `${git("rev-parse", "--short", "HEAD")}${changed === "" ? "" : "+"}`;
}

function write(runs: readonly CampaignRun[]): void {
  const held: CampaignResults = existsSync(RESULTS)
    ? (JSON.parse(readFileSync(RESULTS, "utf8")) as CampaignResults)
    : { runs: [] };
  const results = mergeRuns(held, runs);
  writeFileSync(RESULTS, `${JSON.stringify(results, null, 2)}\n`);
  writeFileSync(PAGE, renderCampaign(results));
}

function say({ test, file }: CampaignProgram, what: string): void {
  process.stdout.write(`${test.padEnd(6)} ${file.padEnd(36)} ${what}\n`);
}

// By `exit`, which ends the program that runs.
for (const [signal, status] of [
  ["SIGINT", 130],
  ["SIGTERM", 143],
] as const)
  process.once(signal, () => process.exit(status));
process.exitCode = await main();
