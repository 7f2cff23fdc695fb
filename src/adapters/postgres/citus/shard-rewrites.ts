import { isMemoryError } from "../../../errors.ts";
import { quoteIdentifier } from "../database/connection.ts";
import { ALL_PROJECTS, type PostgresDatabase } from "../database/database.ts";
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

/**
 * Whether all nodes have ended the transactions that began before a time. The login asks, because it may see those of the runtime
 * role. Another role's transactions, whose times it may not see, count as older. The nodes' clocks must agree.
 */
export async function haveOlderTransactionsEnded(database: PostgresDatabase, time: string): Promise<boolean> {
  const check =
    "DO $$ BEGIN IF EXISTS (SELECT 1 FROM citus_stat_activity WHERE datname = current_database() " +
    "AND global_pid <> citus_backend_gpid() AND (backend_xmin IS NOT NULL OR backend_xid IS NOT NULL) " +
    `AND (xact_start IS NULL OR xact_start <= ${quoteLiteral(time)}::timestamptz)) ` +
    "THEN RAISE EXCEPTION 'older transactions' USING ERRCODE = '55P03'; END IF; END $$";
  try {
    await database.runOutsideTransaction([check]);
    return true;
  } catch (error) {
    if (isMemoryError(error)) return false;
    throw error;
  }
}

/** Has the node of a shard rewrite it. Fails if the node did not. */
export function buildShardRewrite(schema: string, shard: string): string {
  const command = quoteLiteral(`VACUUM (FULL) ${quoteIdentifier(schema)}.${quoteIdentifier(shard)}`);
  const number = Number(/\d+$/.exec(shard)?.[0] ?? 0);
  return (
    "DO $$ DECLARE node record; BEGIN FOR node IN SELECT done.success FROM pg_dist_placement " +
    "JOIN pg_dist_node USING (groupid) CROSS JOIN LATERAL " +
    `master_run_on_worker(ARRAY[nodename], ARRAY[nodeport], ARRAY[${command}], false) AS done ` +
    `WHERE shardid = ${number} AND noderole = 'primary' ` +
    "LOOP IF NOT node.success THEN RAISE EXCEPTION 'not rewritten' USING ERRCODE = '55P03'; END IF; END LOOP; END $$"
  );
}
