import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Running, started } from "../../bench/load/server.ts";
import { openSqliteStore } from "../../src/adapters/sqlite/index.ts";
import { option, random } from "./kill.ts";
import { missingFrom } from "./missing.ts";
import { type Load, type LoadRequest, load } from "./server-load.ts";

/** What a series of ends under load came to. */
export interface Ends {
  /** Writes that were acknowledged, in all. */
  readonly acknowledged: number;
  /** Requests that were at work when the signal came. */
  readonly inFlight: number;
  readonly faults: readonly string[];
}

interface Ended {
  readonly made: readonly LoadRequest[];
  /** When the signal was sent (`performance.now()`). */
  readonly at: number;
  readonly exit: number | string;
  /** How long the server took to listen. */
  readonly readyMs: number;
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
  const acknowledged: LoadRequest[] = [];
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
  const begin = performance.now();
  const server: Running = await started(path);
  const readyMs = performance.now() - begin;
  const asking: Load = load(server, mark);
  // The first requests of all wait for what is loaded then.
  while (asking.made.filter(({ status }) => status === 201).length < WARM) await rest(5);
  await rest(afterMs);
  const at = performance.now();
  const exit = await server.end(signal);
  await asking.stop();
  return { made: asking.made, at, exit, readyMs };
}

const WARM = 10;

