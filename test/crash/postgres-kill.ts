import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { Pool } from "pg";
import { type Running, started } from "../../bench/load/server.ts";
import { openPostgresStore } from "../../src/adapters/postgres/index.ts";
import { type OwnPostgres, ownPostgres } from "../services/own-postgres.ts";
import { option, printFigures, random } from "./kill.ts";
import { missingFrom } from "./missing.ts";
import { type Load, load, type Made } from "./server-load.ts";

/** What a series of kills under load came to. */
interface Killed {
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
 * Kills PostgreSQL under load again and again, with everything that it has started, and starts it again. The server goes on all
 * the time: nothing that it has acknowledged may be gone, what it cannot do meanwhile it says so (503), and it is well again soon
 * after the database. A rejection that nobody handles would end it.
 */
async function postgresKilled(times: number, seed: number): Promise<Killed> {
  const draw = random(seed);
  const postgres = await ownPostgres();
  const faults: string[] = [];
  let [inFlight, slowestMs] = [0, 0];
  try {
    const server = await started(postgres.address, { KEEPSAKE_SECRET: SECRET });
    const asking = load(server, `kill${seed}`);
    try {
      for (let time = 0; time < times; time += 1) {
        await acknowledgedMore(asking, WARM);
        await rest(draw() * 1000);
        const { atWork, backAt } = await killedOnce(postgres, asking, draw() * 1500);
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
    faults.push(...(await missing(postgres.address, acknowledged)));
    return { acknowledged: acknowledged.length, inFlight, slowestMs, faults };
  } finally {
    await postgres.remove();
  }
}

function written(made: readonly Made[]): Made[] {
  return made.filter(({ kind, status }) => kind === "write" && status >= 200 && status < 300);
}

async function acknowledgedMore({ made }: Load, count: number): Promise<void> {
  const before = written(made).length;
  while (written(made).length < before + count) await rest(5);
}

/** Kills it, leaves it dead for a while, and starts it again. */
async function killedOnce(
  postgres: OwnPostgres,
  { made }: Load,
  deadMs: number,
): Promise<{ atWork: number; backAt: number }> {
  const at = performance.now();
  await postgres.kill();
  await rest(deadMs);
  await postgres.start();
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
function wrong(made: readonly Made[]): string[] {
  return made
    .filter(({ status, isWhole }) => !isWhole || (status >= 300 && status !== 503))
    .map(({ kind, status, error }) => `${kind}: ${status} ${error ?? ""}`);
}

/** What was acknowledged and is not there, and what is wrong with what is. */
async function missing(address: string, acknowledged: readonly Made[]): Promise<string[]> {
  const pool = new Pool({ connectionString: address });
  const record = await openPostgresStore({ pool });
  const faults = await missingFrom(record, acknowledged);
  await record.close();
  await pool.end();
  return faults;
}

function rest(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

if (import.meta.main) {
  // The built server is what goes on.
  spawnSync(process.execPath, [join(import.meta.dirname, "../../scripts/ready.mjs")], { stdio: "inherit" });
  const seed = option("seed", Math.floor(Math.random() * 1e9));
  const kills = option("kills", 20);
  const { acknowledged, inFlight, slowestMs, faults } = await postgresKilled(kills, seed);
  for (const fault of faults.slice(0, 20)) console.error(fault);
  console.log(
    `PostgreSQL killed ${kills} times under load (seed ${seed}): ${acknowledged} writes acknowledged, ${inFlight} requests ` +
      `at work, well again after ${Math.round(slowestMs)} ms at most, ${faults.length} faults`,
  );
  printFigures("R4", { kills, acknowledged, inFlight, faults: faults.length, seed });
  process.exitCode = faults.length === 0 ? 0 : 1;
}
