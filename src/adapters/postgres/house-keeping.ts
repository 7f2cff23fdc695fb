import type { JobFailure, JobName, JobProgress, JobRun } from "../../domain/job.ts";
import type { Memory } from "../../domain/memory.ts";
import type { RecallReceipt } from "../../domain/recall-receipt.ts";
import type { Scope } from "../../domain/scope.ts";
import type {
  CurrentMemoryPage,
  FailedJobProgress,
  JobProgressPage,
  NewJobProgress,
  UserWithPendingMessages,
} from "../../ports/house-keeping.ts";
import { parseBody } from "../shared/stored-body.ts";
import { NEWEST_VERSIONS } from "./by-id.ts";
import { ALL_PROJECTS, type PostgresDatabase } from "./database.ts";
import { decodeText, encodeText, toIndexKey } from "./names.ts";
import type { Row } from "./pool.ts";
import { fetchRowsOfAllProjects, fetchUserRows } from "./read.ts";
import { parseScope, SELECT_USER, toAccessScope, toScopeKeys } from "./rows.ts";
import { createStatement } from "./statement.ts";

const SELECT_WAITING_USERS =
  "SELECT project, name, long_names, waiting.messages FROM (SELECT person, count(*) AS messages FROM messages " +
  "WHERE is_waiting AND stored_at < $1 GROUP BY person ORDER BY person LIMIT $2) AS waiting " +
  "JOIN users ON users.number = waiting.person ORDER BY users.number";

/** Users whose messages wait for an extractor; the index holds those messages and no others. */
export async function fetchUsersWithPendingMessages(
  database: PostgresDatabase,
  storedBefore: string,
  limit: number,
): Promise<UserWithPendingMessages[]> {
  const rows = await fetchRowsOfAllProjects(
    database,
    createStatement(SELECT_WAITING_USERS, storedBefore, limit),
  );
  return rows.map((row) => ({ scope: parseScope(row), messages: Number(row.messages) }));
}

const PROGRESS_COLUMNS = "visits.revision AS seen, due, found, failed";
const SELECT_PROGRESS =
  `SELECT users.number, users.project, name, long_names, users.revision, ${PROGRESS_COLUMNS} FROM users ` +
  "LEFT JOIN visits ON visits.person = users.number AND visits.job = $1 WHERE users.number > $2 ORDER BY users.number LIMIT $3";

/** A page of all users, and what a job noted of each. The cursor is the number of the last one. */
export async function fetchJobProgressPage(
  database: PostgresDatabase,
  job: JobName,
  { after = "0", limit }: { readonly after?: string; readonly limit: number },
): Promise<JobProgressPage> {
  // One more than asked for tells whether there is another page.
  const rows = await fetchRowsOfAllProjects(
    database,
    createStatement(SELECT_PROGRESS, encodeText(job), Number(after), limit + 1),
  );
  const page = rows.slice(0, limit);
  const users = page.map((row) => ({
    scope: parseScope(row),
    revision: Number(row.revision),
    ...(row.seen === null ? {} : { visit: parseJobProgress(row) }),
  }));
  const cursor = rows.length > limit ? page.at(-1)?.number : undefined;
  return { users, ...(cursor ? { cursor } : {}) };
}

/** What a job noted of one user. */
export async function fetchJobProgress(
  database: PostgresDatabase,
  job: JobName,
  scope: Scope,
): Promise<JobProgress | undefined> {
  const sql = `SELECT ${PROGRESS_COLUMNS} FROM visits WHERE person = $1 AND job = $2`;
  const [row] = await fetchUserRows(database, scope, sql, encodeText(job));
  return row && parseJobProgress(row);
}

/** A visit of a row, whose revision is called `seen`. */
export function parseJobProgress({ seen, due, found, failed }: Row): JobProgress {
  return {
    revision: Number(seen),
    ...(due === null || due === undefined ? {} : { due }),
    ...(found === null ? {} : { found: Number(found) }),
    ...(failed === null ? {} : { failed: parseBody<JobFailure>({ body: failed }) }),
  };
}

const UPSERT_PROGRESS =
  "INSERT INTO visits (person, project, job, revision, due, found, failed) SELECT number, project, $3, $4, $5, $6, $7 FROM users " +
  "WHERE project = $1 AND name = $2 AND revision > 0 " +
  "ON CONFLICT (person, job) DO UPDATE SET revision = excluded.revision, due = excluded.due, found = excluded.found, " +
  "failed = excluded.failed";

