import { setTimeout as pause } from "node:timers/promises";
import { Pool } from "pg";
import { openPostgresStore } from "../../src/adapters/postgres/index.ts";
import { staticEmbedder } from "../../src/adapters/static/index.ts";
import { createMemory, type Keepsake, type ScopedMemory } from "../../src/index.ts";
import { askers } from "../speed/asked.ts";
import { settle, spreadOf, timeOf } from "../speed/measure.ts";
import { nameOfCopy, SECRET } from "./copies.ts";
import type { DatabaseMeter, DatabaseUse } from "./meters.ts";
import { OPERATIONS, type OperationCost, type OperationName, type ScaleServer } from "./results.ts";

/** A filled schema on a server. */
export interface ScalePlace {
  readonly server: ScaleServer;
  readonly url: string;
  readonly schema: string;
  readonly users: number;
  readonly perUser: number;
  readonly meter: DatabaseMeter;
}

/** What the operations of a place took: times by round in ms, and sums of what they used. */
export interface Taken {
  readonly rounds: { readonly [name in OperationName]: number[][] };
  readonly used: { readonly [name in OperationName]: DatabaseUse & { serverMs: number; calls: number } };
}

/** Users of a round, each with one cold recall, some hot ones, and messages to remember. */
const VISITS = 10;
const HOT_CALLS = 4;
const NOTHING: DatabaseUse = { cpuMs: 0, readBytes: 0, diskBytes: 0, walBytes: 0 };

/** Measures places in turn, so that what else runs on the machine weighs on all of them. */
export async function measurePlaces(
  places: readonly ScalePlace[],
  rounds: number,
  report: (round: number) => void,
): Promise<Taken[]> {
  const taken = places.map((): Taken => {
    const each = <Value>(make: () => Value) =>
      Object.fromEntries(OPERATIONS.map((name) => [name, make()])) as { [name in OperationName]: Value };
    return {
      rounds: each((): number[][] => []),
      used: each(() => ({ ...NOTHING, serverMs: 0, calls: 0 })),
    };
  });
  // The first round compiles this program and fills caches. It is not counted.
  for (let round = -1; round < rounds; round += 1) {
    for (let i = 0; i < places.length; i += 1) {
      // Each place takes its turn at being first.
      const which = (i + round + 1) % places.length;
      const place = places[which];
      const into = taken[which];
      if (place && into) await measureRound(place, round + 1, round < 0 ? undefined : into);
    }
    report(round + 1);
  }
  return taken;
}

async function measureRound(place: ScalePlace, round: number, into: Taken | undefined): Promise<void> {
  const pool = new Pool({ connectionString: place.url, max: 10, pipeline: true });
  const record = await openPostgresStore({ pool, schema: place.schema, connectMs: 30_000 });
  const memory = await createMemory({ record, secret: SECRET, embedder: staticEmbedder() });
  const ask = askers(place.perUser)(1).ask;
  for (let i = 0; i < 3; i += 1) await memory.scope({ user: `nobody-${i}` }).recall(ask());
  const visited = pickUsers(place, round).map((user) => memory.scope({ user }));
  settle();
  await measureOperation(place.meter, "cold", into, visited, (one) => one.recall(ask()));
  const often = visited.flatMap((one) => Array.from({ length: HOT_CALLS }, () => one));
  await measureOperation(place.meter, "hot", into, often, (one) => one.recall(ask()));
  let number = round * 1000;
  await measureOperation(place.meter, "remember", into, visited, (one) => {
    number += 1;
    return one.remember(`I use the tool Shram${number} for my work in Lisbon.`);
  });
  await endRound(memory, pool);
  await record.close();
}

async function endRound(memory: Keepsake, pool: Pool): Promise<void> {
  await memory.close();
  await pool.end();
}

/** Users spread over the whole range, different ones in each round as long as there are enough. */
function pickUsers({ users }: ScalePlace, round: number): string[] {
  const step = Math.max(1, Math.floor(users / VISITS));
  return Array.from({ length: VISITS }, (_, i) => nameOfCopy(1 + ((i * step + round * 7) % users)));
}

/** Runs an operation for each user, and adds what it took. */
async function measureOperation(
  meter: DatabaseMeter,
  name: OperationName,
  into: Taken | undefined,
  users: readonly ScopedMemory[],
  run: (user: ScopedMemory) => Promise<unknown>,
): Promise<void> {
  const before = await meter.read();
  const cpu = process.cpuUsage();
  const times: number[] = [];
  for (const user of users) times.push(await timeOf(() => run(user)));
  const spent = process.cpuUsage(cpu);
  // What a recall leaves to be saved a moment later belongs to it.
  await pause(20);
  const after = await meter.read();
  if (!into) return;
  into.rounds[name].push(times);
  const used = into.used[name] as { -readonly [key in keyof Taken["used"]["hot"]]: number };
  for (const key of Object.keys(NOTHING) as (keyof DatabaseUse)[]) used[key] += after[key] - before[key];
  used.serverMs += (spent.user + spent.system) / 1000;
  used.calls += users.length;
}

/** What one operation took in the mean. */
export function summarise({ rounds, used }: Taken): { [name in OperationName]: OperationCost } {
  const costOf = (name: OperationName): OperationCost => {
    const { cpuMs, serverMs, readBytes, diskBytes, walBytes, calls } = used[name];
    const toMean = (sum: number, digits = 0): number => Number((sum / calls).toFixed(digits));
    return {
      ms: spreadOf(rounds[name].flat()),
      databaseMs: toMean(cpuMs, 2),
      serverMs: toMean(serverMs, 2),
      readBytes: toMean(readBytes),
      diskBytes: toMean(diskBytes),
      walBytes: toMean(walBytes),
    };
  };
  return { cold: costOf("cold"), hot: costOf("hot"), remember: costOf("remember") };
}
