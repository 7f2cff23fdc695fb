import { createStatement, quoteIdentifier } from "../database/connection.ts";
import { ALL_PROJECTS, type PostgresDatabase } from "../database/database.ts";
import {
  buildLastingHolderCount,
  buildRowHolderCount,
  SELECT_NEXT_TRANSACTION,
} from "../database/row-holders.ts";
import { quoteLiteral } from "./node-settings.ts";

const SELECT_SHARDS =
  "SELECT name || '_' || get_shard_id_for_distribution_column(name::regclass, $2::bigint) AS shard FROM unnest($1::text[]) AS row (name) " +
  "UNION ALL SELECT 'shares_' || get_shard_id_for_distribution_column('shares', $3::text)";

/** The shards with texts of a user: of tables of the user, and of the project's shares. */
export async function findUserShards(
  database: PostgresDatabase,
  tables: readonly string[],
  user: { readonly person: number; readonly project: string },
): Promise<string[]> {
  const values = [tables, user.person, user.project];
  const [rows = []] = await database.query(ALL_PROJECTS, { sql: SELECT_SHARDS, values });
  return rows.map(({ shard }) => shard ?? "");
}

/** Asks the node of a shard for its size. The shard's number is at the end of its name. */
const SHARD_SIZE =
  "(SELECT done.result::bigint AS bytes FROM pg_dist_placement JOIN pg_dist_node USING (groupid) CROSS JOIN LATERAL " +
  "master_run_on_worker(ARRAY[nodename], ARRAY[nodeport], " +
  "ARRAY[format('SELECT pg_total_relation_size(%L)', format('%I.%I', current_schema(), name))], false) AS done " +
  "WHERE shardid = substring(name FROM '[0-9]+$')::bigint AND noderole = 'primary' AND done.success)";

export const SELECT_SHARD_SIZE: string = `SELECT sizes.bytes FROM (SELECT $1::text AS name) AS shard CROSS JOIN LATERAL ${SHARD_SIZE} AS sizes`;

/** Shards due for a rewrite, by their size. `$1`: a size; `$2` and `$3`: the wait of smaller and of larger ones. */
export const SELECT_DUE_SHARDS: string =
  `SELECT name FROM freed LEFT JOIN LATERAL ${SHARD_SIZE} AS sizes ON true WHERE name <> '' ` +
  "AND since < now() - CASE WHEN coalesce(sizes.bytes, 0) <= $1 THEN $2::interval ELSE $3::interval END ORDER BY since";

/** `$1`: a shard's number; `$2`: a command; `$3` and `$4`: nodes as `host:port`, and the value of each for the command's `%s`. */
const RUN_ON_NODES =
  "SELECT node, done.success, done.result, (SELECT count(*) FROM pg_dist_placement WHERE shardid = $1) AS placements " +
  "FROM (SELECT nodename, nodeport, nodename || ':' || nodeport AS node FROM pg_dist_placement " +
  "JOIN pg_dist_node USING (groupid) WHERE shardid = $1 AND noderole = 'primary') AS placement " +
  "LEFT JOIN unnest($3::text[], $4::text[]) AS given (of, value) ON given.of = node CROSS JOIN LATERAL " +
  "master_run_on_worker(ARRAY[nodename], ARRAY[nodeport], ARRAY[format($2::text, coalesce(given.value, '0'))], false) AS done";

/** Runs a command on each node of a shard. `%s` in it is the node's value. Undefined if a node is away, or there is none. */
async function runOnNodes(
  database: PostgresDatabase,
  shard: string,
  command: string,
  values: ReadonlyMap<string, string> = new Map(),
): Promise<Map<string, string> | undefined> {
  const [rows = []] = await database.query(
    ALL_PROJECTS,
    createStatement(RUN_ON_NODES, parseShardId(shard), command, [...values.keys()], [...values.values()]),
  );
  if (rows.length === 0 || rows.length !== Number(rows[0]?.placements)) return undefined;
  if (rows.some(({ success }) => success !== "t")) return undefined;
  return new Map(rows.map(({ node, result }) => [node ?? "", result ?? ""]));
}

/** The number at the end of a shard's name. */
function parseShardId(shard: string): number {
  return Number(/\d+$/.exec(shard)?.[0] ?? 0);
}

/** The next transaction of each node of a shard, asked after an erasure. */
interface NodeMarks {
  /** When the erasure was recorded. */
  readonly last: string;
  readonly transactions: ReadonlyMap<string, string>;
}

/** By the shard. Nodes number their transactions on their own, so each is asked once after an erasure. */
const nodeMarks = new WeakMap<PostgresDatabase, Map<string, NodeMarks>>();

const COUNT_OLDER_HOLDERS = buildRowHolderCount("'%s'::xid");

/**
 * Whether the nodes of a shard have ended what may read the rows of an erasure that was recorded at `last`. False if a node is
 * away. A shard that moved is asked anew.
 */
