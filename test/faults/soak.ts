import { execFileSync, spawn, spawnSync } from "node:child_process";
import { appendFileSync, existsSync, mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { type Running, started } from "../../bench/load/server.ts";
import { random } from "../crash/kill.ts";
import { type EndSample, evaluateSoak, type LoadSample, type SoakSample } from "./soak-evaluate.ts";
import { makeSoakLoad, type SoakLoad } from "./soak-load.ts";
import { startUpstream } from "./soak-upstream.ts";

export interface SoakOptions {
  readonly minutes: number;
  /** Requests a second. */
  readonly rate: number;
  readonly seed: number;
  /** The file that samples are appended to, one JSON document a line. */
  readonly samples: string;
  /** Plants a map that is never cleared. */
  readonly isMutant?: boolean;
  /** Leaves the database where it is at the end, and says where (false). */
  readonly isKept?: boolean;
  readonly intervalMs?: number;
}

const MONITOR = join(import.meta.dirname, "soak-monitor.ts");
const PROGRAM = join(import.meta.dirname, "../../dist/cli/main.js");
const CACHE_MB = 4;
const HEAP_MB = 256;
const WARM_UP_MINUTES = 15;

/**
 * Loads a server for a long time, and appends to a file what its process holds once a minute. The server has the default settings,
 * but for a cache that is small enough to be full, and a stub for the model's server.
 */
export async function soak({
  minutes,
  rate,
  seed,
  samples,
  isMutant = false,
  isKept = false,
  intervalMs = 60_000,
}: SoakOptions): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "keepsake-soak-"));
  const path = join(folder, "memory.db");
  const upstream = await startUpstream();
  const sampling = { SOAK_SAMPLES: samples, SOAK_INTERVAL_MS: String(intervalMs) };
  const warmUpMinutes = Math.min(WARM_UP_MINUTES, minutes / 4);
  const note = (sample: SoakSample): void => appendFileSync(samples, `${JSON.stringify(sample)}\n`);
  note({ role: "start", at: Date.now(), minutes, warmUpMinutes, rate, seed, cacheMegabytes: CACHE_MB });
  const idle = spawn(process.execPath, ["--import", MONITOR, "-e", "setInterval(() => {}, 1000)"], {
    stdio: ["ignore", "ignore", "inherit"],
    env: { ...sampling, SOAK_ROLE: "idle" },
  });
  try {
    const server = await started(
      path,
      {
        ...sampling,
        ...(isMutant ? { SOAK_MUTANT: "leak" } : {}),
        KEEPSAKE_CACHE_MB: String(CACHE_MB),
        // With a key, a model would be asked to understand: this one is for chats alone.
        KEEPSAKE_EXTRACTOR: "rules",
        OPENAI_API_KEY: "sk-of-the-stub",
        OPENAI_BASE_URL: upstream.url,
      },
      [`--max-old-space-size=${HEAP_MB}`, "--import", MONITOR],
    );
    const load = makeSoakLoad(server, { rate, draw: random(seed) });
    const look = setInterval(() => void lookAt(path, server, load).then(note), intervalMs);
    // The server has opened all that it opens, and nobody is connected: descriptors can be compared from here on.
    await load.run(warmUpMinutes * 60_000);
    // For an erasure the writing thread starts a process, and its event loop then opens a reserve descriptor (`/dev/null`) for good.
    await load.eraseOne();
    await mark(server, load);
    await load.run((minutes - warmUpMinutes) * 60_000);
    note(await lookAt(path, server, load));
    await mark(server, load);
    clearInterval(look);
    note(await endOf(path, server, load));
  } finally {
    idle.kill();
    upstream.close();
    if (isKept) console.error(folder);
    else rmSync(folder, { recursive: true, force: true });
  }
}

async function mark(server: Running, load: SoakLoad): Promise<void> {
  load.hangUp();
  await new Promise((resolve) => setTimeout(resolve, 8000));
  server.child.kill("SIGUSR2");
  await new Promise((resolve) => setTimeout(resolve, 1000));
}

