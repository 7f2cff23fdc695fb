import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as pause } from "node:timers/promises";
import { parseArgs } from "node:util";
import { Pool } from "pg";
import { openPostgresStore } from "../../src/adapters/postgres/index.ts";
import { openSqliteStoreInThread } from "../../src/adapters/sqlite/writing-thread.ts";
import { createMemory, type Keepsake } from "../../src/index.ts";
import type { MemoryStore } from "../../src/ports/memory-store.ts";

const USAGE = `node bench/webhooks/main.ts [--users N] [--events M] [--postgres URL]

What webhooks cost with N users (100,000): the longest write while one is registered and removed, and how long an event takes from
its commit to the receiver: one of this process, and one of another. M events of each (10). In a file, or in a schema of its own.`;

const { values } = parseArgs({
  options: {
    users: { type: "string", default: "100000" },
    events: { type: "string", default: "10" },
    postgres: { type: "string" },
    help: { type: "boolean" },
  },
});
if (values.help) {
  console.log(USAGE);
  process.exit();
}
const [users, events] = [Number(values.users), Number(values.events)];

interface Place {
  open(): Promise<MemoryStore>;
  /** Makes users with one revision and nothing else. */
  fill(): Promise<void>;
  clear(): Promise<void>;
}

function placeInFile(): Place {
  const folder = mkdtempSync(join(tmpdir(), "keepsake-webhooks-"));
  const path = join(folder, "memory.db");
  return {
    open: () => openSqliteStoreInThread({ path }),
    async fill() {
      const database = new DatabaseSync(path);
      database.exec(
        "INSERT INTO users (project, name, revision) WITH RECURSIVE numbers (n) AS " +
          `(SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${users}) SELECT 'default', 'user-' || n, 1 FROM numbers`,
      );
      database.close();
    },
    async clear() {
      rmSync(folder, { recursive: true });
    },
  };
}

function placeOnServer(connectionString: string): Place {
  const schema = `b${randomBytes(6).toString("hex")}`;
  const pools: Pool[] = [];
  const open = (max: number): Pool => {
    const pool = new Pool({ connectionString, max });
    pool.setMaxListeners(100);
    pools.push(pool);
    return pool;
  };
  const own = open(2);
  return {
    open: () => openPostgresStore({ pool: open(6), schema }),
    async fill() {
      await own.query(
        `INSERT INTO ${schema}.users (project, name, revision) SELECT 'default', 'user-' || n, 1 FROM generate_series(1, ${users}) n`,
      );
      await own.query(`ANALYZE ${schema}.users`);
    },
    async clear() {
      await own.query(`DROP SCHEMA ${schema} CASCADE`);
      await Promise.all(pools.map((pool) => pool.end()));
    },
  };
}

/** The longest write and the longest pause of this thread while something else runs, in ms. */
async function measureWrites(memory: Keepsake, work: () => Promise<unknown>) {
  const ana = memory.scope({ user: "ana" });
  let isOver = false;
  let longestWrite = 0;
  let longestStall = 0;
  const writing = (async () => {
    while (!isOver) {
      const from = performance.now();
      await ana.add({ text: `The number is ${from}.` });
      longestWrite = Math.max(longestWrite, performance.now() - from);
      await pause(5);
    }
  })();
  let last = performance.now();
  const timer = setInterval(() => {
    longestStall = Math.max(longestStall, performance.now() - last);
    last = performance.now();
  }, 1);
  await pause(500);
  const idleWrite = longestWrite;
  [longestWrite, longestStall] = [0, 0];
  const from = performance.now();
  try {
    await work();
  } finally {
    isOver = true;
    clearInterval(timer);
  }
  const tookMs = performance.now() - from;
  await writing;
  return { tookMs, longestWrite, longestStall, idleWrite };
}

const arrivals = new Map<string, number>();
const receiver = createServer((request, response) => {
  let body = "";
  request.setEncoding("utf8").on("data", (piece: string) => {
    body += piece;
  });
  request.on("end", () => {
    const { user_id: user, revision } = JSON.parse(body).data;
    arrivals.set(`${user} ${revision}`, performance.now());
    response.writeHead(204).end();
  });
});
await new Promise<void>((resolve) => receiver.listen(0, "127.0.0.1", resolve));
const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`;

/** How long events take from the commit to the receiver, in ms. Users are met as the numbers of users go: far apart. */
async function measureDelays(memory: Keepsake, name: string): Promise<number[]> {
  const delays: number[] = [];
  for (let i = 0; i < events; i += 1) {
    const user = `${name}-${i}`;
    await memory.scope({ user }).add({ text: "The number is 1." });
    const from = performance.now();
    while (!arrivals.has(`${user} 1`) && performance.now() - from < 60_000) await pause(5);
    delays.push((arrivals.get(`${user} 1`) ?? Number.POSITIVE_INFINITY) - from);
    await pause(200 + ((i * 137) % 400));
  }
  return delays.toSorted((one, other) => one - other);
}

const round = (ms: number): number => Math.round(ms * 10) / 10;
const summarize = (delays: readonly number[]) => ({
  median: round(delays[delays.length >> 1] ?? Number.NaN),
  longest: round(delays.at(-1) ?? Number.NaN),
});
const print = (name: string, figures: { readonly [name: string]: number }): void =>
  console.log(
    `${name}:`,
    Object.entries(figures)
      .map(([figure, ms]) => `${figure} ${round(ms)} ms`)
      .join(", "),
  );

const place = values.postgres === undefined ? placeInFile() : placeOnServer(values.postgres);
const webhooks = { allowsLoopback: true };
try {
  const first = await place.open();
  await place.fill();
  await using memory = await createMemory({ record: first, webhooks });
  let id = "";
  print(
    "register",
    await measureWrites(memory, async () => {
      id = (await memory.webhooks.create({ url })).id;
    }),
  );
  await pause(Math.max(2000, users / 50));
  print("event of this process", summarize(await measureDelays(memory, "own")));
  {
    await using other = await createMemory({ record: await place.open(), webhooks, jobs: "elsewhere" });
    print("event of another process", summarize(await measureDelays(other, "other")));
  }
  print("remove", await measureWrites(memory, () => memory.webhooks.remove(id)));
} finally {
  await place.clear();
  receiver.close();
}
