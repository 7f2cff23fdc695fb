import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { option, random } from "../crash/kill.ts";
import { type DiskOutcome, examineState, receiptFaults } from "./disk/outcome.ts";
import { type SimulatedDisk, simulatedDisk } from "./disk/states.ts";
import { type DiskEvent, readTrace, TRACED_CALLS } from "./disk/trace.ts";
import type { TracedRequest } from "./disk/workload.ts";

const WORKLOAD = join(import.meta.dirname, "disk/workload.ts");
const NORMAL = join(import.meta.dirname, "disk/normal-sync.mjs");
const PROGRAM = join(import.meta.dirname, "../../dist/cli/main.js");
/** Requests of each of three clients while a trace is made. */
const REQUESTS = 40;
/** The least share of states in which the control, where SQLite syncs less, must lose something acknowledged. */
const CONTROL_SHARE = 0.5;
/** The fewest states of the control: with fewer, its share is a matter of luck. */
const CONTROL_STATES = 300;
/** States that are opened by the program itself, too, as a process of its own. */
const BY_THE_PROGRAM = 0.002;

/** What simulated power cuts came to. */
export interface PowerCuts {
  readonly states: number;
  /** Writes that were acknowledged while the traces were made. */
  readonly acked: number;
  /** States in which something acknowledged is missing. */
  readonly lost: number;
  /** States in which a write is there in part. */
  readonly half: number;
  readonly corrupt: number;
  /** States in which something erased is there again. */
  readonly resurrected: number;
  /** Answers that were sent before what they acknowledge was synced. */
  readonly ackBeforeSync: number;
  /** What was found, in words: the first of each kind. */
  readonly findings: readonly string[];
}

/** A trace of the real server, and what was asked of it meanwhile. */
export interface WorkloadTrace {
  readonly events: readonly DiskEvent[];
  readonly requests: readonly TracedRequest[];
}

/** Runs the workload under strace; with `isNormal` as the control, where SQLite syncs less. */
export function traceWorkload(seed: number, isNormal: boolean, requests: number = REQUESTS): WorkloadTrace {
  const base = mkdtempSync(join(tmpdir(), "keepsake-power-"));
  const [folder, file, log] = [join(base, "disk"), join(base, "trace"), join(base, "log.json")];
  try {
    mkdirSync(folder);
    const words = isNormal ? ["--import", NORMAL] : [];
    const strace = ["-f", "--seccomp-bpf", "-y", "-xx", "-s", "4000000", "-e", `trace=${TRACED_CALLS}`];
    const { status, stderr } = spawnSync(
      "strace",
      [
        ...strace,
        "-e",
        "signal=none",
        "-o",
        file,
        process.execPath,
        WORKLOAD,
        folder,
        log,
        `${seed}`,
        `${requests}`,
        ...words,
      ],
      { encoding: "utf8" },
    );
    if (status !== 0) throw new Error(`The workload failed under strace (${status}): ${stderr.slice(-2000)}`);
    const made = JSON.parse(readFileSync(log, "utf8")) as TracedRequest[];
    return { events: readTrace(file, folder), requests: made };
  } finally {
    rmSync(base, { recursive: true, force: true });
  }
}

