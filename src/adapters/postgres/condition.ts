import type { StorageCondition } from "../../ports/storage-condition.ts";
import type { PostgresDatabase } from "./database.ts";
import { POSTGRES_MIGRATIONS } from "./migrations/index.ts";
import { fetchRowsOfAllProjects } from "./read.ts";
import { createStatement } from "./statement.ts";

const NEWEST_ERASURES = 500;

/**
 * What the server's settings said when the record was opened, and what the tables say now. Its disk cannot be seen from here. A
 * `synchronous_commit` that is off is none of `reducedBy`: transactions set it on.
 */
export async function fetchStorageCondition(
  database: PostgresDatabase,
  reducedBy: readonly string[],
): Promise<StorageCondition> {
  const [row] = await fetchRowsOfAllProjects(
    database,
    createStatement(
      `SELECT count(*) AS found FROM (SELECT body FROM erasures ORDER BY number DESC LIMIT ${NEWEST_ERASURES}) AS newest ` +
        `WHERE body LIKE '%"complete":false%'`,
    ),
  );
  return {
    durability: reducedBy.length > 0 ? "reduced" : "full",
    reducedBy,
    format: POSTGRES_MIGRATIONS.length,
    olderCopies: 0,
    erasing: 0,
    unverified: Number(row?.found ?? 0),
    isReadOnly: false,
  };
}
