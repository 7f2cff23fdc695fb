import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { CAMPAIGN } from "../../test/campaign/programs.ts";
import {
  campaignStep,
  clients,
  commandLine,
  countTests,
  coverageStep,
  firstByte,
  importTwice,
  serverStart,
  speed,
  suitesStep,
  testStep,
} from "./checks.ts";
import { runInOrder, runSideBySide, type StepOutcome } from "./run-steps.ts";
import {
  type CiStep,
  execStep,
  forgettingStep,
  nodeStep,
  ownFiguresStep,
  qualityStep,
  REPEATED_SETS,
  sameFiguresStep,
} from "./steps.ts";

const ROOT = join(import.meta.dirname, "../..");
const DATA = "../shared/data";
const OWN_DATA = "bench/quality/small";
const hasData = existsSync(join(ROOT, DATA));
/** The model of the embedder MiniLM is not part of the project. Where it is beside the checkout, its suite runs. */
const MODELS = join(ROOT, "../shared/models");
const hasMinilm = existsSync(join(MODELS, "all-MiniLM-L6-v2/onnx/model_quantized.onnx"));

/** Citus is not part of the project. Where a script that starts a cluster is beside the checkout, its suites run. */
const CITUS = join(ROOT, "../shared/services/citus/citus-up.sh");
const hasCitus = existsSync(CITUS);
/** Folders of suites that are left out for want of what is not part of the project. */
const ABSENT = [
  ...(hasMinilm
    ? []
    : ["/src/adapters/minilm/", "/src/adapters/cross-encoder/", "/src/adapters/sentence-transformers/"]),
  ...(hasCitus ? [] : ["/src/adapters/postgres/citus/"]),
];

const reports = mkdtempSync(join(tmpdir(), "keepsake-ci-"));
const report = (name: string): string => join(reports, `${name}.json`);
const REPORTS = ["fast", "services", "system", "timed"].map(report);

/** They kill a database of their own, and hold the time until the server is well again against a bar. */
const STOPS_DATABASES = ["test/crash/postgres-kill.ts", "test/crash/mariadb-kill.ts"];
/** Programs of the campaign that a test of theirs runs in their small size. */
const TESTED_PROGRAMS = [
  "test/crash/encryption-kill.ts",
  "test/crash/server-stop.ts",
  "test/faults/soak.ts",
  "test/webhooks/deliver-under-kills.ts",
];

/** A load of 200 searches and 20 writes a second, or what a plain server shows this machine to take of it; a bar of 150 ms sees errors and queues that grow. */
const LOAD = ["bench/speed/main.ts", "--server", "--users", "100", "--per-user", "2000", "--seconds", "60"];
const LOAD_BAR = ["--keep", join(reports, "load.db"), "--bar", "150", "--paced"];

/** Side by side: they wait for servers and processes, and nothing in them is timed. */
const SUITES: readonly CiStep[] = [
  testStep("test:system", REPORTS[2] ?? ""),
  testStep("test:services", REPORTS[1] ?? ""),
];

/** One after the other: what is measured. */
const ALONE: readonly CiStep[] = [
  testStep("test:timed", REPORTS[3] ?? ""),
  suitesStep(REPORTS, hasCitus ? [] : ["postgres on Citus"]),
  coverageStep(REPORTS, ABSENT),
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
  ...CAMPAIGN.filter(({ file }) => STOPS_DATABASES.includes(file)).map(campaignStep),
  // A chat goes on without the memory when it takes too long, and the story then fails.
  clients,
];

/** Side by side: nothing in them is timed. */
const BESIDE: readonly CiStep[] = [
  ...CAMPAIGN.filter(({ file }) => ![...STOPS_DATABASES, ...TESTED_PROGRAMS].includes(file)).map(
    campaignStep,
  ),
  execStep("OpenAPI fuzzing", ".ci/fuzz/run"),
  nodeStep("image: its steps in an empty folder", "scripts/ci/image-steps.ts"),
  qualityStep("our stories", { set: "stories", data: OWN_DATA, figure: "stories_passed", bar: 100 }),
  qualityStep("our conversation", { set: "locomo", data: OWN_DATA, figure: "turn_recall@10", bar: 90 }),
  execStep("cost: our conversation", "npm", "run", "-s", "cost"),
  execStep("lint", "npm", "run", "-s", "lint"),
  execStep("types", "npm", "run", "-s", "types"),
];

/** Of the messages of the chats with even numbers: none erases, and at most 2 of 1,000 are doubted. */
const CHATS_BAR = ["--ids", "even", "--remember", "sure", "--most-erased", "0", "--most-doubted", "2"];

