import type { JobFailure, JobName, JobProgress, JobRun } from "../../domain/job.ts";
import type { Memory } from "../../domain/memory.ts";
import type { Scope } from "../../domain/scope.ts";
import type {
  CurrentMemoryPage,
  FailedJobProgress,
  JobProgressPage,
  NewJobProgress,
  UserWithPendingMessages,
} from "../../ports/house-keeping.ts";
import type { SqliteDatabase, SqliteRow } from "./database.ts";
import { IS_WAITING } from "./migrations/0008-jobs.ts";
import { findUser, parseBody } from "./rows.ts";

/** Users whose messages wait for an extractor; the index holds those messages and no others. */
export function readUsersWithPendingMessages(
  database: SqliteDatabase,
  storedBefore: string,
  limit: number,
): UserWithPendingMessages[] {
  return database
    .statement(
      "SELECT project, name, count(*) AS messages FROM messages JOIN users ON users.id = messages.user " +
        `WHERE ${IS_WAITING} AND json_extract(body, '$.undone') IS NULL ` +
        "AND json_extract(body, '$.storedAt') < :storedBefore GROUP BY users.id ORDER BY users.id LIMIT :limit",
    )
    .all({ storedBefore, limit })
    .map((row) => ({ scope: toScope(row), messages: Number(row.messages) }));
}

/** A page of all users, and what a job noted of each. The cursor is the number of the last one. */
export function readJobProgressPage(
  database: SqliteDatabase,
  job: JobName,
  { after = "0", limit }: { readonly after?: string; readonly limit: number },
): JobProgressPage {
  const rows = database
    .statement(
      "SELECT users.id, project, name, users.revision, visits.revision AS seen, due, found, failed FROM users " +
        "LEFT JOIN visits ON visits.user = users.id AND visits.job = :job " +
        "WHERE users.id > :after ORDER BY users.id LIMIT :limit",
    )
    .all({ job, after: Number(after), limit });
  const users = rows.map((row) => ({
    scope: toScope(row),
    revision: Number(row.revision),
    ...(row.seen === null ? {} : { visit: toJobProgress(row) }),
  }));
  const last = rows.at(-1)?.id;
  const isMore =
    rows.length === limit &&
    database.statement("SELECT 1 FROM users WHERE id > :last").get({ last: Number(last) }) !== undefined;
  return { users, ...(isMore ? { cursor: String(last) } : {}) };
}

export function toJobProgress({ seen, due, found, failed }: SqliteRow): JobProgress {
  return {
    revision: Number(seen),
    ...(due === null ? {} : { due: String(due) }),
    ...(found === null ? {} : { found: Number(found) }),
    ...(failed === null ? {} : { failed: JSON.parse(String(failed)) as JobFailure }),
  };
}

/** What a job noted of one user. */
export function readJobProgress(
  database: SqliteDatabase,
  job: JobName,
  scope: Scope,
): JobProgress | undefined {
  const user = findUser(database, scope);
  const row =
    user &&
    database
      .statement("SELECT revision AS seen, due, found, failed FROM visits WHERE user = :user AND job = :job")
      .get({ user: user.id, job });
  return row && toJobProgress(row);
}

function toScope({ project, name }: SqliteRow): Scope {
  return { project: String(project), user: String(name) };
}

export function saveJobProgress(
  database: SqliteDatabase,
  job: JobName,
  visits: readonly NewJobProgress[],
): void {
  const note = database.statement(
    "INSERT OR REPLACE INTO visits (user, job, revision, due, found, failed) " +
      "VALUES (:user, :job, :revision, :due, :found, :failed)",
  );
  database.transaction(() => {
    for (const { scope, visit } of visits) {
      const user = findUser(database, scope);
      if (!user || user.revision === 0) continue;
      const { revision, due = null, found = null } = visit;
      const failed = visit.failed === undefined ? null : JSON.stringify(visit.failed);
      note.run({ user: user.id, job, revision, due, found, failed });
    }
  });
}

