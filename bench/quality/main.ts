import { join } from "node:path";
import { parseArgs } from "node:util";
import { beam } from "./beam.ts";
import { EMBEDDERS } from "./embedders.ts";
import { forgetCases } from "./forget-cases.ts";
import { gatemem } from "./gatemem.ts";
import { locomo } from "./locomo.ts";
import { longmemeval } from "./longmemeval.ts";
import { memdaily } from "./memdaily.ts";
import { mempalace } from "./mempalace.ts";
import { personaext } from "./personaext.ts";
import { poison } from "./poison.ts";
import { precisionmembench } from "./precisionmembench.ts";
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

const USAGE = `npm run -s eval -- SET [--data DIR] [--limit N] [--embedder NAME] [--json]
SET is one of ${Object.keys(SETS).join(", ")}.
DIR holds the data as bench/quality/README.md says; without it, stories and locomo run on a small conversation of the
project's own. NAME is one of ${Object.keys(EMBEDDERS).join(", ")}; with --model FOLDER for minilm, --model NAME and
--base-url URL for openai.`;

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
  const isWrong = limit !== undefined && !(Number.isInteger(limit) && limit > 0);
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
  const done = await run({
    data: values.data ?? OWN,
    embedder,
    ...(limit === undefined ? {} : { limit }),
    progress: progressTo(process.stderr),
  });
  console.log(values.json ? JSON.stringify(done.report) : tableOf(done));
  return 0;
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
      json: { type: "boolean", default: false },
    },
  });
}

process.exitCode = await main().catch((error: Error) => {
  console.error(error.message);
  return 1;
});
