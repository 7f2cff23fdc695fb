import type { BackupNote } from "../../../domain/operations/backup.ts";
import { MAX_RECALL_RECEIPTS, type RecallReceipt } from "../../../domain/recall.ts";
import type { Trace } from "../../../domain/receipt.ts";
import type { Scope } from "../../../domain/scope.ts";
import type { DependentCounts, ErasureSummary, NewRecallReceipts } from "../../../ports/memory-store.ts";
import { findUser, findUserId, parseBody, type SqliteDatabase } from "../database.ts";
import { readStoredAnswers } from "./answer-cache.ts";

export function readErasureSummaries(database: SqliteDatabase): ErasureSummary[] {
  return database
    .statement(
      "SELECT erasures.id, project, name, body ->> '$.replays' AS replays, trace IS NOT NULL AS traced, " +
        "json_array_length(body, '$.verified') AS places, body ->> '$.complete' AS complete " +
        "FROM erasures JOIN users ON users.id = erasures.user ORDER BY number",
    )
    .all()
    .map(({ id, project, name, replays, traced, places, complete }) => ({
      receipt: String(id),
      project: String(project),
      user: String(name),
      ...(replays === null ? {} : { replays: String(replays) }),
      hasTrace: traced === 1,
      isVerified: Number(places) > 0,
      isComplete: complete === 1,
    }));
}

/** Traces of erasures, in the order of their creation. */
export function readTraces(database: SqliteDatabase, scope?: Scope): Trace[] {
  const user = scope ? findUserId(database, scope) : null;
  return database
    .statement(
      "SELECT trace AS body FROM erasures WHERE trace IS NOT NULL AND (:user IS NULL OR user = :user) ORDER BY number",
    )
    .all({ user })
    .map(parseBody<Trace>);
}

export function readTouchedCounts(
  database: SqliteDatabase,
  scope: Scope,
  memories: readonly string[],
): DependentCounts {
  const values = { user: findUserId(database, scope), ids: JSON.stringify(memories) };
  const count = (sql: string): number => Number(database.statement(sql).get(values)?.found ?? 0);
  const ids = "(SELECT value FROM json_each(:ids))";
  return {
    links: count(
      `SELECT count(*) AS found FROM links WHERE user = :user AND (source IN ${ids} OR target IN ${ids})`,
    ),
    blocks: Number(
      database.statement("SELECT count(*) AS found FROM blocks WHERE user = :user").get({ user: values.user })
        ?.found ?? 0,
    ),
    answers:
      readStoredAnswers(database, scope).length +
      count(
        "SELECT count(DISTINCT receipts.key) AS found FROM receipts, json_each(receipts.body, '$.memories') AS line " +
          `WHERE user = :user AND line.value ->> '$.id' IN ${ids}`,
      ),
  };
}

export function readIdentity(database: SqliteDatabase): string {
  return String(database.statement("SELECT id FROM identity").get()?.id ?? "");
}

export function readBackupNotes(database: SqliteDatabase): BackupNote[] {
  return database
    .statement("SELECT body FROM backups ORDER BY number")
    .all()
    .map(parseBody<BackupNote>);
}

export function saveBackupNote(database: SqliteDatabase, note: BackupNote): void {
  database.transaction(() => {
    database
      .statement(
        "INSERT INTO backups (name, body) VALUES (:name, :body) ON CONFLICT (name) DO UPDATE SET body = excluded.body",
      )
      .run({ name: note.name, body: JSON.stringify(note) });
  });
}

/** Saves recall receipts, and deletes all but the newest of each user. Users without data have none. */
export function saveRecallReceipts(database: SqliteDatabase, kept: readonly NewRecallReceipts[]): void {
  // One transaction: each waits for a disk write, and recalls of many users arrive together.
  database.transaction(() => {
    for (const { scope, receipts } of kept) {
      const user = findUser(database, scope)?.id;
      if (user !== undefined) saveUserReceipts(database, user, receipts);
    }
  });
}

function saveUserReceipts(database: SqliteDatabase, user: number, receipts: readonly RecallReceipt[]): void {
  const insert = database.statement(
    "INSERT OR REPLACE INTO recalls (user, id, body) VALUES (:user, :id, :body)",
  );
  for (const receipt of receipts) insert.run({ user, id: receipt.id, body: JSON.stringify(receipt) });
  database
    .statement(
      "DELETE FROM recalls WHERE user = :user AND number <= " +
        "(SELECT number FROM recalls WHERE user = :user ORDER BY number DESC LIMIT 1 OFFSET :most)",
    )
    .run({ user, most: MAX_RECALL_RECEIPTS });
}

/** Deletes all recall receipts of a user. */
export function deleteRecallReceipts(database: SqliteDatabase, scope: Scope): void {
  const user = findUser(database, scope)?.id;
  if (user === undefined) return;
  database.transaction(() => {
    database.statement("DELETE FROM recalls WHERE user = :user").run({ user });
  });
}

/** Recall receipts, newest first. */
export function readRecallReceipts(
  database: SqliteDatabase,
  scope: Scope,
  { id, limit }: { readonly id?: string; readonly limit: number },
): RecallReceipt[] {
  const user = findUser(database, scope)?.id ?? -1;
  const rows =
    id === undefined
      ? database
          .statement("SELECT body FROM recalls WHERE user = :user ORDER BY number DESC LIMIT :limit")
          .all({ user, limit })
      : database.statement("SELECT body FROM recalls WHERE user = :user AND id = :id").all({ user, id });
  return rows.map(parseBody<RecallReceipt>);
}
