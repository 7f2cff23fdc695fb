/**
 * Runs every set one after another and writes `docs/results/quality.json` and the page made of it:
 *
 *     npm run -s results -- --data DIR [--embedder NAME]
 *
 * `--page` writes the page alone, from the results there are, with what `--left-out FILE` (a list of `LeftOut` as JSON) holds.
 * `--set NAME` measures one set anew and keeps the others.
 */
import { spawn } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { parseArgs } from "node:util";
import { type EvaluationResults, type Figure, type LeftOut, pageOf, type SetResult } from "./page.ts";
import type { QualityReport } from "./report.ts";

/** Each set with the folders of which it needs one. */
const SETS: readonly (readonly [set: string, ...folders: string[]])[] = [
  ["stories", "stories"],
  ["locomo", "locomo"],
  ["longmemeval", "longmemeval_s"],
  ["beam", "beam"],
  ["realtalk", "realtalk"],
  ["updates", "longmemeval_s", "beam"],
  ["memdaily", "memdaily"],
  ["precisionmembench", "precisionmembench"],
  ["personaext", "personaext"],
  ["mempalace", "mempalace_extraction"],
  ["forget-cases", "forget_cases"],
  ["gatemem", "gatemem"],
];

const FOLDER = join(import.meta.dirname, "../../docs/results");
const FILE = join(FOLDER, "quality.json");

export function readResults(): EvaluationResults {
  return JSON.parse(readFileSync(FILE, "utf8")) as EvaluationResults;
}

/** What the page needs of a report: the metrics with an interval, and the first of them by kind of question. */
export function resultOf(report: QualityReport, command: string): SetResult {
  const { set, metrics, baseline, intervals = {}, counts = {}, n } = report;
  const figure = (name: string, shown = name): Figure => ({
    name: shown,
    keepsake: metrics[name] ?? 0,
    bm25: baseline[name] ?? 0,
  });
  const names = Object.keys(intervals);
  const kinds = Object.keys(metrics).flatMap((name) => {
    const kind = name.startsWith(`${names[0]} (`) ? name.slice(`${names[0]} (`.length, -1) : undefined;
    return kind === undefined || names.includes(name) ? [] : [figure(name, kind)];
  });
  return {
    set,
    command,
    n,
    figures: names.map((name) => ({
      ...figure(name),
      ...(intervals[name] ? { interval: intervals[name] } : {}),
      ...(counts[name] === undefined ? {} : { n: counts[name] }),
    })),
    kinds: kinds.sort((one, other) => (one.name < other.name ? -1 : 1)),
    tokens: { keepsake: metrics.context_tokens ?? 0, bm25: baseline.context_tokens ?? 0 },
  };
}

/** One set in a process of its own; its progress goes on to stderr. */
async function measured(set: string, data: string, embedder: string): Promise<SetResult> {
  console.error(`${set}:`);
  const named = embedder === "static" ? "" : ` --embedder ${embedder}`;
  const main = join(import.meta.dirname, "main.ts");
  const run = spawn(process.execPath, [main, set, "--data", data, "--embedder", embedder, "--json"], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const printed = await text(run.stdout);
  try {
    return resultOf(JSON.parse(printed) as QualityReport, `npm run -s eval -- ${set} --data DIR${named}`);
  } catch {
    throw new Error(`${set} failed: what it said stands above.`);
  }
}

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      data: { type: "string" },
      embedder: { type: "string", default: "static" },
      set: { type: "string" },
      page: { type: "boolean", default: false },
      "left-out": { type: "string" },
    },
  });
  const { data, embedder, set: only, page } = values;
  if (!page && data === undefined) {
    console.error("npm run -s results -- --data DIR [--embedder NAME] [--set NAME], or --page");
    return 2;
  }
  const known = page || data === undefined ? readResults() : await all(data, embedder, only);
  const leftOut = values["left-out"];
  const results: EvaluationResults =
    leftOut === undefined
      ? known
      : { ...known, leftOut: JSON.parse(readFileSync(leftOut, "utf8")) as LeftOut[] };
  mkdirSync(FOLDER, { recursive: true });
  writeFileSync(FILE, jsonOf(results));
  writeFileSync(join(FOLDER, "quality.md"), pageOf(results));
  return 0;
}

/** As the formatter has it: the two numbers of an interval on one line. */
function jsonOf(results: EvaluationResults): string {
  const text = JSON.stringify(results, undefined, 2);
  return `${text.replaceAll(/\[\s+([\d.]+),\s+([\d.]+)\s+\]/g, "[$1, $2]")}\n`;
}

async function all(data: string, embedder: string, only: string | undefined): Promise<EvaluationResults> {
  const written = existsSync(FILE) ? readResults() : undefined;
  const before = only === undefined ? [] : (written?.sets ?? []);
  const sets: SetResult[] = [];
  for (const [set, ...folders] of SETS) {
    const old = before.find((result) => result.set === set);
    if (only !== undefined && only !== set) sets.push(...(old ? [old] : []));
    else if (folders.some((folder) => existsSync(join(data, folder)))) {
      sets.push(await measured(set, data, embedder));
    } else console.error(`${set}: not there, left out`);
  }
  return {
    measuredOn: new Date().toISOString().slice(0, 10),
    node: process.versions.node,
    embedder,
    sets,
    ...(written?.leftOut ? { leftOut: written.leftOut } : {}),
  };
}

if (import.meta.main) {
  process.exitCode = await main().catch((error: Error) => {
    console.error(error.message);
    return 1;
  });
}
