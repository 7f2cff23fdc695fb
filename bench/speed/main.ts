import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { measureCurve, writePages } from "./curve.ts";
import { run, runCalls, type Size } from "./run.ts";
import { tableOf } from "./table.ts";

const USAGE = `npm run -s bench -- [--users U] [--per-user N] [--json | --calls] [--keep FILE]
npm run -s bench -- --record postgres [--users U] [--per-user N] [--json] [--keep FILE]
npm run -s bench -- --curve | --page

Measures on an SQLite file in a temporary folder: U users (1) of N memories each (10,000), and the N messages they
were read from. --json prints one JSON document instead of a table. --keep leaves the filled file there, and
takes it from there when it is run again for the same size. --calls measures recall, answer and remember alone, as JSON.
--record postgres measures recalls on a server (KEEPSAKE_TEST_POSTGRES), in a database of its own, beside plain pgvector;
with --keep the database stays there as well, and is measured again as it is.
--curve measures several sizes, which takes long, and writes docs/results; --page writes the pages alone, from the
results there are. What is measured how: docs/results/speed.md
--server measures the built server under load: \`npm run -s bench -- --server --help\``;

interface Wanted {
  readonly size: Size;
  readonly isJson: boolean;
  /** The calls alone, as JSON. */
  readonly isCalls: boolean;
  readonly record: "sqlite" | "postgres";
  readonly pages: "measured" | "written" | undefined;
}

function wantedOf(): Wanted {
  const { values } = parseArgs({
    options: {
      users: { type: "string", default: "1" },
      "per-user": { type: "string", default: "10000" },
      keep: { type: "string" },
      record: { type: "string", default: "sqlite" },
      json: { type: "boolean", default: false },
      calls: { type: "boolean", default: false },
      curve: { type: "boolean", default: false },
      page: { type: "boolean", default: false },
    },
  });
  return {
    size: {
      users: countOf(values.users, "--users"),
      perUser: countOf(values["per-user"], "--per-user"),
      ...(values.keep === undefined ? {} : { kept: values.keep }),
    },
    record: recordOf(values.record),
    isJson: values.json,
    isCalls: values.calls,
    pages: values.curve ? "measured" : values.page ? "written" : undefined,
  };
}

function recordOf(text: string): Wanted["record"] {
  if (text === "sqlite" || text === "postgres") return text;
  throw new Error("--record must be sqlite or postgres.");
}

function countOf(text: string, name: string): number {
  const count = Number(text);
  if (!Number.isInteger(count) || count < 1) throw new Error(`${name} must be a whole number from 1.`);
  return count;
}

async function main(): Promise<number> {
  let wanted: Wanted;
  try {
    wanted = wantedOf();
  } catch (error) {
    console.error(`${(error as Error).message}\n\n${USAGE}`);
    return 2;
  }
  if (wanted.pages === "measured") measureCurve();
  else if (wanted.pages === "written") writePages();
  else await measure(wanted);
  return 0;
}

async function measure(wanted: Wanted): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "keepsake-bench-"));
  // However it ends: a million memories are some gigabytes.
  process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(130));
  if (wanted.record === "postgres") {
    const { postgresTable, runOnPostgres } = await import("./postgres.ts");
    const { KEEPSAKE_TEST_POSTGRES: server } = process.env;
    if (!server) throw new Error('It needs KEEPSAKE_TEST_POSTGRES: eval "$(test/services/up postgres)"');
    const figures = await runOnPostgres(folder, wanted.size, server);
    console.log(wanted.isJson ? JSON.stringify(figures) : postgresTable(figures));
    return;
  }
  if (wanted.isCalls) {
    console.log(JSON.stringify(await runCalls(folder, wanted.size)));
    return;
  }
  const figures = await run(folder, wanted.size);
  console.log(wanted.isJson ? JSON.stringify(figures) : tableOf(figures));
}

// Another program, with options of its own.
const isOfServer = process.argv.includes("--server");
if (isOfServer) await import("../load/main.ts");
else
  process.exitCode = await main().catch((error: Error) => {
    console.error(error.message);
    return 1;
  });
