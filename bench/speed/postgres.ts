import { join } from "node:path";
import { Client, Pool } from "pg";
import { openPostgresStore, type PostgresStore } from "../../src/adapters/postgres/index.ts";
import { openSqliteStore } from "../../src/adapters/sqlite/index.ts";
import { staticEmbedder } from "../../src/adapters/static/index.ts";
import { copyStore } from "../../src/engine/transfer/copy-store.ts";
import { createMemory, type MemoryStore } from "../../src/index.ts";
import { type Asker, askers } from "./asked.ts";
import { filled } from "./filling.ts";
import { type Machine, machineOf } from "./machine.ts";
import { rounded, type Spread, settle, spreadOf, timeOf } from "./measure.ts";
import { phase } from "./progress.ts";
import { type Hot, hot } from "./recalls.ts";
import type { Size } from "./run.ts";

/** What a run on PostgreSQL measures, in milliseconds. Both sides ask the same server for the same users, in the same run. */
export interface PostgresFigures {
  readonly record: "postgres";
  readonly users: number;
  readonly perUser: number;
  readonly recall: { readonly hot: Spread; readonly cold: Spread };
  /** The ten nearest of the user's vectors, exactly, by plain SQL over pgvector, with the embedding of the question. */
  readonly pgvector: { readonly hot: Spread; readonly cold: Spread };
  /** Recall's time as a share of pgvector's, by their medians: at most 1.2 cold, and 0.2 hot. */
  readonly share: { readonly hot: number; readonly cold: number };
  readonly version: string;
  readonly machine: Machine;
}

/** So many users are met for the first time; and so many blocks of questions to users who are in memory. */
const COLD = 60;
const BLOCKS = 20;
const CALLS = 20;

/** What the comment of a database says in which everything is. */
const WHOLE = "keepsake bench: filled";

/**
 * Fills a file as every run does, moves it to a database of its own, and measures there. Where the file is kept, the database is as
 * well: a million memories are moved in half an hour.
 */
export async function runOnPostgres(folder: string, size: Size, server: string): Promise<PostgresFigures> {
  const machine = machineOf();
  const isKept = size.kept !== undefined;
  const name = isKept ? `keepsake_bench_${size.users}_${size.perUser}` : `keepsake_bench_${process.pid}`;
  const client = new Client({ connectionString: server });
  await client.connect();
  const url = new URL(server);
  url.pathname = `/${name}`;
  try {
    if (isKept && (await isWhole(client, name))) {
      phase(`the database that an earlier run has kept: ${name}`);
      await met(url.href, size);
    } else {
      await client.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
      await client.query(`CREATE DATABASE ${name}`);
      const path = join(folder, "memory.db");
      await filled(path, size);
      await movedIn(path, url.href);
      await met(url.href, size);
      await client.query(`COMMENT ON DATABASE ${name} IS '${WHOLE}'`);
    }
    return await measured(url.href, size, machine);
  } finally {
    if (!isKept) await client.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
    await client.end();
  }
}

async function isWhole(client: Client, name: string): Promise<boolean> {
  const { rows } = await client.query(
    "SELECT shobj_description(oid, 'pg_database') AS said FROM pg_database WHERE datname = $1",
    [name],
  );
  return rows[0]?.said === WHOLE;
}

const poolOf = (url: string): Pool => new Pool({ connectionString: url, max: 10, pipeline: true });

/** The same memories on both sides. */
async function movedIn(path: string, url: string): Promise<void> {
  const pool = poolOf(url);
  try {
    await taken(path, await openPostgresStore({ pool, connectMs: 30_000 }));
    phase("pgvector: the same vectors");
    await plainTable(pool);
  } finally {
    await pool.end();
  }
}

/** As a server leaves it that has met each of its users, also where an earlier version of this program did. */
async function met(url: string, { users, perUser }: Size): Promise<void> {
  const pool = poolOf(url);
  try {
    await blocksKept(await openPostgresStore({ pool, connectMs: 30_000 }), users, askers(perUser));
    await pool.query("VACUUM ANALYZE");
  } finally {
    await pool.end();
  }
}

async function measured(
  url: string,
  { users, perUser }: Size,
  machine: () => Machine,
): Promise<PostgresFigures> {
  const pool = poolOf(url);
  const asker = askers(perUser);
  phase("users not met before, on both sides in turn");
  const cold = await inTurn(url, users, asker);
  phase("users in memory");
  const record = await openPostgresStore({ pool, connectMs: 30_000 });
  const memory = await createMemory({ record, embedder: staticEmbedder() });
  const ask = ({ memory: one, asker: { ask } }: Hot): Promise<unknown> => one.recall(ask());
  // Once for nothing: a program that has just been started is not compiled yet. The other side's is in the server.
  await hot(memory, { users, asker }, BLOCKS, ask);
  const recall = await hot(memory, { users, asker }, BLOCKS, ask);
  await memory.close();
  const plain = await plainHot(pool, users, asker);
  const { rows } = await pool.query(
    "SELECT version() AS version, (SELECT extversion FROM pg_extension WHERE extname = 'vector') AS vector",
  );
  await pool.end();
  return {
    record: "postgres",
    users,
    perUser,
    recall: { hot: recall, cold: cold.recall },
    pgvector: { hot: plain, cold: cold.pgvector },
    share: { hot: rounded(recall.p50 / plain.p50), cold: rounded(cold.recall.p50 / cold.pgvector.p50) },
    version: `${rows[0]?.version}, pgvector ${rows[0]?.vector}`,
    machine: machine(),
  };
}