export async function haveOlderTransactionsEnded(
  database: PostgresDatabase,
  shard: string,
  last: string,
): Promise<boolean> {
  const marks = nodeMarks.get(database) ?? new Map<string, NodeMarks>();
  nodeMarks.set(database, marks);
  let known = marks.get(shard);
  if (known?.last !== last) {
    const transactions = await runOnNodes(database, shard, SELECT_NEXT_TRANSACTION);
    if (!transactions) return false;
    known = { last, transactions };
    marks.set(shard, known);
  }
  const { transactions } = known;
  const found = await runOnNodes(database, shard, COUNT_OLDER_HOLDERS, transactions);
  if (!found) return false;
  if (![...found.keys()].every((node) => transactions.has(node))) {
    marks.delete(shard);
    return false;
  }
  return [...found.values()].every((count) => Number(count) === 0);
}

/** The shards that a move or a split is making, or has left, as Citus notes them: `schema.table_id`. */
const NOTED_SHARDS =
  "(SELECT object_name AS name, substring(object_name FROM '[0-9]+$')::bigint AS id FROM pg_dist_cleanup WHERE object_type = 1)";

/**
 * Has the nodes of a shard rewrite it. Fails if one of them did not, if the shard is nowhere, and while a copy of it is elsewhere.
 * A move creates such a copy, and leaves it until Citus drops it (`citus_cleanup_orphaned_resources`). A split makes
 * and leaves shards with other numbers.
 */
export function buildShardRewrite(schema: string, shard: string): string {
  const command = quoteLiteral(`VACUUM (FULL) ${quoteIdentifier(schema)}.${quoteIdentifier(shard)}`);
  const id = parseShardId(shard);
  const table = quoteLiteral(shard.slice(0, -String(id).length));
  return (
    "DO $$ DECLARE node record; done integer := 0; BEGIN " +
    `IF EXISTS (SELECT FROM ${NOTED_SHARDS} AS noted WHERE starts_with(name, format('%I.', ${quoteLiteral(schema)}) || ${table}) ` +
    `AND (id = ${id} OR NOT EXISTS (SELECT FROM pg_dist_shard WHERE shardid = id))) ` +
    "THEN RAISE EXCEPTION 'a copy is elsewhere' USING ERRCODE = '55P03'; END IF; " +
    "FOR node IN SELECT nodename, nodeport FROM pg_dist_placement LEFT JOIN pg_dist_node " +
    "ON pg_dist_node.groupid = pg_dist_placement.groupid AND noderole = 'primary' " +
    `WHERE shardid = ${id} LOOP ` +
    "IF node.nodename IS NULL OR NOT coalesce((SELECT success FROM " +
    `master_run_on_worker(ARRAY[node.nodename], ARRAY[node.nodeport], ARRAY[${command}], false)), false) ` +
    "THEN RAISE EXCEPTION 'not rewritten' USING ERRCODE = '55P03'; END IF; done := done + 1; END LOOP; " +
    "IF done = 0 THEN RAISE EXCEPTION 'the shard is nowhere' USING ERRCODE = '55P03'; END IF; END $$"
  );
}

const REPLACE_LOST_SHARD =
  "WITH lost AS (DELETE FROM freed WHERE name = $1 AND NOT EXISTS (SELECT FROM pg_dist_shard WHERE shardid = $2) RETURNING since) " +
  "INSERT INTO freed (name, since) SELECT $3::text || shardid, lost.since FROM lost, pg_dist_shard " +
  "WHERE logicalrelid = rtrim($3::text, '_')::regclass ORDER BY 1 ON CONFLICT (name) DO UPDATE SET last = now()";

/** A shard that was split is no more. All shards of its table are rewritten instead, because one of them has its rows. */
export async function replaceLostShard(database: PostgresDatabase, shard: string): Promise<void> {
  const id = parseShardId(shard);
  await database.execute(ALL_PROJECTS, REPLACE_LOST_SHARD, shard, id, shard.slice(0, -String(id).length));
}

const COUNT_NOTED_SHARDS = `SELECT count(*) AS found FROM ${NOTED_SHARDS} AS noted WHERE starts_with(name, format('%I.', current_schema()))`;
/** Citus prepares transactions itself, and decides those that a crash left within a minute (`citus.recover_2pc_interval`). */
const PREPARED_SECONDS = 120;
const COUNT_LASTING_HOLDERS = `SELECT success, result FROM run_command_on_all_nodes(${quoteLiteral(buildLastingHolderCount(PREPARED_SECONDS))})`;

/** Whether deleted rows are kept by what may never end: on a node, in a shard that a move left, or on a node that is away. */
export async function mayKeepRowsForever(database: PostgresDatabase): Promise<boolean> {
  const [noted = [], nodes = []] = await database.query(
    ALL_PROJECTS,
    createStatement(COUNT_NOTED_SHARDS),
    createStatement(COUNT_LASTING_HOLDERS),
  );
  return (
    Number(noted[0]?.found) > 0 || nodes.some(({ success, result }) => success !== "t" || result !== "0")
  );
}
