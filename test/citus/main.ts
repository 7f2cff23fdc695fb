import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { parseArgs } from "node:util";
import { Pool } from "pg";
import { type Running, started } from "../../bench/load/server.ts";
import { openPostgresStore } from "../../src/adapters/postgres/index.ts";
import { type ClusterNode, formsOf, openNode } from "../postgres/nodes.ts";
import {
  type CitusObservations,
  countStored,
  createUser,
  startClients,
  type UnansweredRequest,
  wordOf,
} from "./clients.ts";
import { type AddedNode, createNode, findProcess } from "./nodes.ts";

const USAGE = `node test/citus/main.ts [--seconds S] [--away S] [--users U] [--clients C] [--rest MS] [--shards N]

Two servers on a Citus cluster (KEEPSAKE_TEST_CITUS, the address of its coordinator; all nodes run on this machine, and the schema
keepsake does not exist) under load for S seconds or more (60; 600 for the full size). Meanwhile a node is added, shards are
rebalanced to it, a worker is killed and comes back after --away seconds (5), the coordinator is killed and comes back, and the added
node is drained. Prints what was lost, stored twice or stale, and how long requests failed. In the end it rewrites what erasures have
left to do, and searches the files of all nodes for the erased words. Fails if one of these counts is above 0.`;

const SCHEMA = "keepsake";
const SECRET = "a-secret-for-this-run-only-0123456789";
/** Words whose bytes are searched in the files of all nodes. */
const SEARCHED_WORDS = 40;
const CLEAN_MS = 180_000;
const tell = (words: string): void => void process.stderr.write(`${words}\n`);

interface Cluster {
  readonly address: string;
  readonly pool: Pool;
  readonly nodes: ClusterNode[];
  /** The node that the run has added. */
  added?: AddedNode;
}

/** A part of the run: what happened, and to whom requests may fail. */
interface Step {
  readonly name: string;
  readonly from: number;
  /** When the node that was away answered again. */
  readonly back?: number;
  /** Users whose shards were on the node that was away; all if the coordinator was. */
  readonly users?: ReadonlySet<string>;
}

async function findUsersOf({ pool }: Cluster, port: number): Promise<Set<string>> {
  const { rows } = await pool.query<{ name: string }>(
    `SELECT names.name FROM ${SCHEMA}.names JOIN pg_dist_placement ON shardid = ` +
      `get_shard_id_for_distribution_column('${SCHEMA}.users', names.number) JOIN pg_dist_node USING (groupid) WHERE nodeport = $1`,
    [port],
  );
  return new Set(rows.map(({ name }) => name));
}

/** Does to the cluster what happens, with a rest after each step. Gives the steps. */
async function changeCluster(
  cluster: Cluster,
  {
    restMs,
    awayMs,
    users,
  }: { readonly restMs: number; readonly awayMs: number; readonly users: readonly string[] },
): Promise<Step[]> {
  const { address, pool, nodes } = cluster;
  const [coordinator, worker] = nodes;
  if (!coordinator || !worker) throw new Error("The cluster has no worker.");
  const steps: Step[] = [];
  const begin = (name: string): number => {
    tell(name);
    return performance.now();
  };
  steps.push({ name: "steady", from: begin("steady") });
  await pause(restMs);
  const added = await createNode(address, worker);
  cluster.added = added;
  steps.push({ name: "node added", from: begin("node added") });
  await pool.query("SELECT citus_add_node($1, $2)", [worker.host, added.port]);
  nodes.push(await openNode(address, added.port));
  await pause(restMs);
  steps.push({ name: "shards rebalanced", from: begin("shards rebalanced") });
  await pool.query("SELECT citus_rebalance_start()");
  await pool.query("SELECT citus_rebalance_wait()");
  await pause(restMs);
  for (const [name, node] of [
    ["worker killed", worker],
    ["coordinator killed", coordinator],
  ] as const) {
    const server = await findProcess(address, node);
    const away = node === worker ? await findUsersOf(cluster, node.port) : new Set(users);
    const from = begin(name);
    server.kill();
    await pause(awayMs);
    await server.start();
    steps.push({ name, from, back: performance.now(), users: away });
    await pause(restMs);
  }
  steps.push({ name: "node drained", from: begin("node drained") });
  await pool.query("SELECT citus_drain_node($1, $2)", [worker.host, added.port]);
  await pause(restMs);
  return steps;
}