async function taken(path: string, record: PostgresStore): Promise<void> {
  phase("moving it to PostgreSQL");
  const file: MemoryStore = await openSqliteStore({ path });
  await copyStore(file, record);
  await file.close();
  await record.close();
}

/** As a server leaves it when it has let go of its users: each user's block is kept in the record. */
async function blocksKept(
  record: PostgresStore,
  users: number,
  asker: (user: number) => Asker,
): Promise<void> {
  phase("each user once, so that blocks are kept");
  for (let user = 1; user <= users; user += 1) {
    const memory = await createMemory({ record, embedder: staticEmbedder() });
    const { person, ask } = asker(user);
    await memory.scope({ user: person.name }).recall(ask());
    await memory.close();
  }
  await record.close();
}

/** What one would write in an afternoon: a table of vectors, an index by user, and an exact search among the user's. */
async function plainTable(pool: Pool): Promise<void> {
  const { dimensions } = staticEmbedder();
  await pool.query("CREATE EXTENSION IF NOT EXISTS vector");
  await pool.query(
    `CREATE TABLE plain (person text NOT NULL, id text NOT NULL, embedding vector(${dimensions}) NOT NULL)`,
  );
  const record = await openPostgresStore({ pool });
  let after: string | undefined;
  do {
    const page = await record.dump?.page("units", {
      limit: 2000,
      ...(after === undefined ? {} : { after }),
    });
    const rows = page?.rows ?? [];
    await pool.query("INSERT INTO plain SELECT * FROM unnest($1::text[], $2::text[], $3::text[]::vector[])", [
      rows.map(({ user }) => user),
      rows.map(({ unit }) => unit.id),
      rows.map(({ unit }) => `[${unit.vector.join(",")}]`),
    ]);
    after = page?.cursor;
  } while (after !== undefined);
  await record.close();
  await pool.query("CREATE INDEX plain_by_person ON plain (person)");
}

/** With the connection, as prepared once on it; and the embedding of the question, which a recall does as well. */
function plainAsk(client: Client | Pool): (user: string, question: string) => Promise<unknown> {
  const embedder = staticEmbedder();
  return async (user, question) => {
    const [vector = new Float32Array(0)] = await embedder.embed([question]);
    return client.query({
      name: "nearest",
      text: "SELECT id, embedding <=> $2::vector AS distance FROM plain WHERE person = $1 ORDER BY distance LIMIT 10",
      values: [user, `[${vector.join(",")}]`],
    });
  };
}

/** The first question of a user, each time on new connections, after one to nobody: first one side, then the other. */
async function inTurn(
  url: string,
  users: number,
  asker: (user: number) => Asker,
): Promise<{ recall: Spread; pgvector: Spread }> {
  const [recall, pgvector]: [number[], number[]] = [[], []];
  for (let i = 0; i < COLD; i += 1) {
    const { person, ask } = asker(1 + (i % users));
    const [question, other] = [ask(), ask()];
    const pool = new Pool({ connectionString: url, max: 4, pipeline: true });
    const record = await openPostgresStore({ pool, connectMs: 30_000 });
    const memory = await createMemory({ record, embedder: staticEmbedder() });
    await memory.scope({ user: "nobody" }).recall("Is anybody there?");
    const one = memory.scope({ user: person.name });
    settle();
    recall.push(await timeOf(() => one.recall(question)));
    await memory.close();
    await record.close();
    const ask10 = plainAsk(pool);
    await ask10("nobody", "Is anybody there?");
    pgvector.push(await timeOf(() => ask10(person.name, other)));
    await pool.end();
  }
  return { recall: spreadOf(recall), pgvector: spreadOf(pgvector) };
}

async function plainHot(pool: Pool, users: number, asker: (user: number) => Asker): Promise<Spread> {
  const ask10 = plainAsk(pool);
  const taken: number[] = [];
  for (let block = 0; block < BLOCKS; block += 1) {
    const { person, ask } = asker(1 + (block % users));
    await ask10(person.name, ask());
    for (let i = 0; i < CALLS; i += 1) taken.push(await timeOf(() => ask10(person.name, ask())));
  }
  return spreadOf(taken);
}

export function postgresTable({
  users,
  perUser,
  recall,
  pgvector,
  share,
  version,
  machine,
}: PostgresFigures): string {
  const line = (name: string, { p50, p95, p99 }: Spread): string =>
    `${name.padEnd(40)}${[p50, p95, p99].map((ms) => String(ms).padStart(9)).join("")}`;
  return [
    `${users} users of ${perUser} memories, and the messages they were read from; ${version}`,
    "",
    `${"milliseconds".padEnd(40)}${["p50", "p95", "p99"].map((head) => head.padStart(9)).join("")}`,
    line("recall", recall.hot),
    line("plain pgvector, exact", pgvector.hot),
    line("recall, user not in memory", recall.cold),
    line("plain pgvector, new connection", pgvector.cold),
    "",
    `recall takes ${share.hot} of pgvector's time, ${share.cold} where the user is not in memory`,
    `Node ${machine.node}, ${machine.cores} × ${machine.cpu}, load ${machine.load.before} to ${machine.load.after}`,
  ].join("\n");
}
