import type { StorageCondition } from "../../ports/storage-condition.ts";
import type { Database } from "./database.ts";
import { MIGRATIONS } from "./migrations/index.ts";
import { everybodys } from "./read.ts";
import { statement } from "./statement.ts";

const NEWEST = 500;

/**
 * What the server's settings said when the record was opened, and what the tables say now. Its disk cannot be seen from here. A
 * `synchronous_commit` that is off is none of `reducedBy`: transactions set it on.
 */
export async function conditionOf(
  database: Database,
  reducedBy: readonly string[],
): Promise<StorageCondition> {
  const [row] = await everybodys(
    database,
    statement(
      `SELECT count(*) AS found FROM (SELECT body FROM erasures ORDER BY number DESC LIMIT ${NEWEST}) AS newest ` +
        `WHERE body LIKE '%"complete":false%'`,
    ),
  );
  return {
    durability: reducedBy.length > 0 ? "reduced" : "full",
    reducedBy,
    format: MIGRATIONS.length,
    olderCopies: 0,
    erasing: 0,
    unverified: Number(row?.found ?? 0),
    isReadOnly: false,
  };
}
