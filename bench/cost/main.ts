/**
 * Measures what understanding and embedding cost:
 *
 *     npm run -s cost -- [--data DIR] [--at-once session|N] [--json]
 *     npm run -s cost -- --data DIR --page    writes docs/results/cost.json and the page made of it
 *
 * Ends with 0 where the bar holds, 1 where it does not, 2 on wrong use.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { progressTo } from "../quality/report.ts";
import { BAR, type CostResults, pageOf, tableOf } from "./page.ts";
import { type AtOnce, measure } from "./run.ts";

const OWN = join(import.meta.dirname, "../quality/small");
const RESULTS = join(import.meta.dirname, "../../docs/results");
/** Ways to read that the page compares. */
const WAYS: readonly AtOnce[] = ["session", 12, 4, 1];
const QUESTIONS = 20;

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      data: { type: "string", default: OWN },
      "at-once": { type: "string", default: "session" },
      page: { type: "boolean", default: false },
      json: { type: "boolean", default: false },
    },
  });
  const progress = progressTo(process.stderr);
  if (values.page) return writePage(values.data);
  const atOnce = values["at-once"] === "session" ? "session" : Number(values["at-once"]);
  if (atOnce !== "session" && !(Number.isInteger(atOnce) && atOnce > 0)) {
    console.error("--at-once takes a whole number of turns, or session.");
    return 2;
  }
  const cost = await measure(values.data, { atOnce, progress });
  console.log(values.json ? JSON.stringify(cost) : tableOf(cost));
  return cost.perThousand.dollars < BAR ? 0 : 1;
}

async function writePage(data: string): Promise<number> {
  const runs = [];
  for (const atOnce of WAYS)
    runs.push(await measure(data, { atOnce, questions: atOnce === "session" ? QUESTIONS : 0 }));
  const results: CostResults = { measuredOn: new Date().toISOString(), node: process.versions.node, runs };
  mkdirSync(RESULTS, { recursive: true });
  writeFileSync(join(RESULTS, "cost.json"), `${JSON.stringify(results, null, 2)}\n`);
  writeFileSync(join(RESULTS, "cost.md"), pageOf(results));
  return 0;
}

process.exitCode = await main().catch((error: Error) => {
  console.error(error.message);
  return 1;
});
