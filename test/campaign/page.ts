import { CAMPAIGN, type CampaignProgram, type CampaignSize } from "./programs.ts";

/** What a run of a program came to. */
export interface CampaignRun {
  readonly test: string;
  readonly file: string;
  readonly size: CampaignSize;
  readonly result: "passed" | "failed";
  /** Why it failed, where the program itself does not say. */
  readonly why?: string;
  /** Its last line, but for the name of the test. */
  readonly figures: { readonly [name: string]: unknown };
  readonly seconds: number;
  /** When it ended (ISO 8601). */
  readonly at: string;
  /** The commit that was run; with "+" where files had been changed since. */
  readonly commit: string;
  readonly machine: string;
}

/** The last run of each program. */
export interface CampaignResults {
  readonly runs: readonly CampaignRun[];
}

/**
 * Puts new runs in the place of earlier ones. A small run does not take the place of a full one, unless it failed. What is no
 * program of the campaign any more goes.
 */
export function mergeRuns(before: CampaignResults, runs: readonly CampaignRun[]): CampaignResults {
  const held = new Map(before.runs.map((run) => [run.file, run]));
  for (const run of runs) {
    const one = held.get(run.file);
    const isLess = one?.size === "full" && run.size === "ci" && run.result === "passed";
    if (!isLess) held.set(run.file, run);
  }
  return { runs: CAMPAIGN.flatMap(({ file }) => held.get(file) ?? []) };
}

/** A program's file, as the page names it: from `test/`. */
export function nameOf(file: string): string {
  return file.replace(/^test\//, "");
}

/** The page of the results, made of them alone. */
export function renderCampaign({ runs }: CampaignResults): string {
  const byFile = new Map(runs.map((run) => [run.file, run]));
  const machines = [...new Set(runs.map(({ machine }) => machine))];
  const rows = CAMPAIGN.map((program) => rowOf(program, byFile.get(program.file), machines));
  const failed = runs.filter(({ result }) => result === "failed").length;
  const notRun = CAMPAIGN.length - byFile.size;
  return `# What the reliability tests came to

Written by \`npm run -s campaign -- --size full\`; nothing here is typed by hand. Each row is the last run of a program: full size where there was one. Of ${CAMPAIGN.length} programs
${byFile.size - failed} passed, ${failed} failed and ${notRun} were not run. A program whose run is missing has proved nothing. The programs are in \`test/\`.

| Test | Program | What it does | Size | Result | Figures | Seed | Duration | Date | Commit | Machine |
|---|---|---|---|---|---|---|---|---|---|---|
${rows.join("\n")}

${machines.map((machine, at) => `Machine ${at + 1}: ${machine}.`).join("\n\n")}
`.replace(/\n+$/, "\n");
}

function figuresOf(figures: CampaignRun["figures"]): string {
  return Object.entries(figures)
    .filter(([name]) => name !== "seed" && name !== "test")
    .map(
      ([name, value]) =>
        `${wordsOf(name)} ${typeof value === "number" ? number(value) : JSON.stringify(value)}`,
    )
    .join(", ");
}

/** "beforeCopy" as "before copy". */
function wordsOf(name: string): string {
  return name.replaceAll(
    /([a-z])([A-Z])/g,
    (_, end: string, start: string) => `${end} ${start.toLowerCase()}`,
  );
}

function number(value: number): string {
  return value.toLocaleString("en", { maximumFractionDigits: 2 });
}

function durationOf(seconds: number): string {
  return seconds < 120 ? `${Math.round(seconds)} s` : `${Math.round(seconds / 60)} min`;
}

function rowOf(
  { test, file, about, args }: CampaignProgram,
  run: CampaignRun | undefined,
  machines: readonly string[],
): string {
  const program = `\`${[nameOf(file), ...args[run?.size ?? "full"]].join(" ").replace(/ --json$/, "")}\``;
  const cells = run ? cellsOf(run, machines) : ["", "not run", "", "", "", "", "", ""];
  const row = `| ${[test, program, about, ...cells].map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`;
  return row.replaceAll(/ {2,}/g, " ");
}

function cellsOf(run: CampaignRun, machines: readonly string[]): string[] {
  return [
    run.size,
    run.result === "passed" ? "passed" : `**failed**${run.why ? `: ${run.why}` : ""}`,
    figuresOf(run.figures),
    `${run.figures.seed ?? ""}`,
    durationOf(run.seconds),
    run.at.slice(0, 10),
    run.commit,
    `${machines.indexOf(run.machine) + 1}`,
  ];
}
