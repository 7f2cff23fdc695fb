import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  clients,
  commandLine,
  countTests,
  firstByte,
  importTwice,
  serverStart,
  speed,
  suitesStep,
  testStep,
} from "./checks.ts";
import { runInOrder, runSideBySide, type StepOutcome } from "./run-steps.ts";
import { type CiStep, execStep, forgettingStep, nodeStep, qualityStep, sameFiguresStep } from "./steps.ts";

const ROOT = join(import.meta.dirname, "../..");
const DATA = "../shared/data";
const OWN_DATA = "bench/quality/small";
const hasData = existsSync(join(ROOT, DATA));
/** The model of the embedder MiniLM is not part of the project. Where it is beside the checkout, its suite runs. */
const MODELS = join(ROOT, "../shared/models");
const hasMinilm = existsSync(join(MODELS, "all-MiniLM-L6-v2/onnx/model_quantized.onnx"));

const reports = mkdtempSync(join(tmpdir(), "keepsake-ci-"));
const report = (name: string): string => join(reports, `${name}.json`);
const REPORTS = ["fast", "services", "system"].map(report);

/** A load of 200 searches and 20 writes a second, by the pace of the machine; a bar of 150 ms sees errors and queues that grow. */
const LOAD = ["bench/speed/main.ts", "--server", "--users", "100", "--per-user", "2000", "--seconds", "60"];
const LOAD_BAR = ["--keep", join(reports, "load.db"), "--bar", "150", "--paced"];

/** One after the other: tests, and what is measured. */
const ALONE: readonly CiStep[] = [
  testStep("test", REPORTS[0] ?? ""),
  testStep("test:services", REPORTS[1] ?? ""),
  testStep("test:system", REPORTS[2] ?? ""),
  suitesStep(REPORTS),
  commandLine,
  serverStart,
  importTwice,
  firstByte,
  speed,
  nodeStep("load: 200 searches and 20 writes a second", ...LOAD, ...LOAD_BAR),
  nodeStep("load: the same with a slow model behind it", ...LOAD, ...LOAD_BAR, "--model-ms", "3000"),
  nodeStep(
    "two servers, two workers on one PostgreSQL and one Redis",
    "test/several/main.ts",
    "--seconds",
    "30",
    "--searches",
    "50",
    "--writes",
    "5",
  ),
  nodeStep("kill PostgreSQL 20 times under load", "test/crash/postgres-kill.ts"),
];

/** Side by side: nothing in them is timed. The slowest come first. */
const BESIDE: readonly CiStep[] = [
  nodeStep("kill a writer 200 times", "test/crash/writer-kill.ts", "--kills", "200"),
  nodeStep("kill an import 50 times", "test/crash/import-kill.ts", "--kills", "50"),
  nodeStep("100,000 memories to PostgreSQL and back, killed on the way", "test/move/round-trip.ts"),
  nodeStep(
    "end a server under load 25 times each way",
    "test/crash/server-kill.ts",
    "--kills",
    "25",
    "--terms",
    "25",
  ),
  nodeStep(
    "2,000 histories on memory, SQLite and PostgreSQL",
    "test/postgres/histories.ts",
    "--histories",
    "2000",
  ),
  execStep("OpenAPI fuzzing", ".ci/fuzz/run"),
  nodeStep(
    "erase among processes and kill the server, 20 rounds",
    "test/crash/two-process-erasure.ts",
    "--rounds",
    "20",
  ),
  clients,
  nodeStep("faults: every cell of the table", "test/faults/main.ts"),
  nodeStep(
    "kill a re-embedding of 20,000",
    "test/crash/reembed-kill.ts",
    "--count",
    "20000",
    "--kills",
    "20",
  ),
  nodeStep("60 failing calls of the disk", "test/faults/io-failures.ts", "--sample", "60"),
  nodeStep("500 power cuts", "test/faults/power-cut.ts", "--states", "500"),
  nodeStep("kill a large erasure 40 times", "test/crash/erase-kill.ts", "--kills", "40"),
  nodeStep("kill the update of an older file 20 times", "test/crash/migration-kill.ts", "--kills", "20"),
  nodeStep("40 histories over several processes", "test/crash/many-processes.ts", "--histories", "40"),
  nodeStep("100 planted inconsistencies", "test/faults/planted.ts", "--count", "100"),
  qualityStep("our stories", { set: "stories", data: OWN_DATA, figure: "stories_passed", bar: 100 }),
  qualityStep("our conversation", { set: "locomo", data: OWN_DATA, figure: "turn_recall@10", bar: 90 }),
  execStep("cost: our conversation", "npm", "run", "-s", "cost"),
  execStep("lint", "npm", "run", "-s", "lint"),
  execStep("types", "npm", "run", "-s", "types"),
];