/** What failed in a step: how often, for whom, and how long. */
function describeStep(step: Step, end: number, failures: readonly UnansweredRequest[]) {
  const { name, from, back, users } = step;
  const failed = failures.filter(({ at }) => at >= from && at < end);
  const [first, last] = [failed[0]?.at ?? 0, failed.at(-1)?.at ?? 0];
  const toSeconds = (ms: number): number => Math.round(ms / 100) / 10;
  const details = new Map<string, number>();
  for (const { status, detail } of failed) {
    const kind = `${status} ${detail}`.slice(0, 120);
    details.set(kind, (details.get(kind) ?? 0) + 1);
  }
  return {
    name,
    seconds: toSeconds(end - from),
    failed: failed.length,
    ...(users ? { failed_of_others: failed.filter(({ user }) => !users.has(user)).length } : {}),
    ...(failed.length > 0
      ? { failed_for_s: toSeconds(last - first), kinds: Object.fromEntries(details) }
      : {}),
    ...(back === undefined ? {} : { failed_after_back_s: toSeconds(Math.max(0, last - back)) }),
  };
}

/** Compares what is stored with what was acknowledged. */
async function countFaults(server: Running | undefined, users: readonly string[], seen: CitusObservations) {
  const stored = new Map<number, number>();
  for (const user of users)
    for (const [number, count] of await countStored(server, user))
      stored.set(number, (stored.get(number) ?? 0) + count);
  return {
    lost: [...seen.kept.keys()].filter((number) => !stored.has(number)).length,
    twice: [...stored.values()].filter((count) => count > 1).length,
    back_after_erasure: [...seen.erased.keys()].filter((number) => stored.has(number)).length,
  };
}

/** Rewrites what erasures have left, and searches the files of all nodes. The control: words that were kept are found. */
async function searchFiles({ pool, nodes }: Cluster, seen: CitusObservations) {
  await pool.query("CALL citus_cleanup_orphaned_resources()");
  const store = await openPostgresStore({ pool, schema: SCHEMA });
  await pool.query(`UPDATE ${SCHEMA}.freed SET since = now() - interval '4 days'`);
  const until = performance.now() + CLEAN_MS;
  const countLeft = async (): Promise<number> => {
    const { rows } = await pool.query(`SELECT count(*)::int AS found FROM ${SCHEMA}.freed WHERE name <> ''`);
    return rows[0]?.found ?? 0;
  };
  while ((await countLeft()) > 0 && performance.now() < until) await store.maintenance?.tidy();
  const notRewritten = await countLeft();
  await store.close();
  const pick = (numbers: Iterable<number>): Buffer[] =>
    [...numbers].slice(-SEARCHED_WORDS).flatMap((number) => formsOf(wordOf(number)));
  const count = async (forms: readonly Buffer[]): Promise<number> => {
    const found = await Promise.all(nodes.map((node) => node.findFiles(forms)));
    return found.flat().length;
  };
  return {
    not_rewritten: notRewritten,
    files_with_erased: await count(pick(seen.erased.keys())),
    files_with_kept: await count(pick(seen.kept.keys())),
  };
}

function shareOf(times: readonly number[], share: number): number {
  return Math.round(times.toSorted((one, other) => one - other)[Math.floor(times.length * share)] ?? 0);
}

async function openCluster(address: string): Promise<Cluster> {
  const pool = new Pool({ connectionString: address, max: 4 });
  pool.on("error", () => {});
  const found = await pool.query("SELECT to_regnamespace($1) IS NOT NULL AS exists", [SCHEMA]);
  if (found.rows[0]?.exists)
    throw new Error(`The schema ${SCHEMA} exists. Use a cluster for this run alone.`);
  const { rows } = await pool.query<{ port: number }>(
    "SELECT nodeport AS port FROM pg_dist_node ORDER BY groupid",
  );
  return { address, pool, nodes: await Promise.all(rows.map(({ port }) => openNode(address, port))) };
}

