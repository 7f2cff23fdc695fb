import type { BackupNote } from "../../../domain/operations/backup.ts";
import { MAX_RECALL_RECEIPTS, type RecallReceipt } from "../../../domain/recall.ts";
import type { ErasureReceipt, KeptReceipt, Trace } from "../../../domain/receipt.ts";
import type { Scope } from "../../../domain/scope.ts";
import type { DependentCounts, ErasureSummary, NewRecallReceipts } from "../../../ports/memory-store.ts";
import { parseBody } from "../../shared/stored-rows.ts";
import { createStatement } from "../database/connection.ts";
import { ALL_PROJECTS, type PostgresDatabase } from "../database/database.ts";
import {
  encodeText,
  findUserNumber,
  parseScope,
  toAccessScope,
  toIndexKey,
  toScopeKeys,
} from "../database/user-rows.ts";
import { fetchRowsOfAllProjects, fetchUserRows } from "../read.ts";
import { fetchStoredAnswers } from "./answer-cache.ts";

export async function fetchErasureSummaries(database: PostgresDatabase): Promise<ErasureSummary[]> {
  const rows = await fetchRowsOfAllProjects(
    database,
    "SELECT users.project, name, long_names, body, trace IS NOT NULL AS traced FROM erasures " +
      "JOIN users ON users.number = erasures.person ORDER BY erasures.number",
  );
  return rows.map((row) => {
    const { id, replays, verified, complete } = parseBody<ErasureReceipt>(row);
    return {
      receipt: id,
      ...toScopeNames(row),
      ...(replays === undefined ? {} : { replays }),
      hasTrace: row.traced === "t",
      isVerified: verified.length > 0,
      isComplete: complete,
    };
  });
}

function toScopeNames(row: Parameters<typeof parseScope>[0]): { project: string; user: string } {
  const { project, user } = parseScope(row);
  return { project, user };
}

/** Traces of erasures, in the order of their creation. */
export async function fetchTraces(database: PostgresDatabase, scope?: Scope): Promise<Trace[]> {
  const rows = scope
    ? await fetchUserRows(
        database,
        scope,
        "SELECT trace AS body FROM erasures WHERE person = $1 AND trace IS NOT NULL ORDER BY number",
      )
    : await fetchRowsOfAllProjects(
        database,
        "SELECT trace AS body FROM erasures WHERE trace IS NOT NULL ORDER BY number",
      );
  return rows.map(parseBody<Trace>);
}

const COUNT_LINKS =
  "SELECT count(*) AS found FROM links WHERE person = $1 AND (source = ANY ($2) OR target = ANY ($2))";

export async function fetchTouchedCounts(
  database: PostgresDatabase,
  scope: Scope,
  memories: readonly string[],
): Promise<DependentCounts> {
  const person = await findUserNumber(database, scope);
  const [links = [], indexes = [], receipts = []] = await database.query(
    toAccessScope(scope),
    createStatement(COUNT_LINKS, person, memories.map(toIndexKey)),
    createStatement("SELECT count(*) AS found FROM blocks WHERE person = $1 AND piece = 0", person),
    createStatement("SELECT body FROM receipts WHERE person = $1", person),
  );
  const ids = new Set(memories);
  const affected = receipts.filter((row) =>
    parseBody<KeptReceipt>(row).memories.some(({ id }) => ids.has(id)),
  );
  const answers = await fetchStoredAnswers(database, scope);
  return {
    links: Number(links[0]?.found),
    blocks: Number(indexes[0]?.found),
    answers: affected.length + answers.length,
  };
}

export async function fetchIdentity(database: PostgresDatabase): Promise<string> {
  const [row] = await fetchRowsOfAllProjects(database, "SELECT id FROM identity");
  return row?.id ?? "";
}

export async function fetchBackupNotes(database: PostgresDatabase): Promise<BackupNote[]> {
  const rows = await fetchRowsOfAllProjects(database, "SELECT body FROM backups ORDER BY number");
  return rows.map(parseBody<BackupNote>);
}

export async function storeBackupNote(database: PostgresDatabase, note: BackupNote): Promise<void> {
  await database.execute(
    ALL_PROJECTS,
    "INSERT INTO backups (name, body) VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET body = excluded.body",
    encodeText(note.name),
    JSON.stringify(note),
  );
}

/** In a fixed order, so that two servers that save receipts of the same users do not deadlock. */
const LOCK_USERS =
  "SELECT number, project, name FROM users WHERE number = ANY ($1::bigint[]) AND revision > 0 ORDER BY number FOR NO KEY UPDATE";
const UPSERT_RECEIPTS =
  "INSERT INTO recalls (person, project, id, body) SELECT person, project, id, body " +
  "FROM unnest($1::bigint[], $2::text[], $3::text[], $4::text[]) WITH ORDINALITY AS row (person, project, id, body, place) " +
  "ORDER BY place ON CONFLICT (person, id) DO UPDATE SET number = excluded.number, body = excluded.body";
