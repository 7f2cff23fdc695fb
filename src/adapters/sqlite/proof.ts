import type { BackupNote } from "../../domain/backup.ts";
import type { Scope } from "../../domain/scope.ts";
import type { Trace } from "../../domain/trace.ts";
import type { DependentCounts, ErasureSummary } from "../../ports/record.ts";
import type { SqliteDatabase } from "./database.ts";
import { readStoredAnswers } from "./kept-answers.ts";
import { findUserId, parseBody } from "./rows.ts";

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

/** What erasures took, in the order in which they were made. */
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
