import type { Scope } from "../../../domain/scope.ts";
import { listParties, type Share, toGroupParty, toUserParty } from "../../../domain/sharing.ts";
import { MemoryError } from "../../../errors.ts";
import type { ShareChanges } from "../../../ports/stores/sharing-store.ts";
import { checkNames, parseBody } from "../../shared/stored-rows.ts";
import type { PostgresTransaction } from "../database/connection.ts";
import type { PostgresDatabase } from "../database/database.ts";
import { toIndexKey, toScopeKeys } from "../database/user-rows.ts";

const SELECT_SHARES =
  "SELECT body FROM shares WHERE project = $1 AND id IN " +
  "(SELECT id FROM share_parties WHERE project = $1 AND party = ANY ($2)) ORDER BY id";

/** The grants and groups that concern a user, with the grants to the user's groups. */
export async function fetchShares(database: PostgresDatabase, scope: Scope): Promise<Share[]> {
  const [project] = toScopeKeys(scope);
  const fetch = async (parties: readonly string[]): Promise<Share[]> => {
    const rows = await database.queryOnce(project, {
      sql: SELECT_SHARES,
      values: [project, parties.map(toIndexKey)],
    });
    return rows.map(parseBody<Share>);
  };
  const user = toUserParty(scope.user);
  const own = await fetch([user]);
  const groups = own.filter(({ type }) => type === "group").map(({ id }) => toGroupParty(id));
  return groups.length === 0 ? own : fetch([user, ...groups]);
}

/** Applies changes in one transaction. Throws `conflict` if a share is not at the version before. */
export async function storeShareChanges(
  database: PostgresDatabase,
  project: string,
  { put = [], drop = [] }: ShareChanges,
): Promise<void> {
  checkNames(project, ...put.flatMap(listParties));
  const key = toIndexKey(project);
  await database.write<void>(
    { project: key },
    async (transaction) => {
      if (drop.length > 0)
        transaction.queue(
          "DELETE FROM shares WHERE project = $1 AND id = ANY ($2)",
          key,
          drop.map(toIndexKey),
        );
      // In a fixed order, so that two servers do not deadlock.
      for (const share of put.toSorted((one, other) => (one.id < other.id ? -1 : 1)))
        await putShare(transaction, key, share);
    },
    async (transaction) => ((await areStored(transaction, key, put, drop)) ? { was: undefined } : undefined),
  );
}

const INSERT_SHARE =
  "INSERT INTO shares (project, id, version, body) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING RETURNING 1 AS done";
const UPDATE_SHARE =
  "UPDATE shares SET version = $3, body = $4 WHERE project = $1 AND id = $2 AND version = $3 - 1 RETURNING 1 AS done";

async function putShare(transaction: PostgresTransaction, project: string, share: Share): Promise<void> {
  const id = toIndexKey(share.id);
  const sql = share.version === 1 ? INSERT_SHARE : UPDATE_SHARE;
  const rows = await transaction.query(sql, project, id, share.version, JSON.stringify(share));
  if (rows.length !== 1)
    throw new MemoryError("conflict", "a grant or group has changed meanwhile. Read it again.");
  transaction.queue("DELETE FROM share_parties WHERE project = $1 AND id = $2", project, id);
  queueParties(transaction, project, share);
}

/** Queues whom a share concerns, for a row that was stored. */
export function queueParties(transaction: PostgresTransaction, project: string, share: Share): void {
  transaction.queue(
    "INSERT INTO share_parties (project, party, id) SELECT $1, party, $3 FROM unnest($2::text[]) AS row (party) ON CONFLICT DO NOTHING",
    project,
    listParties(share).map(toIndexKey),
    toIndexKey(share.id),
  );
}

/** Whether the changes were stored, after a COMMIT without an answer. */
async function areStored(
  transaction: PostgresTransaction,
  project: string,
  put: readonly Share[],
  drop: readonly string[],
): Promise<boolean> {
  const ids = [...drop, ...put.map(({ id }) => id)].map(toIndexKey);
  const rows = await transaction.query(
    "SELECT body FROM shares WHERE project = $1 AND id = ANY ($2)",
    project,
    ids,
  );
  const bodies = new Set(rows.map(({ body }) => body));
  return rows.length === put.length && put.every((share) => bodies.has(JSON.stringify(share)));
}
