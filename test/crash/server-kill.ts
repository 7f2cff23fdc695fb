import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Running, started } from "../../bench/load/server.ts";
import { openSqliteRecord } from "../../src/adapters/sqlite/index.ts";
import { option, printFigures, random } from "./kill.ts";
import { missingFrom } from "./missing.ts";
import { type Load, load, type Made } from "./server-load.ts";

/** What a series of ends under load came to. */
export interface Ends {
  /** Writes that were acknowledged, in all. */
  readonly acknowledged: number;
  /** Requests that were at work when the signal came. */
  readonly inFlight: number;
  readonly faults: readonly string[];
}

interface Ended {
  readonly made: readonly Made[];
  /** When the signal was sent (`performance.now()`). */
  readonly at: number;
  readonly exit: number | string;
}

/**
 * Ends a server under load again and again, on one database: with SIGKILL, and with SIGTERM. Every write that was
 * acknowledged must be there afterwards, with a sound file; under SIGTERM every request that had been begun must have had its
 * whole answer, and the server ends by itself with 0.
 */
export async function serverEnds(signal: "SIGKILL" | "SIGTERM", times: number, seed: number): Promise<Ends> {
  const folder = mkdtempSync(join(tmpdir(), "keepsake-server-kill-"));
  const path = join(folder, "memory.db");
  const draw = random(seed);
  const acknowledged: Made[] = [];
  const faults: string[] = [];
  let inFlight = 0;
  try {
    for (let time = 0; time < times; time += 1) {
      const ended = await endedUnderLoad(path, signal, draw() * 500, `${signal}${time}`);
      acknowledged.push(
        ...ended.made.filter(({ kind, status }) => kind === "write" && status < 300 && status > 0),
      );
      const atWork = ended.made.filter(({ sentAt, endedAt }) => sentAt < ended.at && endedAt >= ended.at);
      inFlight += atWork.length;
      if (signal === "SIGTERM") faults.push(...improper(ended, atWork, time));
      faults.push(...(await missing(path, acknowledged)));
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
  return { acknowledged: acknowledged.length, inFlight, faults };
}

async function endedUnderLoad(
  path: string,
  signal: NodeJS.Signals,
  afterMs: number,
  mark: string,
): Promise<Ended> {
  const server: Running = await started(path);
  const asking: Load = load(server, mark);
  // The first requests of all wait for what is loaded then.
  while (asking.made.filter(({ status }) => status === 201).length < WARM) await rest(5);
  await rest(afterMs);
  const at = performance.now();
  const exit = await server.end(signal);
  await asking.stop();
  return { made: asking.made, at, exit };
}

const WARM = 10;

function rest(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** What a farewell may not do to requests. What is sent after it may be refused, and with 503 where it is answered. */
function improper({ made, at, exit }: Ended, atWork: readonly Made[], time: number): string[] {
  const broken = atWork.filter(({ status, isWhole }) => !isWhole || status >= 300);
  const late = made.filter(({ sentAt, status, isWhole }) => sentAt >= at && status > 0 && !isWhole);
  const wrong = made.filter(({ status }) => status >= 400 && status !== 503);
  const told = ({ kind, status, error, sentAt }: Made): string =>
    `${kind} sent ${(sentAt - at).toFixed(1)} ms from the signal: ${status} ${error ?? ""}`;
  return [
    ...(exit === 0 ? [] : [`end ${time}: the server ended with ${exit}`]),
    ...[...broken, ...late, ...wrong].map((one) => `end ${time}: ${told(one)}`),
  ];
}

/** What was acknowledged and is not in the file, and what is wrong with the file. */
async function missing(path: string, acknowledged: readonly Made[]): Promise<string[]> {
  const record = await openSqliteRecord({ path });
  const faults = await missingFrom(record, acknowledged);
  await record.close();
  return faults;
}

if (import.meta.main) {
  // The built server is what is ended.
  spawnSync(process.execPath, [join(import.meta.dirname, "../../scripts/ready.mjs")], { stdio: "inherit" });
  const seed = option("seed", Math.floor(Math.random() * 1e9));
  let failed = 0;
  const figures: { [name: string]: number } = {};
  for (const signal of ["SIGKILL", "SIGTERM"] as const) {
    const ends = option(signal === "SIGKILL" ? "kills" : "terms", 25);
    const { acknowledged, inFlight, faults } = await serverEnds(signal, ends, seed);
    for (const fault of faults.slice(0, 20)) console.error(fault);
    console.log(
      `${ends} times ${signal} under load (seed ${seed}): ${acknowledged} writes acknowledged, ${inFlight} requests at work, ${faults.length} faults`,
    );
    failed += faults.length;
    figures[signal === "SIGKILL" ? "kills" : "terms"] = ends;
    figures.acknowledged = (figures.acknowledged ?? 0) + acknowledged;
    figures.inFlight = (figures.inFlight ?? 0) + inFlight;
  }
  printFigures("R1", { ...figures, faults: failed, seed });
  process.exitCode = failed === 0 ? 0 : 1;
}
