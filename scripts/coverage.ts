import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { COVERAGE_ROWS, type CoverageRow } from "./coverage-rows.ts";
import { COVERAGE_SAMPLES, type CoverageSample } from "./coverage-samples.ts";

const ROOT = join(import.meta.dirname, "..");

const INTRODUCTION = `# Coverage

<!-- Written by \`npm run docs\` from scripts/coverage-rows.ts and coverage-samples.ts; a test compares. -->

Five documents described, before there was any code, what a long-term memory for language models should do. This page has a row
for each of their 55 wishes: what is asked, how Keepsake does it, and the test that shows it. A test fails if a title named here
is in no test. \`.ci/run\` fails if a test named here did not run and pass, so a test that is skipped proves nothing.

Where a document's way loses data or proof, the wish is met in another way: a deletion is an erasure with a receipt, and a
table of its own is a call.
`;

/** What is wrong with rows: a number that is missing, a row without a test, or a test that is not there. */
export function findCoverageFaults(rows: readonly CoverageRow[]): string[] {
  const gaps = rows.flatMap(({ number }, i) => (number === i + 1 ? [] : [`row ${number}: out of order`]));
  const faults = rows.flatMap(({ number, state, test, missing }) => {
    if (state === "no") return test ? [`row ${number}: not met, but it names a test`] : [];
    if ((state === "part") !== (missing !== undefined))
      return [`row ${number}: say what is missing, or nothing`];
    return test && hasTest(...test) ? [] : [`row ${number}: there is no such test`];
  });
  return [...gaps, ...faults];
}

/** What is wrong with samples: neither a test nor a reason, both, or a test that is not there. */
export function findSampleFaults(samples: readonly CoverageSample[]): string[] {
  return samples.flatMap(({ document, shows, test, why }) => {
    const isFine = test ? why === undefined && hasTest(...test) : why !== undefined;
    return isFine ? [] : [`document ${document}, ${shows}: there is no such test, or no reason`];
  });
}

/** A test that is written and never runs. */
const NEVER_RUN = /\.(?:skip|todo|fails)\(\s*$/;

/** Whether a file has a test of this title that is not switched off. */
export function hasTest(file: string, title: string): boolean {
  const path = join(ROOT, file);
  if (!existsSync(path)) return false;
  const before = readFileSync(path, "utf8").split(JSON.stringify(title)).slice(0, -1);
  return before.some((text) => !NEVER_RUN.test(text));
}

type Proof = readonly [file: string, title: string];

/** The part of vitest's JSON report that is read here. */
export interface ProofReport {
  readonly testResults: readonly {
    readonly name: string;
    readonly assertionResults: readonly { readonly title: string; readonly status: string }[];
  }[];
}

/** Programs, not tests of vitest: a step of `.ci/run` of their own runs them, and fails with them. */
const PROGRAMS = "test/clients/";

/**
 * What of the page a run did not show: a test that is not in the reports, that was skipped, or that failed. Says nothing of files in
 * the folders `absent`, whose packages are not here. A title of a shared suite is shown by any adapter that ran it.
 */
export function findUnproven(
  reports: readonly ProofReport[],
  absent: readonly string[] = [],
  proofs: readonly Proof[] = listProofs(),
): string[] {
  const files = reports.flatMap(({ testResults }) => testResults);
  return proofs.flatMap(([file, title]) => {
    if (file.startsWith(PROGRAMS) || absent.some((folder) => `/${file}`.includes(folder))) return [];
    const isSuite = !file.endsWith(".test.ts");
    const pattern = toTitlePattern(title);
    const runs = files
      .filter(({ name }) => isSuite || name.replaceAll("\\", "/").endsWith(`/${file}`))
      .flatMap(({ assertionResults }) => assertionResults)
      .filter((one) => pattern.test(one.title));
    const isShown = runs.some(({ status }) => status === "passed");
    const isFaulty = runs.some(({ status }) => status === "failed" || (!isSuite && status !== "passed"));
    return isShown && !isFaulty
      ? []
      : [`${file}: "${title}" ${runs.length === 0 ? "did not run" : "did not pass"}`];
  });
}

function listProofs(): Proof[] {
  return [...COVERAGE_ROWS, ...COVERAGE_SAMPLES].flatMap(({ test }) => (test ? [test] : []));
}

/** A title with a place for a value, such as %s, is that of several tests. */
function toTitlePattern(title: string): RegExp {
  const escaped = title.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  return new RegExp(`^${escaped.replace(/%[sdifjo]/g, "[\\s\\S]*")}$`);
}

/** The page \`docs/coverage.md\` as it should be now. */
export function coveragePage(rows: readonly CoverageRow[] = COVERAGE_ROWS): string {
  const counts = { yes: 0, part: 0, no: 0 };
  for (const { state } of rows) counts[state] += 1;
  const sum = `${counts.yes} are met, ${counts.part} in part, ${counts.no} not yet.`;
  const table = [
    "| # | What is asked | How | Test |",
    "|---:|---|---|---|",
    ...rows.map(({ number, asks, test, ...how }) => {
      const proof = test ? `[${test[0]}](../${test[0]}): "${test[1]}"` : "";
      return `| ${number} | ${asks} | ${describe(how)} | ${proof} |`;
    }),
  ];
  return `${INTRODUCTION}\n${sum}\n\n${table.join("\n")}\n\n${toSampleTable(COVERAGE_SAMPLES)}\n`;
}

function toSampleTable(samples: readonly CoverageSample[]): string {
  const run = samples.filter(({ test }) => test).length;
  const rows = samples.map(({ document, shows, test, why }) => {
    const proof = test ? `[${test[0]}](../${test[0]}): "${test[1]}"` : `none: ${why}`;
    return `| ${document} | ${shows} | ${proof} |`;
  });
  return [
    "## Dialogues and samples",
    "",
    `The five documents have dialogues and samples of code. Tests make the same calls, with other names: ${run} of ${samples.length}.`,
    "",
    "| Document | Sample | Test |",
    "|---:|---|---|",
    ...rows,
  ].join("\n");
}

function describe({ state, how, missing }: Pick<CoverageRow, "state" | "how" | "missing">): string {
  if (state === "no") return "not yet";
  return state === "part" ? `${how}. **Not yet:** ${missing}` : how;
}

function main(): number {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { absent: { type: "string", multiple: true, default: [] } },
  });
  if (positionals.length === 0) {
    console.error("node scripts/coverage.ts REPORT... [--absent FOLDER], after: npm test -- --reporter=json");
    return 2;
  }
  const reports = positionals.map((file) => JSON.parse(readFileSync(file, "utf8")) as ProofReport);
  const unproven = findUnproven(reports, values.absent);
  for (const one of unproven) console.error(one);
  console.log(
    `${listProofs().length - unproven.length} of ${listProofs().length} tests of docs/coverage.md are shown`,
  );
  return unproven.length === 0 ? 0 : 1;
}

if (import.meta.main) process.exitCode = main();