async function lookAt(path: string, server: Running, load: SoakLoad): Promise<LoadSample> {
  const database = new DatabaseSync(path, { readOnly: true, timeout: 5000 });
  const value = (pragma: string): number =>
    Number(Object.values(database.prepare(`PRAGMA ${pragma}`).get() ?? {})[0]);
  const live = (value("page_count") - value("freelist_count")) * value("page_size");
  database.close();
  const response = await fetch(`${server.url}/metrics`, {
    headers: { authorization: `Bearer ${server.key}` },
  });
  const metrics = await response.text();
  const jobsLeft = [...metrics.matchAll(/^memory_job_left\{[^}]*\} (\d+)/gm)].map(([, left]) => Number(left));
  const size = (file: string): number => (existsSync(file) ? statSync(file).size : 0);
  return {
    role: "load",
    at: Date.now(),
    wal: size(`${path}-wal`),
    database: size(path),
    live,
    jobsLeft: Math.max(0, ...jobsLeft),
    treeMegabytes: server.used().megabytes,
    ...load.counts(),
  };
}

async function endOf(path: string, server: Running, load: SoakLoad): Promise<EndSample> {
  const { acked, lost, resurrected, erasedWords } = await load.check();
  load.hangUp();
  const exit = await server.end("SIGTERM");
  const doctor = spawnSync(process.execPath, [PROGRAM, "doctor", "--db", path, "--json"], {
    encoding: "utf8",
    maxBuffer: 2 ** 28,
  });
  const inFiles = [path, `${path}-wal`].filter(existsSync).flatMap((file) =>
    [
      ...readFileSync(file)
        .toString("latin1")
        .toLowerCase()
        .matchAll(/zq[a-z]{6}xv/g),
    ].map(([word]) => word),
  );
  const erased = new Set([...erasedWords].map((word) => word.toLowerCase()));
  const left = new Set(inFiles.filter((word) => erased.has(word)));
  return {
    role: "end",
    at: Date.now(),
    acked,
    erased: erased.size,
    lost,
    resurrected: resurrected + left.size,
    exit,
    doctor: doctor.status ?? -1,
    findings: findingsOf(doctor.stdout),
    unexpected: load.unexpected,
  };
}

interface DoctorAnswer {
  readonly faults?: readonly { readonly place: string; readonly problem: string; readonly count: number }[];
  readonly receipts?: readonly { readonly problem: string }[];
  readonly checks?: readonly { readonly name: string; readonly state: string; readonly count?: number }[];
  readonly error?: { readonly code: string };
}

/** What doctor found, and how often; without the rows, which name users. */
function findingsOf(text: string): EndSample["findings"] {
  const found: { [what: string]: number } = {};
  const count = (what: string, times: number): void => {
    found[what] = (found[what] ?? 0) + times;
  };
  let answer: DoctorAnswer = {};
  try {
    answer = JSON.parse(text) as DoctorAnswer;
  } catch {
    count("no answer", 1);
  }
  if (answer.error) count(`error: ${answer.error.code}`, 1);
  for (const fault of answer.faults ?? []) count(`${fault.place}: ${fault.problem}`, fault.count);
  for (const { problem } of answer.receipts ?? []) count(`receipt: ${problem}`, 1);
  for (const check of answer.checks ?? [])
    if (check.state !== "ok") count(`check: ${check.name}`, check.count ?? 1);
  return found;
}

function samplesIn(file: string): SoakSample[] {
  const lines = readFileSync(file, "utf8").split("\n").filter(Boolean);
  return lines.map((line) => JSON.parse(line) as SoakSample);
}

function word(name: string, otherwise: string): string {
  const at = process.argv.indexOf(`--${name}`);
  return at === -1 ? otherwise : (process.argv[at + 1] ?? otherwise);
}

if (import.meta.main) {
  const evaluated = word("evaluate", "");
  const folder = mkdtempSync(join(tmpdir(), "keepsake-soak-samples-"));
  const samples = evaluated || word("samples", join(folder, "samples.jsonl"));
  if (evaluated === "") {
    if (!process.argv.includes("--as-built"))
      execFileSync(process.execPath, [join(import.meta.dirname, "../../scripts/ready.mjs")], {
        stdio: "inherit",
      });
    await soak({
      minutes: Number(word("minutes", "120")),
      rate: Number(word("rate", "15")),
      seed: Number(word("seed", String(Math.floor(Math.random() * 1e9)))),
      samples,
      isMutant: process.argv.includes("--mutant"),
      isKept: process.argv.includes("--keep"),
    });
  }
  const result = evaluateSoak(samplesIn(samples));
  rmSync(folder, { recursive: true, force: true });
  console.log(JSON.stringify(result));
  // The planted leak must be found; else nothing may be.
  const isMutant = process.argv.includes("--mutant");
  process.exitCode = (isMutant ? result.isLeaking : result.faults.length === 0) ? 0 : 1;
}
