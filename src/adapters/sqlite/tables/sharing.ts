import type { Scope } from "../../../domain/scope.ts";
import { listParties, type Share, toGroupParty, toUserParty } from "../../../domain/sharing.ts";
import { MemoryError } from "../../../errors.ts";
import type { ShareChanges } from "../../../ports/stores/sharing-store.ts";
import { checkNames, parseBody, type SqliteDatabase } from "../database.ts";

const SELECT_SHARES =
  "SELECT DISTINCT s.body, s.id FROM share_parties p JOIN shares s ON s.project = p.project AND s.id = p.id " +
  "WHERE p.project = :project AND p.party IN (SELECT value FROM json_each(:parties)) ORDER BY s.id";

const SELECT_PARTY = "SELECT 1 FROM share_parties WHERE project = :project AND party = :party LIMIT 1";

/** The grants and groups that concern a user, with the grants to the user's groups. */
export function readStoredShares(database: SqliteDatabase, { project, user }: Scope): Share[] {
  checkNames(project, user);
  // Most users share nothing, and each recall asks.
  if (!database.statement(SELECT_PARTY).get({ project, party: toUserParty(user) })) return [];
  const select = database.statement(SELECT_SHARES);
  const read = (parties: readonly string[]): Share[] =>
    select.all({ project, parties: JSON.stringify(parties) }).map(parseBody<Share>);
  const own = read([toUserParty(user)]);
  const groups = own.filter(({ type }) => type === "group").map(({ id }) => toGroupParty(id));
  return groups.length === 0 ? own : read([toUserParty(user), ...groups]);
}

/** Applies changes in one transaction. Throws `conflict` if a share is not at the version before. */
export function applyShareChanges(
  database: SqliteDatabase,
  project: string,
  { put = [], drop = [] }: ShareChanges,
): void {
  checkNames(project);
  database.transaction(() => {
    for (const id of drop)
      database.statement("DELETE FROM shares WHERE project = :project AND id = :id").run({ project, id });
    for (const share of put) putShare(database, project, share);
  });
}

function putShare(database: SqliteDatabase, project: string, share: Share): void {
  const { id, version } = share;
  const parties = listParties(share);
  checkNames(...parties);
  const row = { project, id, version, body: JSON.stringify(share) };
  const { changes } =
    version === 1
      ? database
          .statement(
            "INSERT INTO shares (project, id, version, body) VALUES (:project, :id, :version, :body) ON CONFLICT DO NOTHING",
          )
          .run(row)
      : database
          .statement(
            "UPDATE shares SET version = :version, body = :body WHERE project = :project AND id = :id AND version = :version - 1",
          )
          .run(row);
  if (Number(changes) !== 1)
    throw new MemoryError("conflict", "a grant or group has changed meanwhile. Read it again.");
  database.statement("DELETE FROM share_parties WHERE project = :project AND id = :id").run({ project, id });
  insertParties(database, project, share);
}

/** Inserts whom a share concerns, for a row that was stored. */
export function insertParties(database: SqliteDatabase, project: string, share: Share): void {
  const insert = database.statement(
    "INSERT INTO share_parties (project, party, id) VALUES (:project, :party, :id) ON CONFLICT DO NOTHING",
  );
  for (const party of listParties(share)) insert.run({ project, party, id: share.id });
}
