import type { Scope } from "../../../domain/scope.ts";
import type { MemoryUse, UserUses } from "../../../ports/stores/usage-store.ts";
import { ALL_PROJECTS, type PostgresDatabase } from "../database/database.ts";
import { encodeLongNames, findUserNumber, toIndexKey, toScopeKeys } from "../database/user-rows.ts";
import { decodeId, fetchUserRows } from "../read.ts";

/** In a fixed order, so that two servers do not deadlock. An erasure locks the same row, so no use outlives its memory. */
const LOCK_USERS =
  "SELECT number FROM users WHERE number = ANY ($1::bigint[]) ORDER BY number FOR NO KEY UPDATE";
const buildAddUses = (where: string): string =>
  "INSERT INTO uses (person, project, id, long_names, count, last_at) " +
  "SELECT heads.person, heads.project, heads.id, row.long_names, row.count, row.last_at " +
  "FROM unnest($1::bigint[], $2::text[], $3::text[], $4::bigint[], $5::text[]) AS row (person, id, long_names, count, last_at) " +
  "JOIN heads ON heads.person = row.person AND heads.id = row.id " +
  `${where}ORDER BY heads.person, heads.id ` +
  "ON CONFLICT (person, id) DO UPDATE SET count = uses.count + excluded.count, last_at = greatest(uses.last_at, excluded.last_at)";
const ADD_USES = buildAddUses("");
const ADD_USES_OF_USER = buildAddUses("WHERE heads.person = ANY ($1::bigint[]) ");

/**
 * Adds uses in one transaction. Memories that do not exist have none. If the answer to a COMMIT is lost, a batch may count
 * twice.
 */
export async function storeUses(database: PostgresDatabase, added: readonly UserUses[]): Promise<void> {
  const { isDistributed } = database.settings;
  const [first, ...others] = added;
  if (!first) return;
  // No row can be locked over several nodes, so each user has a transaction there.
  if (isDistributed && others.length > 0) {
    for (const one of added) await storeUses(database, [one]);
    return;
  }
  const [project] = toScopeKeys(first.scope);
  const reach = added.every(({ scope }) => toScopeKeys(scope)[0] === project) ? { project } : ALL_PROJECTS;
  const rows = (
    await Promise.all(
      added.map(async ({ scope, uses }) => {
        const person = await findUserNumber(database, scope);
        return uses.map((use) => ({ person, ...use }));
      }),
    )
  ).flat();
  await database.write(reach, async (transaction) => {
    await transaction.query(LOCK_USERS, [...new Set(rows.map(({ person }) => person))]);
    transaction.queue(
      isDistributed ? ADD_USES_OF_USER : ADD_USES,
      rows.map(({ person }) => person),
      rows.map(({ id }) => toIndexKey(id)),
      rows.map(({ id }) => encodeLongNames(id)),
      rows.map(({ count }) => count),
      rows.map(({ lastAt }) => lastAt),
    );
  });
}

const SELECT_USES = "SELECT id, long_names, count, last_at FROM uses WHERE person = $1";

/** The uses of some memories, or of all of a user. */
export async function fetchUses(
  database: PostgresDatabase,
  scope: Scope,
  ids?: readonly string[],
): Promise<MemoryUse[]> {
  const rows = ids
    ? await fetchUserRows(database, scope, `${SELECT_USES} AND id = ANY ($2)`, ids.map(toIndexKey))
    : await fetchUserRows(database, scope, SELECT_USES);
  return rows.map((row) => ({
    id: decodeId(row),
    count: Number(row.count),
    lastAt: String(row.last_at),
  }));
}
