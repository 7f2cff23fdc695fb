/**
 * Measures the page of memories in Chromium, with many memories in the store:
 *
 *     node bench/page/main.ts [--memories N] [--rounds N] [--keep FILE] [--json]
 *     node bench/page/main.ts --page    writes docs/results/page-speed.json and the page made of it
 *
 * The memories are made up and stored by an import, as `bench/speed` does; --keep keeps the file for the next run. Ends with 0
 * where every bar holds, 1 where one does not, 2 on wrong use. It needs a compiled package and a Chromium (`CHROMIUM_PATH`).
 */
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { findSlow, renderPage } from "./bars.ts";
import { CHROMIUM, runPageBench } from "./measure-page.ts";

const ROOT = join(import.meta.dirname, "../..");

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      memories: { type: "string", default: "100000" },
      rounds: { type: "string", default: "10" },
      keep: { type: "string" },
      json: { type: "boolean", default: false },
      page: { type: "boolean", default: false },
    },
  });
  const [memories, rounds] = [Number(values.memories), Number(values.rounds)];
  const isWhole = (count: number): boolean => Number.isInteger(count) && count > 0;
  const problem =
    !isWhole(memories) || !isWhole(rounds) ? "--memories and --rounds take a number." : undefined;
  if (problem !== undefined || !existsSync(CHROMIUM)) {
    console.error(problem ?? `${CHROMIUM} is not there: set CHROMIUM_PATH to a Chromium.`);
    return 2;
  }
  const figures = await runPageBench({ memories, rounds, keep: values.keep });
  if (values.page) {
    const results = join(ROOT, "docs/results");
    writeFileSync(join(results, "page-speed.json"), `${JSON.stringify(figures, null, 2)}\n`);
    writeFileSync(join(results, "page-speed.md"), renderPage(figures));
  }
  console.log(values.json ? JSON.stringify(figures) : renderPage(figures));
  const slow = findSlow(figures);
  for (const one of slow) console.error(one);
  return slow.length === 0 ? 0 : 1;
}

process.exitCode = await main().catch((error: Error) => {
  console.error(error.message);
  return 1;
});
