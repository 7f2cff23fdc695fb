/**
 * Measures bytes, rows, IO and processor time for each user and each operation, at growing numbers of users:
 *
 *     node bench/scale/main.ts [--sizes 1000x50,10000x50] [--rounds 12] [--page] [--simulate]
 *
 * KEEPSAKE_TEST_POSTGRES and KEEPSAKE_TEST_CITUS name the servers, which run on this machine with fsync on. Users are copies of
 * one user that the engine has stored. `--page` writes docs/results/scale.json and the page made of it. `--simulate` prints the
 * simulator's table from the figures that were written before, and with `--page` makes the page anew from them.
 */
import { statfsSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { Pool } from "pg";
import { machineOf } from "../speed/machine.ts";
import { checkCopy, fillSchema, measureTables } from "./copies.ts";
import { measurePlaces, type ScalePlace, summarise, type Taken } from "./measure.ts";
import { type DatabaseMeter, openDatabaseMeter } from "./meters.ts";
import { linesOf, pageOf } from "./page.ts";
import {
  compareRounds,
  RESULTS_FOLDER,
  readScaleResults,
  type ScaleFigures,
  type ScaleResults,
  type ScaleServer,
} from "./results.ts";

const { KEEPSAKE_TEST_POSTGRES: ONE, KEEPSAKE_TEST_CITUS: CITUS, TMPDIR = tmpdir() } = process.env;

interface ScaleSize {
  readonly users: number;
  readonly perUser: number;
}

function tell(text: string): void {
  process.stderr.write(`${new Date().toISOString().slice(11, 19)} ${text}\n`);
}

function parseSizes(text: string): ScaleSize[] {
  return text.split(",").map((one) => {
    const [users = 0, perUser = 0] = one.split("x").map(Number);
    if (!(users > 0 && perUser > 0))
      throw new Error("--sizes takes USERSxMEMORIES, such as 1000x50,10000x50.");
    return { users, perUser };
  });
}

const readFreeDisk = (): number => {
  const { bavail, bsize } = statfsSync(TMPDIR);
  return bavail * bsize;
};

type Filled = ScalePlace & Pick<ScaleFigures, "tables" | "bytesPerUser" | "fillSeconds">;

/** Makes the schema of a size anew, and measures its tables. */
async function fill(
  server: ScaleServer,
  url: string,
  meter: DatabaseMeter,
  size: ScaleSize,
): Promise<Filled> {
  const { users, perUser } = size;
  const schema = `scale_${users}_${perUser}`;
  const pool = new Pool({ connectionString: url, max: 1 });
  try {
    await pool.query(`DROP SCHEMA IF EXISTS ${schema} CASCADE`);
    tell(`${server}: ${users} users of ${perUser} memories`);
    const fillSeconds = await fillSchema(url, schema, size, (done) => {
      if (done % 5000 === 0) tell(`${server}: ${done} of ${users}`);
    });
    await checkCopy(url, schema, perUser, users);
    await pool.query("CHECKPOINT");
    const tables = await measureTables(pool, schema, users);
    const bytesPerUser = tables.reduce((sum, one) => sum + one.bytesPerUser, 0);
    return { server, url, schema, users, perUser, meter, tables, bytesPerUser, fillSeconds };
  } finally {
    await pool.end();
  }
}

async function analyze(place: Filled): Promise<void> {
  const pool = new Pool({ connectionString: place.url, max: 1 });
  const { rows } = await pool.query<{ name: string }>(
    "SELECT relname AS name FROM pg_class WHERE relnamespace = $1::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition",
    [place.schema],
  );
  for (const { name } of rows) await pool.query(`VACUUM (ANALYZE) ${place.schema}.${name}`);
  await pool.query("CHECKPOINT");
  await pool.end();
}

function toFigures(places: readonly Filled[], taken: readonly Taken[]): ScaleFigures[] {
  return places.map((place, i) => {
    const { server, users, perUser, bytesPerUser, tables, fillSeconds } = place;
    const smallest = places.findIndex((one) => one.server === server && one.perUser === perUser);
    const [own, base] = [taken[i], taken[smallest]];
    if (!own || !base) throw new Error("A place was not measured.");
    const compare = (name: "cold" | "hot" | "remember") => compareRounds(own.rounds[name], base.rounds[name]);
    return {
      server,
      users,
      perUser,
      bytesPerUser,
      tables,
      fillSeconds,
      operations: summarise(own),
      ...(smallest < i
        ? { growth: { cold: compare("cold"), hot: compare("hot"), remember: compare("remember") } }
        : {}),
    };
  });
}

async function measure(sizes: readonly ScaleSize[], rounds: number, isKept: boolean): Promise<ScaleResults> {
  const began = performance.now();
  const machine = machineOf();
  const before = readFreeDisk();
  const servers = [["one node", ONE] as const, ["citus", CITUS] as const].filter(([, url]) => url);
  if (servers.length === 0) throw new Error("Set KEEPSAKE_TEST_POSTGRES, KEEPSAKE_TEST_CITUS, or both.");
  await using stack = new AsyncDisposableStack();
  const places: Filled[] = [];
  const version: { [server in ScaleServer]?: string } = {};
  for (const [server, url = ""] of servers) {
    const meter = await openDatabaseMeter(url);
    version[server] = meter.version;
    stack.defer(() => meter.close());
    for (const size of sizes) {
      const place = await fill(server, url, meter, size);
      if (!isKept) stack.defer(() => drop(place));
      places.push(place);
      await analyze(place);
    }
  }
  const after = readFreeDisk();
  const taken = await measurePlaces(places, rounds, (round) => tell(`round ${round} of ${rounds}`));
  return {
    measuredOn: new Date().toISOString().slice(0, 10),
    machine: machine(),
    minutes: Math.round((performance.now() - began) / 6000) / 10,
    rounds,
    freeDisk: { before, after },
    version,
    figures: toFigures(places, taken),
  };
}

async function drop({ url, schema }: ScalePlace): Promise<void> {
  const pool = new Pool({ connectionString: url, max: 1 });
  await pool.query(`DROP SCHEMA IF EXISTS ${schema} CASCADE`);
  await pool.end();
}

const { values } = parseArgs({
  options: {
    sizes: { type: "string", default: "1000x50,10000x50,100x1000" },
    rounds: { type: "string", default: "12" },
    page: { type: "boolean", default: false },
    keep: { type: "boolean", default: false },
    simulate: { type: "boolean", default: false },
  },
});
const results = values.simulate
  ? readScaleResults()
  : await measure(parseSizes(values.sizes), Number(values.rounds), values.keep);
if (values.page) {
  writeFileSync(join(RESULTS_FOLDER, "scale.json"), `${JSON.stringify(results, undefined, 2)}\n`);
  writeFileSync(join(RESULTS_FOLDER, "scale.md"), pageOf(results));
}
process.stdout.write(`${linesOf(results).join("\n")}\n`);
process.exit();