/** The public data is not part of the project. Where it is beside the checkout, its bars hold too. The slowest come first. */
const PUBLIC: readonly CiStep[] = [
  qualityStep("LongMemEval", { set: "longmemeval", data: DATA, figure: "turn_recall@10", bar: 93 }),
  forgettingStep(DATA),
  // Nobody asks to forget in these chats.
  nodeStep(
    "real chats: nothing forgotten, little asked",
    "scripts/forgetting/count-in-chats.ts",
    "--data",
    DATA,
    ...CHATS_BAR,
  ),
  qualityStep("updates", { set: "updates", data: DATA, figure: "newer_first", bar: 92 }),
  qualityStep("LoCoMo", { set: "locomo", data: DATA, figure: "turn_recall@10", bar: 76 }),
  qualityStep("BEAM", { set: "beam", data: DATA, figure: "recall@10", bar: 54 }),
  qualityStep("stories", { set: "stories", data: DATA, figure: "stories_passed", bar: 90 }),
  qualityStep("forget cases", { set: "forget-cases", data: DATA, figure: "passed_count", bar: 31 }),
  // The aim is 75.
  qualityStep("PersonaExt", { set: "personaext", data: DATA, figure: "holds_gold", bar: 68 }),
  // The aim was 90. It was 89.6 as long as a Chinese question got all of a small memory, whatever it shared with the question.
  // Now it gets what shares words with it, and nothing where nothing does: 86.4, and 97 of 100 questions about something else
  // find nothing, where 69 did.
  qualityStep("MemDaily", { set: "memdaily", data: DATA, figure: "recall@5", bar: 86 }),
  execStep("cost: LoCoMo", "npm", "run", "-s", "cost", "--", "--data", DATA),
];

const [sameData, sameSets] = hasData
  ? [DATA, REPEATED_SETS]
  : [OWN_DATA, REPEATED_SETS.filter(({ set }) => set !== "forget-cases")];
/** Other backends give the figures of SQLite alone. The slowest come first. */
const SAME: readonly CiStep[] = [
  sameFiguresStep("on MariaDB", sameData, sameSets, ["--record", "mariadb"]),
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

/** The programs that check the files of deploy/. */
const deployTools: CiStep = {
  name: "tools that check deploy/",
  async run({ read }) {
    const line = await read(["test/services/deploy-tools", join(reports, "deploy-tools")]);
    process.env.KEEPSAKE_TEST_DEPLOY_TOOLS = /=(.*)$/m.exec(line)?.[1];
  },
};

/** Starts the servers that adapters run against, and tells the steps where they are. */
const services: CiStep = {
  name: "PostgreSQL, MariaDB, Redis, Chroma, FAISS, S3 Vectors",
  async run({ read, print }) {
    const lines = await read(["test/services/up"]);
    print(lines.trim());
    for (const [, name = "", value = ""] of lines.matchAll(/^export (\w+)=(.*)$/gm)) {
      process.env[name] = value.replace(/^(["'])(.*)\1$/, "$2");
    }
  },
};

/** Starts a coordinator and two workers, on the ports after those of the other servers. `.ci/run` stops them. */
const citus: CiStep = {
  name: "Citus",
  async run({ read }) {
    const { KEEPSAKE_SERVICES_DIR: folder = reports, KEEPSAKE_SERVICES_PORT: port = "15500" } = process.env;
    const lines = await read([CITUS, join(folder, "citus"), String(Number(port) + 4)]);
    process.env.KEEPSAKE_TEST_CITUS = lines.trim().split("\n").at(-1);
  },
};

/** How many of the slowest steps the end of the output names. */
const SLOWEST_STEPS = 15;
/** How many of a failed step's last lines are printed again at the end. */
const MAX_QUOTED_LINES = 25;

/** Runs the whole check and prints the counts last. Gives the exit status: 0 only if nothing failed and nothing was skipped. */
async function main(): Promise<number> {
  const place = { root: ROOT, reports };
  const outcomes: StepOutcome[] = [];
  try {
    if (hasMinilm) outcomes.push(...(await runInOrder([minilmPackage], place)));
    const fastTests = testStep("test", REPORTS[0] ?? "");
    if (hasCitus) outcomes.push(...(await runInOrder([citus], place)));
    outcomes.push(...(await runInOrder([oldNode, deployTools, services, fastTests], place)));
    outcomes.push(...(await runSideBySide(SUITES, place)));
    outcomes.push(...(await runInOrder(ALONE, place)));
    process.env.NODE_COMPILE_CACHE = join(reports, "compiled");
    outcomes.push(...(await runSideBySide([...(hasData ? PUBLIC : []), ...BESIDE], place)));
    outcomes.push(...(await runInOrder([ownFiguresStep(sameData, sameSets)], place)));
    outcomes.push(...(await runSideBySide(SAME, place)));
    const counts = await Promise.all(REPORTS.map((path) => countTests(path, ABSENT)));
    const [passed, failed] = [sum(counts.map((one) => one.passed)), sum(counts.map((one) => one.failed))];
    const broken = outcomes.filter(({ error }) => error !== undefined);
    const slowest = outcomes.toSorted((a, b) => b.seconds - a.seconds).slice(0, SLOWEST_STEPS);
    console.log(`slowest steps: ${slowest.map(({ name, seconds }) => `${name}, ${seconds} s`).join("; ")}`);
    for (const { name, lastOutput } of broken) console.error(`failed: ${name}\n${toQuote(lastOutput)}`);
    for (const failure of counts.flatMap(({ failures }) => failures))
      console.error(`failed test: ${failure}`);
    console.log(`${sum(outcomes.map(({ seconds }) => seconds))} s of steps, ${broken.length} steps failed`);
    console.log(`${passed} passed, ${failed} failed`);
    return broken.length === 0 && failed === 0 ? 0 : 1;
  } finally {
    rmSync(reports, { recursive: true, force: true });
  }
}

/** The lines of a failed step that hold no passed test, so that they do not read as the run's own. */
function toQuote(output: string): string {
  return output
    .split("\n")
    .filter((line) => !/^\s*(?:✓|held\b|$)/.test(line))
    .slice(-MAX_QUOTED_LINES)
    .map((line) => `    ${line}`)
    .join("\n");
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, one) => total + one, 0);
}

process.exitCode = await main();