function rest(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** What a farewell may not do to requests. What is sent after it may be refused, and with 503 where it is answered. */
function improper({ made, at, exit }: Ended, atWork: readonly LoadRequest[], time: number): string[] {
  const broken = atWork.filter(({ status, isWhole }) => !isWhole || status >= 300);
  const late = made.filter(({ sentAt, status, isWhole }) => sentAt >= at && status > 0 && !isWhole);
  const wrong = made.filter(({ status }) => status >= 400 && status !== 503);
  const told = ({ kind, status, error, sentAt }: LoadRequest): string =>
    `${kind} sent ${(sentAt - at).toFixed(1)} ms from the signal: ${status} ${error ?? ""}`;
  return [
    ...(exit === 0 ? [] : [`end ${time}: the server ended with ${exit}`]),
    ...[...broken, ...late, ...wrong].map((one) => `end ${time}: ${told(one)}`),
  ];
}

/** What was acknowledged and is not in the file, and what is wrong with the file. */
async function missing(path: string, acknowledged: readonly LoadRequest[]): Promise<string[]> {
  const record = await openSqliteStore({ path });
  const faults = await missingFrom(record, acknowledged);
  await record.close();
  return faults;
}

/** What a long series of kills came to. */
export interface Kills {
  readonly kills: number;
  /** Writes that were sent, and those that were acknowledged. */
  readonly sent: number;
  readonly acked: number;
  /** Writes that were acknowledged and are gone. */
  readonly lost: number;
  /** Messages without what was learnt from them, and whatever else `check` finds. */
  readonly half: number;
  /** Messages that stand there twice. */
  readonly dup: number;
  /** From the start of a server on a file that a killed one left, to its address. */
  readonly readyP95ms: number;
  readonly faults: readonly string[];
}

/** So many kills share a file: the next one begins anew, and stays as quick to look through. */
const KILLS_A_FILE = 25;
const LANES = 2;
/** A kill comes at most so long after the server is warm, in ms. */
const SPREAD_MS = 200;

/** Kills servers under load, two at a time, and holds what is in the file after each against what was acknowledged. */
export async function killServers(kills: number, seed: number): Promise<Kills> {
  const draw = random(seed);
  const found = { kills: 0, sent: 0, acked: 0, lost: 0, half: 0, dup: 0 };
  const ready: number[] = [];
  const faults: string[] = [];
  let left = kills;
  const playLane = async (): Promise<void> => {
    while (left > 0) {
      const count = Math.min(KILLS_A_FILE, left);
      left -= count;
      await killOnOneFile(count, draw, found, ready, faults);
    }
  };
  await Promise.all(Array.from({ length: Math.min(LANES, kills) }, playLane));
  const sorted = ready.toSorted((one, other) => one - other);
  const readyP95ms = Math.round(sorted[Math.floor(sorted.length * 0.95)] ?? Number.NaN);
  return { ...found, readyP95ms, faults };
}

type Found = { -readonly [name in "kills" | "sent" | "acked" | "lost" | "half" | "dup"]: number };

async function killOnOneFile(
  count: number,
  draw: () => number,
  found: Found,
  ready: number[],
  faults: string[],
): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "keepsake-server-kill-"));
  const path = join(folder, "memory.db");
  const acknowledged: LoadRequest[] = [];
  try {
    for (let time = 0; time < count; time += 1) {
      const { made, readyMs } = await endedUnderLoad(path, "SIGKILL", draw() * SPREAD_MS, `k${found.kills}`);
      const writes = made.filter(({ kind }) => kind === "write");
      acknowledged.push(...writes.filter(({ status }) => status > 0 && status < 300));
      // The first server finds no file.
      if (time > 0) ready.push(readyMs);
      found.kills += 1;
      found.sent += writes.length;
      const isWhole = time % 10 === 9 || time === count - 1;
      await lookThrough(path, acknowledged, isWhole, found, faults);
    }
    found.acked += acknowledged.length;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Looks at every message that is there, and with `isWhole` at the file, too. */
async function lookThrough(
  path: string,
  acknowledged: readonly LoadRequest[],
  isWhole: boolean,
  found: Found,
  faults: string[],
): Promise<void> {
  const record = await openSqliteStore({ path });
  const troubles = isWhole ? await record.check() : [];
  found.half += troubles.length;
  faults.push(...troubles.map(({ count, place, problem }) => `${count} ${place}: ${problem}`));
  for (const user of new Set(acknowledged.map((one) => one.user))) {
    const { messages, memories } = await record.since({ project: "default", user }, 0, { units: false });
    const written = messages.filter(({ content }) => content.startsWith("I use Tool"));
    const learnt = memories.map(({ text }) => text).join("\n");
    const held = new Set(written.map(({ id }) => id));
    const lost = acknowledged.filter((one) => one.user === user && !held.has(one.message));
    const half = written.filter(({ id }) => !learnt.includes(`Tool${id.replaceAll("-", "x")}`));
    found.lost += lost.length;
    found.half += half.length;
    found.dup += written.length - new Set(written.map(({ content }) => content)).size;
    faults.push(...lost.map(({ message }) => `${message} was acknowledged and is gone`));
    faults.push(...half.map(({ id }) => `${id} is there without what was learnt from it`));
  }
  await record.close();
}

if (import.meta.main) {
  // The built server is what is ended.
  spawnSync(process.execPath, [join(import.meta.dirname, "../../scripts/ready.mjs")], { stdio: "inherit" });
  const seed = option("seed", Math.floor(Math.random() * 1e9));
  const kills = option("kills", 25);
  const begin = performance.now();
  const { faults: killFaults, ...result } = await killServers(kills, seed);
  const secs = Math.round((performance.now() - begin) / 1000);
  for (const fault of killFaults.slice(0, 20)) console.error(fault);
  const terms = option("terms", 25);
  const { acknowledged, inFlight, faults } = await serverEnds("SIGTERM", terms, seed);
  for (const fault of faults.slice(0, 20)) console.error(fault);
  console.log(
    `${terms} times SIGTERM under load (seed ${seed}): ${acknowledged} writes acknowledged, ${inFlight} requests at work, ${faults.length} faults`,
  );
  const stops = { terms, acknowledgedAtTerms: acknowledged, faultsAtTerms: faults.length };
  console.log(JSON.stringify({ test: "R1", seed, ...result, ...stops, secs }));
  process.exitCode = killFaults.length + faults.length === 0 ? 0 : 1;
}
