/**
 * Imports large made files, again, and undoes them:
 *
 *     node bench/imports/main.ts [--format chatgpt|…|all] [--messages N] [--most-mb MB] [--json]
 *     node bench/imports/main.ts --format all --page    writes docs/results/imports.json and the page made of it; with one format, its row
 *
 * Each format runs in a process of its own, so that its memory is its own. Ends with 0 where a second import stored nothing, one
 * undo gave back what was there before, and the memory stayed under the bar; 1 where one of them does not hold, 2 on wrong use.
 */
import { execFile } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { parseArgs, promisify } from "node:util";
import { FILE_MAKERS } from "./made-files.ts";
import { type ImportResults, mergeImportRuns, renderImportPage, renderImportTable } from "./page.ts";
import { type ImportFigures, measureImport } from "./run.ts";

const RESULTS = join(import.meta.dirname, "../../docs/results");
/** Messages of one made conversation, and two for each event. */
const STEP = 20;
/** With 10,000 messages. */
const MOST_MEGABYTES = 700;

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      format: { type: "string", default: "chatgpt" },
      messages: { type: "string", default: "10000" },
      "most-mb": { type: "string", default: String(MOST_MEGABYTES) },
      json: { type: "boolean", default: false },
      page: { type: "boolean", default: false },
    },
  });
  const size = Number(values.messages);
  const mostMegabytes = Number(values["most-mb"]);
  const problem = findWrongUse(values.format, size, mostMegabytes);
  if (problem !== undefined) {
    console.error(problem);
    return 2;
  }
  const runs: ImportFigures[] = [];
  if (values.format !== "all")
    runs.push(await measureImport(values.format, size, { peakMegabytes: mostMegabytes }));
  else
    for (const format of Object.keys(FILE_MAKERS)) runs.push(await measureApart(format, size, mostMegabytes));
  const measuredOn = new Date().toISOString();
  const cores = availableParallelism();
  const results: ImportResults = { measuredOn, node: process.versions.node, cores, mostMegabytes, runs };
  if (values.page) writePage(results);
  console.log(values.json ? JSON.stringify(results) : renderImportTable(runs));
  const problems = runs.flatMap((run) => run.problems.map((one) => `${run.format}: ${one}`));
  for (const one of problems) console.error(one);
  return problems.length === 0 ? 0 : 1;
}

function writePage(results: ImportResults): void {
  const path = join(RESULTS, "imports.json");
  const before = existsSync(path) ? (JSON.parse(readFileSync(path, "utf8")) as ImportResults).runs : [];
  const merged = { ...results, runs: mergeImportRuns(before, results.runs, Object.keys(FILE_MAKERS)) };
  writeFileSync(path, `${JSON.stringify(merged, null, 2)}\n`);
  writeFileSync(join(RESULTS, "imports.md"), renderImportPage(merged));
}

function findWrongUse(format: string, size: number, mostMegabytes: number): string | undefined {
  if (format !== "all" && !(format in FILE_MAKERS))
    return `--format takes ${Object.keys(FILE_MAKERS).join(", ")}, or all.`;
  if (!(Number.isInteger(size) && size > 0 && size % STEP === 0))
    return `--messages takes a multiple of ${STEP}.`;
  return mostMegabytes > 0 ? undefined : "--most-mb takes a number of megabytes.";
}

/** Runs one format in a process of its own. */
async function measureApart(format: string, size: number, mostMegabytes: number): Promise<ImportFigures> {
  const args = ["--format", format, "--messages", `${size}`, "--most-mb", `${mostMegabytes}`, "--json"];
  const run = promisify(execFile)(process.execPath, ["--no-warnings", import.meta.filename, ...args]);
  // A process whose bars do not hold ends with 1, and has printed its figures.
  const { stdout } = await run.catch((error: { readonly stdout?: string }) => {
    if (!error.stdout) throw error;
    return { stdout: error.stdout };
  });
  const [figures] = (JSON.parse(stdout) as ImportResults).runs;
  if (!figures) throw new Error(`The process of the format ${format} printed no figures.`);
  console.error(`${format}: ${figures.importSeconds.toFixed(1)} s`);
  return figures;
}

process.exitCode = await main().catch((error: Error) => {
  console.error(error.message);
  return 1;
});