/** What broke off at least so often, the last one first. The index holds those that broke off and no others. */
export function readFailedProgress(
  database: SqliteDatabase,
  { attempts, limit }: { readonly attempts: number; readonly limit: number },
): FailedJobProgress[] {
  return database
    .statement(
      "SELECT project, name, job, users.revision, visits.revision AS seen, due, found, failed FROM visits " +
        "JOIN users ON users.id = visits.user WHERE failed IS NOT NULL " +
        "AND json_extract(failed, '$.attempts') >= :attempts " +
        "ORDER BY json_extract(failed, '$.at') DESC, users.id, job LIMIT :limit",
    )
    .all({ attempts, limit })
    .map((row) => ({
      scope: toScope(row),
      job: String(row.job) as JobName,
      revision: Number(row.revision),
      visit: toJobProgress(row),
    }));
}

/** A page of the memories that are current, in one read transaction with the revision. */
export function readCurrentMemories(
  database: SqliteDatabase,
  scope: Scope,
  { after, limit }: { readonly after?: string; readonly limit: number },
): CurrentMemoryPage {
  const { handle } = database;
  handle.exec("BEGIN");
  try {
    const user = findUser(database, scope);
    const last = after === undefined ? 0 : user && findHeadNumber(database, user.id, after);
    if (!user || last === undefined) return { revision: user?.revision ?? 0, memories: [], more: false };
    const rows = readCurrentAfter(database, user.id, last, limit + 1);
    return {
      revision: user.revision,
      memories: rows.slice(0, limit).map(parseBody<Memory>),
      more: rows.length > limit,
    };
  } finally {
    handle.exec("COMMIT");
  }
}

/** Numbers that are looked at for one page of memories; nearly all are current. */
const NUMBERS_PER_QUERY = 400;

/**
 * So many rows of memories that are current, behind a number. The numbers come first, from an index alone: with both in one
 * statement SQLite goes through all versions of the user for each page, which takes a tenth of a second for 100,000.
 */
function readCurrentAfter(
  database: SqliteDatabase,
  user: number,
  after: number,
  wanted: number,
): SqliteRow[] {
  const numbers = database.statement(
    "SELECT number FROM heads WHERE user = :user AND number > :last ORDER BY number LIMIT :most",
  );
  const current = database.statement(
    "SELECT body FROM json_each(:numbers) AS wanted CROSS JOIN heads ON heads.number = wanted.value " +
      "CROSS JOIN versions ON versions.user = heads.user AND versions.id = heads.id AND versions.version = heads.version " +
      "WHERE json_extract(body, '$.status') = 'current' ORDER BY wanted.key LIMIT :most",
  );
  const rows: SqliteRow[] = [];
  let last = after;
  while (rows.length < wanted) {
    const some = numbers.all({ user, last, most: NUMBERS_PER_QUERY }).map(({ number }) => Number(number));
    rows.push(...current.all({ numbers: JSON.stringify(some), most: wanted - rows.length }));
    if (some.length < NUMBERS_PER_QUERY) break;
    last = some.at(-1) ?? last;
  }
  return rows;
}

function findHeadNumber(database: SqliteDatabase, user: number, id: string): number | undefined {
  const row = database
    .statement("SELECT number FROM heads WHERE user = :user AND id = :id")
    .get({ user, id });
  return row && Number(row.number);
}

/** Those of some memories that are among the items of a kept receipt of a recall. */
export function readRecalledIds(
  database: SqliteDatabase,
  scope: Scope,
  memories: readonly string[],
): string[] {
  const user = findUser(database, scope)?.id ?? -1;
  const given = new Set(
    database
      .statement(
        "SELECT DISTINCT json_extract(item.value, '$.id') AS id FROM recalls, json_each(body, '$.items') AS item " +
          "WHERE user = :user",
      )
      .all({ user })
      .map(({ id }) => String(id)),
  );
  return [...new Set(memories)].filter((id) => given.has(id));
}

export function readJobNotes(database: SqliteDatabase): JobRun[] {
  return database
    .statement("SELECT body FROM jobs")
    .all({})
    .map(parseBody<JobRun>);
}

export function saveJobNote(database: SqliteDatabase, note: JobRun): void {
  database
    .statement("INSERT OR REPLACE INTO jobs (name, body) VALUES (:name, :body)")
    .run({ name: note.name, body: JSON.stringify(note) });
}