/** Cuts the power so many times at random moments of a trace, and opens what is left. */
export async function cutPower(trace: WorkloadTrace, states: number, seed: number): Promise<PowerCuts> {
  const draw = random(seed);
  const folder = mkdtempSync(join(existsSync("/dev/shm") ? "/dev/shm" : tmpdir(), "keepsake-cut-"));
  const counts = { lost: 0, half: 0, corrupt: 0, resurrected: 0 };
  const findings: string[] = [];
  const disk = simulatedDisk();
  const { events, requests } = trace;
  const cuts = Array.from({ length: states }, () => Math.floor(draw() * events.length)).sort((a, b) => a - b);
  const acknowledged: TracedRequest[] = [];
  let ackBeforeSync = 0;
  let made = 0;
  try {
    for (const [place, event] of events.entries()) {
      const early = earlyAnswer(disk, event, requests, acknowledged);
      if (early !== undefined) {
        ackBeforeSync += 1;
        findings.push(early);
      }
      disk.play(event);
      for (; cuts[made] === place; made += 1) {
        disk.cutInto(folder, draw);
        const underWay = requests.filter((one) => !acknowledged.includes(one));
        const outcome = await examineState(folder, acknowledged, underWay);
        const doctor = draw() < BY_THE_PROGRAM ? askTheProgram(folder, acknowledged) : [];
        const told = counted({ ...outcome, corrupt: [...outcome.corrupt, ...doctor] }, counts);
        findings.push(...told.map((one) => `state ${made} (event ${place} of ${events.length}): ${one}`));
      }
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  return { states: made, acked: acknowledged.length, ...counts, ackBeforeSync, findings };
}

function counted(outcome: DiskOutcome, counts: { -readonly [kind in keyof DiskOutcome]: number }): string[] {
  const found = (Object.keys(counts) as (keyof DiskOutcome)[]).filter((kind) => outcome[kind].length > 0);
  for (const kind of found) counts[kind] += 1;
  return found.map((kind) => `${kind}: ${outcome[kind].slice(0, 3).join("; ")}`);
}

/** Notes an answer, and says what is wrong where it came before what it acknowledges was synced. */
function earlyAnswer(
  disk: SimulatedDisk,
  event: DiskEvent,
  requests: readonly TracedRequest[],
  acknowledged: TracedRequest[],
): string | undefined {
  if (event.type === "map" && !event.file.endsWith("-shm")) {
    return `${event.file} is mapped for writing: what is written so does not show in the trace`;
  }
  if (event.type !== "acknowledge" || event.status >= 300) return undefined;
  const request = requests.find(({ id }) => id === event.id);
  if (!request) return undefined;
  acknowledged.push(request);
  if (!disk.isCertain("memory.db.secret"))
    return `${request.id} was acknowledged before the secret was synced`;
  return isUnsynced(disk, request) ? `${request.id} was acknowledged before it was synced` : undefined;
}

/** Whether bytes that a request stored are still on their way to the disk. */
function isUnsynced(disk: SimulatedDisk, { kind, word, target }: TracedRequest): boolean {
  if (kind === "key") return disk.hasUnsynced("memory.db.keys.json", Buffer.from(word));
  const bytes = target === "" ? word : target;
  // The next commit may write the same page again: one copy that is certain is enough, in the log or behind a checkpoint.
  return bytes !== "" && disk.hasUnsynced("memory.db-wal", Buffer.from(bytes), "memory.db");
}

/** What `doctor` finds wrong. It ends with 1 for an erasure that is not verified, too, and that may be right. */
function askTheProgram(folder: string, acknowledged: readonly TracedRequest[]): string[] {
  if (acknowledged.length === 0) return [];
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [PROGRAM, "doctor", "--db", join(folder, "memory.db"), "--json"],
    { encoding: "utf8" },
  );
  if (status === 0) return [];
  const said = stdout.startsWith("{") ? (JSON.parse(stdout) as DoctorAnswer) : undefined;
  const mayBeRight = status === 1 && said?.healthy === true && said.faults.length === 0;
  if (!mayBeRight || said.receipts.length === 0) return [`doctor says ${status}: ${stdout}${stderr}`];
  return receiptFaults(said.receipts, acknowledged).map((one) => `doctor: ${one}`);
}

interface DoctorAnswer {
  readonly healthy: boolean;
  readonly faults: readonly unknown[];
  readonly receipts: readonly { readonly id: string; readonly problem: string }[];
}

/** Makes traces, and cuts the power so many times in all. */
export async function powerCuts(options: {
  readonly states: number;
  readonly seed: number;
  readonly traces: number;
  readonly isNormal: boolean;
  readonly requests?: number;
}): Promise<PowerCuts> {
  const { states, seed, traces, isNormal, requests } = options;
  let sum: PowerCuts = {
    states: 0,
    acked: 0,
    lost: 0,
    half: 0,
    corrupt: 0,
    resurrected: 0,
    ackBeforeSync: 0,
    findings: [],
  };
  for (let number = 0; number < traces; number += 1) {
    const trace = traceWorkload(seed + number, isNormal, requests);
    const share = Math.floor((states * (number + 1)) / traces) - Math.floor((states * number) / traces);
    const one = await cutPower(trace, share, seed + 1000 + number);
    sum = {
      states: sum.states + one.states,
      acked: sum.acked + one.acked,
      lost: sum.lost + one.lost,
      half: sum.half + one.half,
      corrupt: sum.corrupt + one.corrupt,
      resurrected: sum.resurrected + one.resurrected,
      ackBeforeSync: sum.ackBeforeSync + one.ackBeforeSync,
      findings: [...sum.findings, ...one.findings],
    };
  }
  return sum;
}

if (import.meta.main) {
  // The built server is what is traced.
  spawnSync(process.execPath, [join(import.meta.dirname, "../../scripts/ready.mjs")], { stdio: "inherit" });
  const seed = option("seed", Math.floor(Math.random() * 1e9));
  const states = option("states", 10_000);
  const traces = option("traces", Math.max(1, Math.round(states / 1000)));
  const { findings, ...cuts } = await powerCuts({ states, seed, traces, isNormal: false });
  for (const finding of findings.slice(0, 40)) console.error(finding);
  const controlStates = option("control", Math.max(CONTROL_STATES, Math.round(states / 20)));
  const control = await powerCuts({ states: controlStates, seed, traces: 1, isNormal: true });
  const hasFailed = cuts.lost + cuts.half + cuts.corrupt + cuts.resurrected + cuts.ackBeforeSync > 0;
  console.log(
    JSON.stringify({
      test: "R2",
      seed,
      ...cuts,
      control: { states: control.states, lost: control.lost, ackBeforeSync: control.ackBeforeSync },
    }),
  );
  process.exitCode = hasFailed || control.lost < CONTROL_SHARE * control.states ? 1 : 0;
}
