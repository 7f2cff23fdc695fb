import type { CompactedSize } from "../../ports/memory-store.ts";
import { quoteIdentifier } from "./database/connection.ts";
import type { PostgresDatabase } from "./database/database.ts";
import { fetchRowsOfAllProjects } from "./read.ts";
import { rewriteDueTables } from "./scrub.ts";

const VACUUM_MS = 600_000;

const SELECT_TABLES =
  "SELECT c.relname AS name FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace " +
  "WHERE n.nspname = $1 AND c.relkind = 'r' ORDER BY c.relname";

const SELECT_SIZE =
  "SELECT coalesce(sum(pg_total_relation_size(c.oid)), 0) AS bytes FROM pg_class c " +
  "JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = $1 AND c.relkind = 'r'";

/**
 * Frees the space of deleted rows for new ones, and refreshes the planner's statistics. Reads and writes go on. Tables that are
 * due after an erasure are rewritten first. The files shrink only there, or where the server can cut free pages off the end.
 */
export async function compactTables(database: PostgresDatabase): Promise<CompactedSize> {
  const { schema } = database.settings;
  const measure = async (): Promise<number> =>
    Number((await fetchRowsOfAllProjects(database, SELECT_SIZE, schema))[0]?.bytes ?? 0);
  const before = await measure();
  await rewriteDueTables(database);
  const tables = await fetchRowsOfAllProjects(database, SELECT_TABLES, schema);
  for (const { name } of tables) {
    const table = `${quoteIdentifier(schema)}.${quoteIdentifier(name ?? "")}`;
    await database.runOutsideTransaction([`VACUUM (ANALYZE) ${table}`], { timeoutMs: VACUUM_MS });
  }
  return { before, after: await measure() };
}