/** Opens the connections to nodes that were killed anew. */
async function reopenNodes(cluster: Cluster): Promise<void> {
  for (const [i, { port }] of cluster.nodes.entries())
    cluster.nodes[i] = await openNode(cluster.address, port);
}

/** Leaves the cluster as it was. */
async function cleanUp({ pool, nodes, added }: Cluster, servers: readonly Running[]): Promise<void> {
  await Promise.all(servers.map((one) => one.end("SIGKILL")));
  await pool.query(`DROP SCHEMA IF EXISTS ${SCHEMA} CASCADE`).catch((error: Error) => tell(error.message));
  if (added) {
    const values = [nodes[0]?.host, added.port];
    await pool.query("SELECT citus_remove_node($1, $2)", values).catch((error: Error) => tell(error.message));
  }
  await Promise.all(nodes.map((node) => node.close().catch(() => undefined)));
  added?.remove();
  // A connection to a node that was killed may never say that it is closed.
  await Promise.race([pool.end(), pause(5000)]);
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      seconds: { type: "string", default: "60" },
      away: { type: "string", default: "5" },
      users: { type: "string", default: "24" },
      clients: { type: "string", default: "6" },
      rest: { type: "string", default: "100" },
      shards: { type: "string", default: "8" },
      help: { type: "boolean", default: false },
    },
  });
  const { KEEPSAKE_TEST_CITUS: address } = process.env;
  if (values.help || !address) throw new Error(USAGE);
  execFileSync(process.execPath, [join(import.meta.dirname, "../../scripts/ready.mjs")], {
    stdio: [0, 2, 2],
  });
  await using stack = new AsyncDisposableStack();
  const cluster = await openCluster(address);
  const url = new URL(address);
  url.searchParams.set("options", `-c citus.shard_count=${values.shards}`);
  const servers: Running[] = [];
  stack.defer(() => cleanUp(cluster, servers));
  for (const _ of [1, 2]) servers.push(await started(url.href, { KEEPSAKE_SECRET: SECRET }));
  const users = Array.from({ length: Number(values.users) }, (_, i) => `user-${i}`);
  for (const user of users) await createUser(servers[0], user);
  const load = startClients(servers, users, { clients: Number(values.clients), restMs: Number(values.rest) });
  const begun = performance.now();
  // Seven rests and the time that the steps take themselves.
  const restMs = (Number(values.seconds) * 1000) / 10;
  const steps = await changeCluster(cluster, { restMs, awayMs: Number(values.away) * 1000, users });
  await pause(Math.max(0, Number(values.seconds) * 1000 - (performance.now() - begun)));
  await load.stop();
  const end = performance.now();
  const { seen } = load;
  await reopenNodes(cluster);
  const faults = await countFaults(servers[1], users, seen);
  const files = await searchFiles(cluster, seen);
  const figures = {
    seconds: Math.round((end - begun) / 1000),
    writes: seen.writes.length,
    searches: seen.searches.length,
    kept: seen.kept.size,
    erased: seen.erased.size,
    ...faults,
    stale: seen.stale.length,
    refused: seen.refused.length,
    ...files,
    search_ms: { p50: shareOf(seen.searches, 0.5), p95: shareOf(seen.searches, 0.95) },
    write_ms: { p50: shareOf(seen.writes, 0.5), p95: shareOf(seen.writes, 0.95) },
    steps: steps.map((step, i) => describeStep(step, steps[i + 1]?.from ?? end, seen.failures)),
  };
  for (const one of [...seen.stale, ...seen.refused].slice(0, 20)) tell(`WRONG: ${one}`);
  process.stdout.write(`${JSON.stringify(figures, undefined, 1)}\n`);
  const { lost, twice, back_after_erasure: back } = faults;
  const bad =
    lost +
    twice +
    back +
    seen.stale.length +
    seen.refused.length +
    files.not_rewritten +
    files.files_with_erased;
  if (bad > 0 || files.files_with_kept === 0 || seen.erased.size === 0) process.exitCode = 1;
}

await main();
process.exit();
