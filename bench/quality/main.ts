import { join } from "node:path";
import { parseArgs } from "node:util";
import { createMemory } from "../../src/index.ts";
import type { EvaluationBackends } from "./backends.ts";
import { beam } from "./beam.ts";
import { EMBEDDERS } from "./embedders.ts";
import { forgetCases } from "./forget-cases.ts";
import { gatemem } from "./gatemem.ts";
import { locomo } from "./locomo.ts";
import { longmemeval } from "./longmemeval.ts";
import { memdaily } from "./memdaily.ts";
import { INDEXES, openMemoriesBy, RECORDS } from "./memories.ts";
import { mempalace } from "./mempalace.ts";
import { personaext } from "./personaext.ts";
import { poison } from "./poison.ts";
import { precisionmembench } from "./precisionmembench.ts";
import type { SavedReadings } from "./readings.ts";
import { realtalk } from "./realtalk.ts";
import { progressTo, type Run, type RunOptions, tableOf } from "./report.ts";
import { stories } from "./stories.ts";
import { updates } from "./updates.ts";

const SETS: { readonly [set: string]: (options: RunOptions) => Promise<Run> } = {
  stories,
  locomo,
  longmemeval,
  beam,
  realtalk,
  updates,
  precisionmembench,
  memdaily,
  personaext,
  mempalace,
  "forget-cases": forgetCases,
  gatemem,
  poison,
};

const USAGE = `npm run -s eval -- SET [--data DIR] [--limit N] [--embedder NAME] [--record NAME] [--follower NAME] [--readings FILE] [--json]
SET is one of ${Object.keys(SETS).join(", ")}.
DIR holds the data as bench/quality/README.md says; without it, stories and locomo run on a small conversation of the
project's own. NAME is one of ${Object.keys(EMBEDDERS).join(", ")}; with --model FOLDER for minilm, --model NAME and
--base-url URL for openai. A record is one of ${RECORDS.join(", ")}, a follower (a vector index beside it, asked for everything)
one of ${INDEXES.join(", ")}, on the servers that test/services/up starts.
FILE keeps what was read of each message, for other runs of the same code over the same data.`;

const OWN = join(import.meta.dirname, "small");

/** Measures how good recall and answers are on a public data set. 0 done, 1 failed, 2 wrong use. */
async function main(): Promise<number> {
  let parsed: ReturnType<typeof parse>;
  try {
    parsed = parse();
  } catch (error) {
    console.error(`${(error as Error).message}\n\n${USAGE}`);
    return 2;
  }
  const { values, positionals } = parsed;
  const run = named(SETS, positionals[0] ?? "");
  const limit = values.limit === undefined ? undefined : Number(values.limit);
  const makeEmbedder = named(EMBEDDERS, values.embedder);
  const isWrong =
    (limit !== undefined && !(Number.isInteger(limit) && limit > 0)) ||
    !RECORDS.includes(values.record) ||
    !(values.follower === undefined || INDEXES.includes(values.follower));
  if (!run || positionals.length !== 1 || isWrong || !makeEmbedder) {
    console.error(USAGE);
    return 2;
  }
  const embedder = makeEmbedder({
    ...(values.model === undefined ? {} : { model: values.model }),
    ...(values["base-url"] === undefined ? {} : { baseUrl: values["base-url"] }),
  });
  // What is missing is better said now than once for each question.
  await embedder.embed(["ready"]);
  const backends = await backendsOf(values);
  const readings = values.readings === undefined ? undefined : await useReadings(values.readings, backends);
  try {
    const done = await run({
      data: values.data ?? OWN,
      embedder,
      ...(limit === undefined ? {} : { limit }),
      progress: progressTo(process.stderr),
    });
    show(withAnswered(done, backends?.answered()), values.json);
    readings?.save();
  } finally {
    await backends?.close();
  }
  return 0;
}

async function backendsOf({
  record,
  follower,
}: {
  readonly record: string;
  readonly follower?: string | undefined;
}): Promise<EvaluationBackends | undefined> {
  if (record === "sqlite" && follower === undefined) return undefined;
  // With the vendors' packages, which nothing else here needs.
  const { backendsNamed } = await import("./backends.ts");
  const backends = await backendsNamed(
    { record, ...(follower === undefined ? {} : { follower }) },
    process.env,
  );
  openMemoriesBy(backends.open);
  return backends;
}

/** Has messages that an earlier run read in the same context not be read again. */
async function useReadings(path: string, backends: EvaluationBackends | undefined): Promise<SavedReadings> {
  const { openReadings } = await import("./readings.ts");
  const readings = openReadings(path);
  const { extractor } = readings;
  openMemoriesBy((options) => (backends?.open ?? createMemory)({ extractor, ...options }));
  return readings;
}

/** How often an index had a part in it: figures that are the same without it would show nothing. */
function withAnswered({ report, ...rest }: Run, answered: number | undefined): Run {
  if (answered === undefined) return { report, ...rest };
  return { ...rest, report: { ...report, metrics: { ...report.metrics, index_answered: answered } } };
}

function show(done: Run, isJson: boolean): void {
  console.log(isJson ? JSON.stringify(done.report) : tableOf(done));
}

function named<Value>(values: { readonly [name: string]: Value }, name: string): Value | undefined {
  return Object.hasOwn(values, name) ? values[name] : undefined;
}

function parse() {
  return parseArgs({
    allowPositionals: true,
    options: {
      data: { type: "string" },
      limit: { type: "string" },
      embedder: { type: "string", default: "static" },
      model: { type: "string" },
      "base-url": { type: "string" },
      record: { type: "string", default: "sqlite" },
      follower: { type: "string" },
      readings: { type: "string" },
      json: { type: "boolean", default: false },
    },
  });
}

process.exitCode = await main().catch((error: Error) => {
  console.error(error.message);
  return 1;
});