export async function storeJobProgress(
  database: PostgresDatabase,
  job: JobName,
  visits: readonly NewJobProgress[],
): Promise<void> {
  // In one order, so that two servers that note the same users follow each other.
  const ordered = visits
    .map(({ scope, visit }, place) => ({ keys: toScopeKeys(scope), visit, place }))
    .sort((one, other) => compareKeys(one.keys, other.keys) || one.place - other.place);
  await database.write(ALL_PROJECTS, async (transaction) => {
    for (const { keys, visit } of ordered) {
      const { revision, due = null, found = null, failed } = visit;
      const failure = failed ? JSON.stringify(failed) : null;
      transaction.queue(UPSERT_PROGRESS, ...keys, encodeText(job), revision, due, found, failure);
    }
  });
}

function compareKeys(one: readonly string[], other: readonly string[]): number {
  const [left, right] = [JSON.stringify(one), JSON.stringify(other)];
  return left < right ? -1 : Number(left > right);
}

const SELECT_FAILED_PROGRESS =
  `SELECT users.project, name, long_names, users.revision, job, ${PROGRESS_COLUMNS} FROM visits JOIN users ON users.number = visits.person ` +
  "WHERE failed IS NOT NULL AND (failed::json ->> 'attempts')::bigint >= $1 " +
  "ORDER BY failed::json ->> 'at' DESC, users.number, job LIMIT $2";

export async function fetchFailedProgress(
  database: PostgresDatabase,
  { attempts, limit }: { readonly attempts: number; readonly limit: number },
): Promise<FailedJobProgress[]> {
  const rows = await fetchRowsOfAllProjects(
    database,
    createStatement(SELECT_FAILED_PROGRESS, attempts, limit),
  );
  return rows.map((row) => ({
    scope: parseScope(row),
    job: decodeText(row.job) as JobName,
    revision: Number(row.revision),
    visit: parseJobProgress(row),
  }));
}

const SELECT_CURRENT_MEMORIES =
  `SELECT newest.body FROM ${NEWEST_VERSIONS} WHERE heads.person = $1 AND heads.number > $2 ` +
  "AND is_current ORDER BY heads.number LIMIT $3";

/** A page of the memories that are current, as of one moment with the revision. */
export function fetchCurrentMemories(
  database: PostgresDatabase,
  scope: Scope,
  { after, limit }: { readonly after?: string; readonly limit: number },
): Promise<CurrentMemoryPage> {
  return database.read(toAccessScope(scope), async (transaction) => {
    const [user] = await transaction.query(SELECT_USER, ...toScopeKeys(scope));
    const revision = Number(user?.revision ?? 0);
    if (!user) return { revision, memories: [], more: false };
    const person = Number(user.number);
    const place = "SELECT number FROM heads WHERE person = $1 AND id = $2";
    const [last] =
      after === undefined ? [{ number: "0" }] : await transaction.query(place, person, toIndexKey(after));
    if (!last) return { revision, memories: [], more: false };
    const rows = await transaction.query(SELECT_CURRENT_MEMORIES, person, Number(last.number), limit + 1);
    return { revision, memories: rows.slice(0, limit).map(parseBody<Memory>), more: rows.length > limit };
  });
}

/** Those of some memories that are among the items of a kept receipt of a recall. */
export async function fetchRecalledIds(
  database: PostgresDatabase,
  scope: Scope,
  memories: readonly string[],
): Promise<string[]> {
  const rows = await fetchUserRows(database, scope, "SELECT body FROM recalls WHERE person = $1");
  const given = new Set(rows.flatMap((row) => parseBody<RecallReceipt>(row).items.map(({ id }) => id)));
  return [...new Set(memories)].filter((id) => given.has(id));
}

export async function fetchJobNotes(database: PostgresDatabase): Promise<JobRun[]> {
  return (await fetchRowsOfAllProjects(database, createStatement("SELECT body FROM jobs"))).map(
    parseBody<JobRun>,
  );
}

export async function storeJobNote(database: PostgresDatabase, note: JobRun): Promise<void> {
  await database.write(ALL_PROJECTS, async (transaction) => {
    transaction.queue(
      "INSERT INTO jobs (name, body) VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET body = excluded.body",
      encodeText(note.name),
      JSON.stringify(note),
    );
  });
}
