import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { availableParallelism, cpus, tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { parseArgs } from "node:util";
import { person } from "../speed/made-up.ts";

/** How many times as long as a Node that does nothing a hook may take, at p95. It holds for any machine and any load. */
const BAR = 2.5;

const USAGE = `node bench/hooks/main.ts [--events N] [--memories M] [--json]

How long a hook takes, from the start of its process to its end, as the client sees it. N events (500) of prompts with the
memory's process running, whose user has M memories (2,000), and N without one. In the second, each event finds no process,
starts one, and that process is ended before the next event (on Linux). After each event, a Node that does nothing is started,
for comparison: p95 of the events may be ${BAR} times its p95. Ends with 1 if it is more. Run \`npm run build\` first.`;

const ROOT = join(import.meta.dirname, "../..");
const MAIN = join(ROOT, "dist/cli/main.js");
/** Before the first measured event: it fills the caches of a process that runs for hours. */
const WARM_UP = 20;
const START_LIMIT_MS = 60_000;

interface Place {
  readonly home: string;
  readonly db: string;
}

const toEnvironment = (home: string) => ({ PATH: process.env.PATH, HOME: home, USERPROFILE: home });

/** Runs a process with a text on stdin, and gives the time to its end, in ms, and what it printed. */
async function timeProcess(
  args: readonly string[],
  home: string,
  input: string,
): Promise<{ ms: number; output: string }> {
  const begun = performance.now();
  const child = spawn(process.execPath, args, {
    env: toEnvironment(home),
    stdio: ["pipe", "pipe", "inherit"],
  });
  let output = "";
  child.stdout.on("data", (text) => (output += text));
  // A Node that does nothing may have ended by now.
  child.stdin.on("error", () => {});
  child.stdin.end(input);
  await once(child, "close");
  return { ms: performance.now() - begun, output };
}

const runHook = ({ home, db }: Place, prompt: string): Promise<{ ms: number; output: string }> =>
  timeProcess(
    [MAIN, "hook", "UserPromptSubmit", "--client", "claude-code", "--db", db, "--user", person(1).name],
    home,
    JSON.stringify({ session_id: "bench", prompt }),
  );

async function fillMemory({ db }: Place, memories: number): Promise<void> {
  const child = spawn(process.execPath, ["bench/speed/fill.ts", db, "1", "1", String(memories)], {
    cwd: ROOT,
  });
  const [status] = await once(child, "exit");
  if (status !== 0) throw new Error("The user's memories could not be made.");
}

function readHookLog({ home }: Place): readonly { pid?: number; server?: string }[] {
  const folder = join(home, ".keepsake/hooks");
  const [name = ""] = readdirSync(folder);
  return readFileSync(join(folder, name, "hooks.log"), "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
}

/** Starts the process that keeps the memory open, and waits until a hook gets an answer. */
async function startMemory(place: Place): Promise<ChildProcess> {
  const child = spawn(process.execPath, [MAIN, "hooks", "serve", "--db", place.db], {
    env: toEnvironment(place.home),
    stdio: "ignore",
  });
  const end = performance.now() + START_LIMIT_MS;
  while (performance.now() < end) {
    await pause(200);
    if ((await isListening(place)) && child.exitCode === null) return child;
  }
  child.kill();
  throw new Error("The process with the memory did not start.");
}

async function isListening(place: Place): Promise<boolean> {
  try {
    return readHookLog(place).some(({ server }) => server === "started");
  } catch {
    return false;
  }
}

async function endMemory(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) return;
  child.kill("SIGKILL");
  await once(child, "exit");
}

/** Ends the process that a hook has started, by the path of its database. */
function endStarted(db: string): void {
  for (const pid of readdirSync("/proc").filter((name) => /^\d+$/.test(name))) {
    try {
      if (readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0").includes(db))
        process.kill(Number(pid), "SIGKILL");
    } catch {
      // It has ended.
    }
  }
}

function summarize(values: readonly number[]): { readonly [name: string]: number } {
  const sorted = values.toSorted((a, b) => a - b);
  const at = (share: number): number => Math.round(sorted[Math.floor((sorted.length - 1) * share)] ?? 0);
  return { p50: at(0.5), p95: at(0.95), p99: at(0.99), most: at(1) };
}

interface HookTimes {
  readonly machine: string;
  readonly events: number;
  readonly memories: number;
  /** Events that were given something. */
  readonly given: number;
  /** By what was measured, in ms. */
  readonly ms: { readonly [name: string]: { readonly [percentile: string]: number } };
  readonly p95_to_node: {
    readonly bar: number;
    readonly with_process: number;
    readonly without_process: number;
  };
}

async function measureHooks(events: number, memories: number): Promise<HookTimes> {
  const home = mkdtempSync(join(tmpdir(), "ks-hooks-"));
  const place: Place = { home, db: join(home, "memory.db") };
  const prompts = Array.from({ length: events + WARM_UP }, (_, i) => person(1).question(i, memories));
  const running: number[] = [];
  const missing: number[] = [];
  const bare: { readonly running: number[]; readonly missing: number[] } = { running: [], missing: [] };
  const startNode = async (): Promise<number> => (await timeProcess(["-e", "0"], home, "")).ms;
  let given = 0;
  try {
    await fillMemory(place, memories);
    const memory = await startMemory(place);
    try {
      for (const [i, prompt] of prompts.entries()) {
        const { ms, output } = await runHook(place, prompt);
        if (i < WARM_UP) continue;
        running.push(ms);
        bare.running.push(await startNode());
        if (output !== "") given += 1;
      }
    } finally {
      await endMemory(memory);
    }
    for (const prompt of prompts.slice(WARM_UP)) {
      const { ms } = await runHook(place, prompt);
      endStarted(place.db);
      missing.push(ms);
      bare.missing.push(await startNode());
    }
  } finally {
    endStarted(place.db);
    rmSync(home, { recursive: true, force: true });
  }
  return {
    machine: `${cpus()[0]?.model ?? "unknown"}, ${availableParallelism()} cores, Node ${process.version}`,
    events,
    memories,
    given,
    ms: {
      with_process: summarize(running),
      node_beside_it: summarize(bare.running),
      without_process: summarize(missing),
      node_beside_that: summarize(bare.missing),
    },
    p95_to_node: {
      bar: BAR,
      with_process: compareWithNode(running, bare.running),
      without_process: compareWithNode(missing, bare.missing),
    },
  };
}

/** How many times as long the events take as the starts of Node beside them, at p95. */
function compareWithNode(events: readonly number[], bare: readonly number[]): number {
  const share = (summarize(events).p95 ?? 0) / (summarize(bare).p95 ?? 1);
  return Math.round(share * 100) / 100;
}

const { values } = parseArgs({
  options: {
    events: { type: "string", default: "500" },
    memories: { type: "string", default: "2000" },
    json: { type: "boolean", default: false },
    help: { type: "boolean", default: false },
  },
});
if (values.help) console.log(USAGE);
else {
  const result = await measureHooks(Number(values.events), Number(values.memories));
  console.log(values.json ? JSON.stringify(result) : JSON.stringify(result, undefined, 2));
  const { bar, with_process: running, without_process: missing } = result.p95_to_node;
  // Hooks that give nothing are fast.
  if (Math.max(running, missing) > bar || result.given === 0) process.exitCode = 1;
}