/** The public data is not part of the project. Where it is beside the checkout, its bars hold too. */
const PUBLIC: readonly CiStep[] = [
  qualityStep("LongMemEval", { set: "longmemeval", data: DATA, figure: "turn_recall@10", bar: 93 }),
  qualityStep("stories", { set: "stories", data: DATA, figure: "stories_passed", bar: 90 }),
  qualityStep("LoCoMo", { set: "locomo", data: DATA, figure: "turn_recall@10", bar: 76 }),
  qualityStep("BEAM", { set: "beam", data: DATA, figure: "recall@10", bar: 54 }),
  qualityStep("updates", { set: "updates", data: DATA, figure: "newer_first", bar: 92 }),
  qualityStep("forget cases", { set: "forget-cases", data: DATA, figure: "passed_count", bar: 31 }),
  forgettingStep(DATA),
  // The aim is 75.
  qualityStep("PersonaExt", { set: "personaext", data: DATA, figure: "holds_gold", bar: 68 }),
  // The aim was 90. It was 89.6 as long as a Chinese question got all of a small memory, whatever it shared with the question.
  // Now it gets what shares words with it, and nothing where nothing does: 86.4, and 97 of 100 questions about something else
  // find nothing, where 69 did.
  qualityStep("MemDaily", { set: "memdaily", data: DATA, figure: "recall@5", bar: 86 }),
  execStep("cost: LoCoMo", "npm", "run", "-s", "cost", "--", "--data", DATA),
];

const [sameData, sameSets] = hasData
  ? [DATA, ["stories", "forget-cases", "locomo"]]
  : [OWN_DATA, ["stories", "locomo"]];
/** Other backends give the figures of SQLite alone. The slowest come first. */
const SAME: readonly CiStep[] = [
  sameFiguresStep("on PostgreSQL", sameData, sameSets, ["--record", "postgres"]),
  ...["s3-vectors", "pinecone", "faiss", "chroma", "pgvector", "redis"].map((index) =>
    sameFiguresStep(`with ${index} beside the record`, sameData, sameSets, ["--follower", index]),
  ),
];

/** The package of the embedder MiniLM is optional, and too large to be a dependency of the project. */
const minilmPackage: CiStep = {
  name: "package of MiniLM",
  async run({ exec }) {
    const prefix = join(reports, "minilm");
    const quiet = ["--no-audit", "--no-fund", "--loglevel=error"];
    await exec(["npm", "install", "--prefix", prefix, ...quiet, "@huggingface/transformers@4.3.1"], {
      env: { ONNXRUNTIME_NODE_INSTALL: "skip" },
    });
    Object.assign(process.env, { KEEPSAKE_TEST_TRANSFORMERS: prefix, KEEPSAKE_TEST_MODELS: MODELS });
  },
};

/** A version of Node that is too old, for the test of what the package says there. */
const oldNode: CiStep = {
  name: "old Node",
  async run({ exec }) {
    const prefix = join(reports, "old-node");
    await exec([
      "npm",
      "install",
      "--prefix",
      prefix,
      "--no-audit",
      "--no-fund",
      "--loglevel=error",
      "node@20.20.2",
    ]);
    process.env.KEEPSAKE_TEST_OLD_NODE = join(prefix, "node_modules/node/bin/node");
  },
};

/** Starts the servers that adapters run against, and tells the steps where they are. */
const services: CiStep = {
  name: "PostgreSQL, Redis, Chroma, FAISS, S3 Vectors",
  async run({ read, print }) {
    const lines = await read(["test/services/up"]);
    print(lines.trim());
    for (const [, name = "", value = ""] of lines.matchAll(/^export (\w+)=(.*)$/gm)) {
      process.env[name] = value.replace(/^(["'])(.*)\1$/, "$2");
    }
  },
};

/** Runs the whole check and prints the counts last. Gives the exit status: 0 only if nothing failed and nothing was skipped. */
async function main(): Promise<number> {
  const place = { root: ROOT, reports };
  const outcomes: StepOutcome[] = [];
  try {
    if (hasMinilm) outcomes.push(...(await runInOrder([minilmPackage], place)));
    outcomes.push(...(await runInOrder([oldNode, services, ...ALONE], place)));
    process.env.NODE_COMPILE_CACHE = join(reports, "compiled");
    outcomes.push(...(await runSideBySide([...BESIDE, ...(hasData ? PUBLIC : [])], place)));
    outcomes.push(...(await runSideBySide(SAME, place)));
    const counts = await Promise.all(
      REPORTS.map((path) => countTests(path, hasMinilm ? undefined : "/src/adapters/minilm/")),
    );
    const [passed, failed] = [sum(counts.map((one) => one.passed)), sum(counts.map((one) => one.failed))];
    const broken = outcomes.filter(({ error }) => error !== undefined);
    for (const { name } of broken) console.error(`failed: ${name}`);
    console.log(`${sum(outcomes.map(({ seconds }) => seconds))} s of steps, ${broken.length} steps failed`);
    console.log(`${passed} passed, ${failed} failed`);
    return broken.length === 0 && failed === 0 ? 0 : 1;
  } finally {
    rmSync(reports, { recursive: true, force: true });
  }
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, one) => total + one, 0);
}

process.exitCode = await main();
