import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { type Running, started } from "../../bench/load/server.ts";
import type { MemoryStore } from "../../src/ports/memory-store.ts";
import { random } from "./kill.ts";
import { missingFrom } from "./missing.ts";
import { type Load, type LoadRequest, load } from "./server-load.ts";

/** A database server of its own that keeps its promises on the disk (fsync), to be killed. */
export interface KilledDatabase {
  /** For people. */
  readonly name: string;
  readonly address: string;
  /** SIGKILL, at once, for all of it. */
  kill(): Promise<void>;
  /** Starts it again; it answers when this ends. */
  start(): Promise<void>;
  remove(): Promise<void>;
  /** Opens what it has stored. */
  open(): Promise<{ readonly store: MemoryStore; close(): Promise<void> }>;
}

/** What a series of kills under load came to. */
interface DatabaseKills {
  readonly acknowledged: number;
  /** Requests that were at work in the moment of a kill. */
  readonly inFlight: number;
  /** The longest time from the database's return to the next write that was acknowledged, in ms. */
  readonly slowestMs: number;
  readonly faults: readonly string[];
}

const SECRET = "a secret for this run only, 0123456789";
const WARM = 10;
/** A person waits no longer than that for a service that is back. */
const MOST_MS = 5000;

/**
 * Kills a database under load again and again, with everything that it has started, and starts it again. The server goes on all
 * the time: nothing that it has acknowledged may be gone, what it cannot do meanwhile it says so (503), and it is well again soon
 * after the database. A rejection that nobody handles would end it.
 */
async function killUnderLoad(database: KilledDatabase, times: number, seed: number): Promise<DatabaseKills> {
  const draw = random(seed);
  const faults: string[] = [];
  let [inFlight, slowestMs] = [0, 0];
  try {
    const server = await started(database.address, { KEEPSAKE_SECRET: SECRET });
    const asking = load(server, `kill${seed}`);
    try {
      for (let time = 0; time < times; time += 1) {
        await acknowledgedMore(asking, WARM);
        await rest(draw() * 1000);
        const { atWork, backAt } = await killedOnce(database, asking, draw() * 1500);
        inFlight += atWork;
        const tookMs = await wellAgain(asking, backAt);
        slowestMs = Math.max(slowestMs, tookMs);
        console.error(`kill ${time}: ${atWork} at work, well again after ${Math.round(tookMs)} ms`);
        if (tookMs > MOST_MS) faults.push(`kill ${time}: well again after ${Math.round(tookMs)} ms`);
        if (server.child.exitCode !== null) throw new Error(`kill ${time}: the server ended`);
      }
    } finally {
      await asking.stop();
      faults.push(...(await ended(server)));
    }
    faults.push(...wrong(asking.made));
    const acknowledged = written(asking.made);
    faults.push(...(await missing(database, acknowledged)));
    return { acknowledged: acknowledged.length, inFlight, slowestMs, faults };
  } finally {
    await database.remove();
  }
}

function written(made: readonly LoadRequest[]): LoadRequest[] {
  return made.filter(({ kind, status }) => kind === "write" && status >= 200 && status < 300);
}

async function acknowledgedMore({ made }: Load, count: number): Promise<void> {
  const before = written(made).length;
  while (written(made).length < before + count) await rest(5);
}

/** Kills it, leaves it dead for a while, and starts it again. */
async function killedOnce(
  database: KilledDatabase,
  { made }: Load,
  deadMs: number,
): Promise<{ atWork: number; backAt: number }> {
  const at = performance.now();
  await database.kill();
  await rest(deadMs);
  await database.start();
  const atWork = made.filter(({ sentAt, endedAt }) => sentAt < at && endedAt >= at).length;
  return { atWork, backAt: performance.now() };
}

/** How long it took until a write was acknowledged again. */
async function wellAgain({ made }: Load, backAt: number): Promise<number> {
  for (;;) {
    const first = written(made).find(({ endedAt }) => endedAt >= backAt);
    if (first) return first.endedAt - backAt;
    if (performance.now() - backAt > 60_000) return Number.POSITIVE_INFINITY;
    await rest(5);
  }
}

async function ended(server: Running): Promise<string[]> {
  const exit = await server.end();
  return exit === 0 ? [] : [`the server ended with ${exit}`];
}

/** Whatever is asked of it while the database is gone, it answers: that it is done, or that it cannot be now. */
function wrong(made: readonly LoadRequest[]): string[] {
  return made
    .filter(({ status, isWhole }) => !isWhole || (status >= 300 && status !== 503))
    .map(({ kind, status, error }) => `${kind}: ${status} ${error ?? ""}`);
}

/** What was acknowledged and is not there, and what is wrong with what is. */
async function missing(database: KilledDatabase, acknowledged: readonly LoadRequest[]): Promise<string[]> {
  const { store, close } = await database.open();
  try {
    return await missingFrom(store, acknowledged);
  } finally {
    await store.close();
    await close();
  }
}

function rest(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** Kills a database under load, prints what it came to, and sets the exit status. Gives the figures. */
export async function runDatabaseKills(
  database: KilledDatabase,
  { kills, seed }: { readonly kills: number; readonly seed: number },
): Promise<{ readonly [name: string]: number }> {
  const { acknowledged, inFlight, slowestMs, faults } = await killUnderLoad(database, kills, seed);
  for (const fault of faults.slice(0, 20)) console.error(fault);
  console.log(
    `${database.name} killed ${kills} times under load (seed ${seed}): ${acknowledged} writes acknowledged, ${inFlight} requests ` +
      `at work, well again after ${Math.round(slowestMs)} ms at most, ${faults.length} faults`,
  );
  process.exitCode = faults.length === 0 ? 0 : 1;
  return { kills, acknowledged, inFlight, faults: faults.length, seed };
}

/** Makes the built server as new as the sources: it is what goes on. */
export function buildServer(): void {
  spawnSync(process.execPath, [join(import.meta.dirname, "../../scripts/ready.mjs")], { stdio: "inherit" });
}
