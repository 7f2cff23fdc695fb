import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { filled } from "../speed/filling.ts";
import { machineOf } from "../speed/machine.ts";
import { phase } from "../speed/progress.ts";
import { CASES, type StallCase } from "./cases.ts";
import { figuresOf } from "./excess.ts";
import type { MeasuredCase } from "./measuring.ts";
import { writePage } from "./page.ts";
import { linesOf, type StallResults } from "./results.ts";
import { roundOf, type Side } from "./rounds.ts";
import { stubUpstream } from "./upstream.ts";

const USAGE = `node bench/stalls/main.ts [--cases NAME,…] [--rounds N] [--before DIR] [--large N] [--keep FILE] [--bar MS] [--json] [--page]

What one user's requests do to the others on the same server: the worst stall of the event loop, and the latency of the
others, as the excess over an idle control of the same run; the median of N rounds (3). With --before another checkout,
compiled, is measured beside this one. --large is how many memories the large user has (100,000); --keep keeps the file
with them for the next run. With --bar it fails where the event loop of this checkout stalls longer, in ms, or the
server does not come back. --page writes docs/results/stalls.md and .json. Cases:
${CASES.map(({ name, title }) => `  ${name.padEnd(18)} ${title}`).join("\n")}`;

interface Wanted {
  readonly cases: readonly StallCase[];
  readonly rounds: number;
  readonly before: string | undefined;
  readonly large: number;
  readonly keep: string | undefined;
  readonly bar: number | undefined;
  readonly json: boolean;
  readonly page: boolean;
}

function wantedOf(): Wanted {
  const { values } = parseArgs({
    options: {
      cases: { type: "string" },
      rounds: { type: "string", default: "3" },
      before: { type: "string" },
      large: { type: "string", default: "100000" },
      keep: { type: "string" },
      bar: { type: "string" },
      json: { type: "boolean", default: false },
      page: { type: "boolean", default: false },
      help: { type: "boolean", default: false },
    },
  });
  if (values.help) throw new Error(USAGE);
  const number = (name: "rounds" | "large" | "bar"): number => {
    const value = Number(values[name]);
    if (!Number.isInteger(value) || value < 1)
      throw new Error(`--${name} must be a whole number.\n\n${USAGE}`);
    return value;
  };
  const named = values.cases?.split(",") ?? CASES.map(({ name }) => name);
  const unknown = named.find((name) => CASES.every((one) => one.name !== name));
  if (unknown !== undefined) throw new Error(`There is no case ${unknown}.\n\n${USAGE}`);
  return {
    cases: CASES.filter(({ name }) => named.includes(name)),
    rounds: number("rounds"),
    before: values.before,
    large: number("large"),
    keep: values.keep,
    bar: values.bar === undefined ? undefined : number("bar"),
    json: values.json,
    page: values.page,
  };
}

/** All rounds of both sides in turns, so that what changes on the machine meanwhile falls on both. */
async function allRounds(wanted: Wanted, folder: string): Promise<StallResults> {
  const machine = machineOf();
  const begun = performance.now();
  const upstream = await stubUpstream();
  const sides: Side[] = [
    ...(wanted.before === undefined ? [] : [{ name: "before" as const, checkout: resolve(wanted.before) }]),
    { name: "after", checkout: join(import.meta.dirname, "../..") },
  ];
  const largeFiles = new Map<Side, string>();
  for (const side of sides) largeFiles.set(side, await makeLargeFile(side, wanted, folder));
  const seen: { side: Side["name"]; one: MeasuredCase }[] = [];
  for (let round = 1; round <= wanted.rounds; round += 1) {
    for (const side of sides) {
      phase(`round ${round} of ${wanted.rounds}, ${side.name}`);
      const largeFile = largeFiles.get(side) ?? "";
      await roundOf(side, wanted.cases, { folder, upstream: upstream.url, largeFile }, (one) => {
        phase(`  ${lineOf(one)}`);
        seen.push({ side: side.name, one });
      });
    }
  }
  upstream.close();
  return {
    measuredOn: new Date().toISOString().slice(0, 10),
    machine: machine(),
    minutes: Math.round((performance.now() - begun) / 6000) / 10,
    rounds: wanted.rounds,
    large: wanted.large,
    cases: figuresOf(
      wanted.cases.map(({ name }) => name),
      seen,
    ),
  };
}

/** The file with the large user, made by the side's own library. An older one is kept under its own name. */
async function makeLargeFile(
  { name, checkout }: Side,
  { cases, large, keep }: Wanted,
  folder: string,
): Promise<string> {
  const path = join(folder, `large-${name}.db`);
  if (!cases.some(({ needs }) => needs?.startsWith("large user"))) return path;
  const isOlder = name === "before";
  await filled(path, {
    users: 1,
    perUser: large,
    ...(keep === undefined ? {} : { kept: isOlder ? `${keep}-before` : keep }),
    ...(isOlder ? { checkout } : {}),
  });
  return path;
}

function lineOf({ name, during, control, outcomes, ms, peakMegabytes, isAlive }: MeasuredCase): string {
  const both = (of: "stall" | "p95" | "worst"): string =>
    `${Math.round(during[of])} (${Math.round(control[of])})`;
  return `${name.padEnd(18)} stall ${both("stall")}, others p95 ${both("p95")}, worst ${both("worst")}, failed ${during.failed}; ${Math.round(ms)} ms ${JSON.stringify(outcomes)} ${peakMegabytes ?? "?"} MB${isAlive ? "" : " LOST"}`;
}

async function main(): Promise<number> {
  const wanted = wantedOf();
  const folder = mkdtempSync(join(tmpdir(), "keepsake-stalls-"));
  process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(130));
  const results = await allRounds(wanted, folder);
  if (wanted.page) writePage(results);
  if (wanted.json) console.log(JSON.stringify(results));
  else for (const line of linesOf(results)) console.log(line);
  const { bar } = wanted;
  const isOver = results.cases.some(
    ({ after }) => after.lost > 0 || (bar !== undefined && after.stall > bar),
  );
  return bar !== undefined && isOver ? 1 : 0;
}

process.exitCode = await main().catch((error: Error) => {
  console.error(error.message);
  return 1;
});
