import { mkdtempSync, rmSync } from "node:fs";
import { loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { Pool } from "pg";
import { openPostgresStore, type PostgresStore } from "../../src/adapters/postgres/index.ts";
import { openSqliteStore } from "../../src/adapters/sqlite/index.ts";
import { staticEmbedder } from "../../src/adapters/static/index.ts";
import { copyStore } from "../../src/engine/transfer/copy-store.ts";
import { createMemory, type Keepsake } from "../../src/index.ts";
import { askers } from "./asked.ts";
import { filled } from "./filling.ts";
import { rounded, settle, spreadOf, timeOf } from "./measure.ts";

// What the fast path of PostgreSQL is worth: `node bench/speed/fast-path.ts [USERS] [MEMORIES PER USER]`, on the server that
// KEEPSAKE_TEST_POSTGRES names. The ways take turns call by call, so that the load of the machine is the same for each.

const WAYS = {
  "fast path": true,
  "without the fast path": false,
} as const;
type Way = keyof typeof WAYS;
const NAMES = Object.keys(WAYS) as Way[];
const CALLS = 40;
const COLD = 24;
const COPIES = 8;
const SCHEMA = `fast_path_${process.pid}`;

async function openedStore(
  url: string,
  way: Way,
  schema: string,
): Promise<{ readonly store: PostgresStore; readonly pool: Pool }> {
  const pool = new Pool({
    connectionString: url,
    max: 10,
    pipeline: true,
  });
  return { store: await openPostgresStore({ pool, schema, fastPath: WAYS[way], connectMs: 30_000 }), pool };
}

interface OpenedWay {
  readonly memory: Keepsake;
  close(): Promise<void>;
}

async function opened(url: string, way: Way): Promise<OpenedWay> {
  const { store, pool } = await openedStore(url, way, SCHEMA);
  const memory = await createMemory({ record: store, embedder: staticEmbedder() });
  return {
    memory,
    async close() {
      await memory.close();
      await store.close();
      await pool.end();
    },
  };
}

/** Calls each way in turn, and prints the medians and their ratio. */
async function inTurn(
  name: string,
  calls: number,
  call: (way: Way, turn: number) => Promise<number>,
): Promise<void> {
  const taken = new Map(NAMES.map((way) => [way, [] as number[]]));
  for (let turn = 0; turn < calls; turn += 1) {
    for (let i = 0; i < NAMES.length; i += 1) {
      const way = NAMES[(turn + i) % NAMES.length] ?? "fast path";
      taken.get(way)?.push(await call(way, turn));
    }
  }
  const first = spreadOf(taken.get("fast path") ?? []).p50;
  for (const [way, ms] of taken) {
    const { p50, p95, n } = spreadOf(ms);
    console.log({ name, way, p50, p95, n, "fast path / this": rounded(first / p50), load: loadavg()[0] });
  }
}

const url = process.env.KEEPSAKE_TEST_POSTGRES ?? "";
const [users = 6, perUser = 5000] = process.argv.slice(2).map(Number);
const folder = mkdtempSync(join(tmpdir(), "keepsake-"));
const path = join(folder, "memory.db");
const small = join(folder, "small.db");
const asker = askers(perUser);
await filled(path, { users, perUser });
await filled(small, { users: 2, perUser: 500 });
/** Into a new schema. */
const copied = async (from: string, way: Way, schema: string): Promise<number> => {
  const { store, pool } = await openedStore(url, way, schema);
  const file = await openSqliteStore({ path: from });
  const ms = await timeOf(() => copyStore(file, store));
  await file.close();
  await store.close();
  await pool.end();
  return ms;
};
await copied(path, "fast path", SCHEMA);
const ways = new Map(await Promise.all(NAMES.map(async (way) => [way, await opened(url, way)] as const)));
const wayOf = (way: Way): OpenedWay => ways.get(way) ?? (undefined as never);
for (let user = 1; user <= users; user += 1) {
  const { person, ask } = asker(user);
  for (const way of NAMES) await wayOf(way).memory.scope({ user: person.name }).recall(ask());
}
const userOf = (turn: number) => asker(1 + (Math.floor(turn / CALLS) % users));
await inTurn("recall", CALLS * users, (way, turn) => {
  const { person, ask } = userOf(turn);
  const question = ask();
  return timeOf(() => wayOf(way).memory.scope({ user: person.name }).recall(question));
});
await inTurn("write", 4 * CALLS, (way, turn) =>
  timeOf(() =>
    wayOf(way)
      .memory.scope({ user: `writer ${way}` })
      .remember(`My locker number ${turn} is in hall ${turn % 97}.`),
  ),
);
for (const one of ways.values()) await one.close();
await inTurn("recall, user not in memory", COLD, async (way, turn) => {
  const one = await opened(url, way);
  const { person, ask } = asker(1 + (turn % users));
  const question = ask();
  await one.memory.scope({ user: "nobody" }).recall("Is anybody there?");
  settle();
  const ms = await timeOf(() => one.memory.scope({ user: person.name }).recall(question));
  await one.close();
  return ms;
});
await inTurn("copy of 1,000 memories", COPIES, (way, turn) =>
  copied(small, way, `${SCHEMA}_${turn}_${NAMES.indexOf(way)}`),
);
const pool = new Pool({ connectionString: url });
const { rows } = await pool.query("SELECT nspname FROM pg_namespace WHERE starts_with(nspname, $1)", [
  SCHEMA,
]);
for (const { nspname } of rows) await pool.query(`DROP SCHEMA ${nspname} CASCADE`);
await pool.end();
rmSync(folder, { recursive: true });