/** The newest excess receipt of each user, found by its index. A join might read the receipts of all users. */
const SELECT_EXCESS =
  "SELECT person, (SELECT number FROM recalls WHERE recalls.person = wanted.person ORDER BY number DESC LIMIT 1 OFFSET $2) AS last " +
  "FROM unnest($1::bigint[]) AS wanted (person)";
const SELECT_EXCESS_OF_USER =
  "SELECT person, number AS last FROM recalls WHERE person = ANY ($1::bigint[]) ORDER BY number DESC LIMIT 1 OFFSET $2";
const DELETE_EXCESS = "DELETE FROM recalls WHERE person = $1 AND number <= $2";

/** Saves recall receipts, and deletes all but the newest of each user. Users without data have none. */
export async function storeRecallReceipts(
  database: PostgresDatabase,
  kept: readonly NewRecallReceipts[],
): Promise<void> {
  const users = new Map<string, RecallReceipt[]>();
  for (const { scope, receipts } of kept) {
    const name = JSON.stringify(toScopeKeys(scope));
    users.set(name, [...(users.get(name) ?? []), ...receipts]);
  }
  const [first] = kept;
  if (!first) return;
  // No row can be locked over several nodes, so each user has a transaction there.
  if (database.settings.isDistributed && users.size > 1) {
    for (const name of users.keys())
      await storeRecallReceipts(
        database,
        kept.filter(({ scope }) => JSON.stringify(toScopeKeys(scope)) === name),
      );
    return;
  }
  const selectExcess = database.settings.isDistributed ? SELECT_EXCESS_OF_USER : SELECT_EXCESS;
  const [project] = toScopeKeys(first.scope);
  const reach = kept.every(({ scope }) => toScopeKeys(scope)[0] === project) ? { project } : ALL_PROJECTS;
  const numbers = await Promise.all(kept.map(({ scope }) => findUserNumber(database, scope)));
  // One transaction with few statements: each statement costs more than its rows, and recalls of many users arrive together.
  await database.write(reach, async (transaction) => {
    const lockedUsers = await transaction.query(LOCK_USERS, numbers);
    const rows = lockedUsers.flatMap((row) => {
      const userReceipts = users.get(JSON.stringify([row.project, row.name])) ?? [];
      return takeLastOfEach(userReceipts).map(([id, receipt]) => ({
        person: Number(row.number),
        of: row.project,
        id,
        receipt,
      }));
    });
    if (rows.length === 0) return;
    const columns = [
      rows.map(({ person }) => person),
      rows.map(({ of }) => of),
      rows.map(({ id }) => id),
      rows.map(({ receipt }) => JSON.stringify(receipt)),
    ];
    const people = lockedUsers.map(({ number }) => Number(number));
    const [, excess = []] = await transaction.queryAll(
      { sql: UPSERT_RECEIPTS, values: columns },
      { sql: selectExcess, values: [people, MAX_RECALL_RECEIPTS] },
    );
    for (const { person, last } of excess)
      if (last !== null) transaction.queue(DELETE_EXCESS, Number(person), Number(last));
  });
}

/** Keeps the last receipt of each id, at its last position, because the position defines its age. */
function takeLastOfEach(receipts: readonly RecallReceipt[]): [id: string, receipt: RecallReceipt][] {
  const last = new Map<string, RecallReceipt>();
  for (const receipt of receipts) {
    last.delete(toIndexKey(receipt.id));
    last.set(toIndexKey(receipt.id), receipt);
  }
  return [...last];
}

/** Deletes all recall receipts of a user. */
export async function removeRecallReceipts(database: PostgresDatabase, scope: Scope): Promise<void> {
  const [project] = toScopeKeys(scope);
  const number = await findUserNumber(database, scope);
  await database.write({ project }, async (transaction) => {
    // First their lock, so that receipts saved meanwhile and these do not wait for each other.
    await transaction.query(LOCK_USERS, [number]);
    await transaction.query("DELETE FROM recalls WHERE person = $1", number);
  });
}

/** Recall receipts, newest first. */
export async function fetchRecallReceipts(
  database: PostgresDatabase,
  scope: Scope,
  { id, limit }: { readonly id?: string; readonly limit: number },
): Promise<RecallReceipt[]> {
  const rows =
    id === undefined
      ? await fetchUserRows(
          database,
          scope,
          "SELECT body FROM recalls WHERE person = $1 ORDER BY number DESC LIMIT $2",
          limit,
        )
      : await fetchUserRows(
          database,
          scope,
          "SELECT body FROM recalls WHERE person = $1 AND id = $2",
          toIndexKey(id),
        );
  return rows.map(parseBody<RecallReceipt>);
}
