import type { BackupNote } from "../../domain/backup.ts";
import type { Scope } from "../../domain/scope.ts";
import type { Trace } from "../../domain/trace.ts";
import type { ErasureMark, Touched } from "../../ports/record.ts";
import type { Database } from "./database.ts";
import { answersHeld } from "./kept-answers.ts";
import { bodyOf, numberOf } from "./rows.ts";

export function erasureMarks(database: Database): ErasureMark[] {
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
export function traces(database: Database, scope?: Scope): Trace[] {
  const user = scope ? numberOf(database, scope) : null;
  return database
    .statement(
      "SELECT trace AS body FROM erasures WHERE trace IS NOT NULL AND (:user IS NULL OR user = :user) ORDER BY number",
    )
    .all({ user })
    .map(bodyOf<Trace>);
}

export function touched(database: Database, scope: Scope, memories: readonly string[]): Touched {
  const values = { user: numberOf(database, scope), ids: JSON.stringify(memories) };
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
      answersHeld(database, scope).length +
      count(
        "SELECT count(DISTINCT receipts.key) AS found FROM receipts, json_each(receipts.body, '$.memories') AS line " +
          `WHERE user = :user AND line.value ->> '$.id' IN ${ids}`,
      ),
  };
}

export function identity(database: Database): string {
  return String(database.statement("SELECT id FROM identity").get()?.id ?? "");
}

export function backups(database: Database): BackupNote[] {
  return database
    .statement("SELECT body FROM backups ORDER BY number")
    .all()
    .map(bodyOf<BackupNote>);
}

export function noteBackup(database: Database, note: BackupNote): void {
  database.transaction(() => {
    database
      .statement(
        "INSERT INTO backups (name, body) VALUES (:name, :body) ON CONFLICT (name) DO UPDATE SET body = excluded.body",
      )
      .run({ name: note.name, body: JSON.stringify(note) });
  });
}
