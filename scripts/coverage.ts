import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { COVERAGE_ROWS, type CoverageRow } from "./coverage-rows.ts";
import { COVERAGE_SAMPLES, type CoverageSample } from "./coverage-samples.ts";

const ROOT = join(import.meta.dirname, "..");

const INTRODUCTION = `# Coverage

<!-- Written by \`npm run docs\` from scripts/coverage-rows.ts and coverage-samples.ts; a test compares. -->

Five documents described, before there was any code, what a long-term memory for language models should do. This page has a row
for each of their 55 wishes: what is asked, how Keepsake does it, and the test that shows it. A test fails if a title named here
is in no test, so no row outlives its proof.

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

/** Whether a file has a test of this title. */
export function hasTest(file: string, title: string): boolean {
  const path = join(ROOT, file);
  return existsSync(path) && readFileSync(path, "utf8").includes(JSON.stringify(title));
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
