import { randomUUID } from "node:crypto";
import type { Memory } from "../../../domain/memory.ts";
import type { Message } from "../../../domain/message.ts";
import type { JobFailure, JobName, JobProgress, JobRun } from "../../../domain/operations/job.ts";
import type { RecallReceipt } from "../../../domain/recall.ts";
import type { Scope } from "../../../domain/scope.ts";
import type { StaleUnits, UnitCount, UserWithStaleEmbeddings } from "../../../ports/memory-store.ts";
import type {
  CurrentMemoryPage,
  FailedJobProgress,
  JobProgressPage,
  LeaseResult,
  NewJobProgress,
  UserWithPendingMessages,
} from "../../../ports/stores/job-store.ts";
import { compareStrings } from "../../shared/change-rules.ts";
import { parseBody } from "../../shared/stored-rows.ts";
import type { PostgresTransaction, Row, SqlStatement } from "../database/connection.ts";
import { ALL_PROJECTS, type PostgresDatabase } from "../database/database.ts";
import { NEWEST_VERSIONS } from "../database/recall-statements.ts";
import {
  bindUser,
  decodeText,
  encodeText,
  findAssignedNumber,
  parseScope,
  SELECT_USER,
  toAccessScope,
  toIndexKey,
  toScopeKeys,
} from "../database/user-rows.ts";
import { fetchRowsOfAllProjects, fetchUserRows, parseUnitWithoutVector } from "../read.ts";

const SELECT_WAITING_USERS =
  "SELECT project, name, long_names, waiting.messages FROM (SELECT person, count(*) AS messages FROM messages " +
  "WHERE is_waiting AND stored_at < $1 GROUP BY person ORDER BY person LIMIT $2) AS waiting " +
  "JOIN users ON users.number = waiting.person ORDER BY users.number";

/** Users whose messages await extraction. The index contains only those messages. */
export async function fetchUsersWithPendingMessages(
  database: PostgresDatabase,
  storedBefore: string,
  limit: number,
): Promise<UserWithPendingMessages[]> {
  const rows = await fetchRowsOfAllProjects(database, SELECT_WAITING_USERS, storedBefore, limit);
  return rows.map((row) => ({ scope: parseScope(row), messages: Number(row.messages) }));
}

const PROGRESS_COLUMNS = "visits.revision AS seen, due, found, failed";
const SELECT_PROGRESS =
  `SELECT users.number, users.project, name, long_names, users.revision, ${PROGRESS_COLUMNS} FROM users ` +
  "LEFT JOIN visits ON visits.person = users.number AND visits.job = $1 WHERE users.number > $2 ORDER BY users.number LIMIT $3";

/** A page of all users with a job's progress for each. The cursor is the number of the last user. */
export async function fetchJobProgressPage(
  database: PostgresDatabase,
  job: JobName,
  { after = "0", limit }: { readonly after?: string; readonly limit: number },
): Promise<JobProgressPage> {
  // One extra row shows whether there is another page.
  const rows = await fetchRowsOfAllProjects(
    database,
    SELECT_PROGRESS,
    encodeText(job),
    Number(after),
    limit + 1,
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

/** A job's progress for one user. */
export async function fetchJobProgress(
  database: PostgresDatabase,
  job: JobName,
  scope: Scope,
): Promise<JobProgress | undefined> {
  const sql = `SELECT ${PROGRESS_COLUMNS} FROM visits WHERE person = $1 AND job = $2`;
  const [row] = await fetchUserRows(database, scope, sql, encodeText(job));
  return row && parseJobProgress(row);
}

/** Parses the progress in a row, whose revision column is `seen`. */
export function parseJobProgress({ seen, due, found, failed }: Row): JobProgress {
  return {
    revision: Number(seen),
    ...(due === null || due === undefined ? {} : { due }),
    ...(found === null ? {} : { found: Number(found) }),
    ...(failed === null ? {} : { failed: parseBody<JobFailure>({ body: failed }) }),
  };
}

const INSERT_PROGRESS =
  "INSERT INTO visits (person, project, job, revision, due, found, failed) SELECT number, project, $3, $4, $5, $6, $7 FROM users " +
  "WHERE project = $1 AND name = $2 AND revision > 0";
const REPLACE_PROGRESS =
  " ON CONFLICT (person, job) DO UPDATE SET revision = excluded.revision, due = excluded.due, found = excluded.found, " +
  "failed = excluded.failed";
const UPSERT_PROGRESS = INSERT_PROGRESS + REPLACE_PROGRESS;
/** On Citus, the user's number tells which node stores the row. */
const UPSERT_DISTRIBUTED_PROGRESS = `${INSERT_PROGRESS} AND number = $8${REPLACE_PROGRESS}`;

export async function storeJobProgress(
  database: PostgresDatabase,
  job: JobName,
  visits: readonly NewJobProgress[],
): Promise<void> {
  // In a fixed order, so that two servers that save the same users do not deadlock.
  const ordered = visits
    .map(({ scope, visit }, place) => ({ scope, keys: toScopeKeys(scope), visit, place }))
    .sort((one, other) => compareKeys(one.keys, other.keys) || one.place - other.place);
  const { isDistributed } = database.settings;
  const statements: SqlStatement[] = [];
  for (const { scope, keys, visit } of ordered) {
    const { revision, due = null, found = null, failed } = visit;
    const failure = failed ? JSON.stringify(failed) : null;
    const values = [...keys, encodeText(job), revision, due, found, failure];
    statements.push(
      isDistributed
        ? {
            sql: UPSERT_DISTRIBUTED_PROGRESS,
            values: [...values, await findAssignedNumber(database, scope)],
          }
        : { sql: UPSERT_PROGRESS, values },
    );
  }
  await database.write(ALL_PROJECTS, async (transaction) => {
    for (const { sql, values } of statements) transaction.queue(sql, ...values);
  });
}

function compareKeys(one: readonly string[], other: readonly string[]): number {
  return compareStrings(JSON.stringify(one), JSON.stringify(other));
}

const SELECT_FAILED_PROGRESS =
  `SELECT users.project, name, long_names, users.revision, job, ${PROGRESS_COLUMNS} FROM visits JOIN users ON users.number = visits.person ` +
  "WHERE failed IS NOT NULL AND (failed::json ->> 'attempts')::bigint >= $1 " +
  "ORDER BY failed::json ->> 'at' DESC, users.number, job LIMIT $2";

export async function fetchFailedProgress(
  database: PostgresDatabase,
  { attempts, limit }: { readonly attempts: number; readonly limit: number },
): Promise<FailedJobProgress[]> {
  const rows = await fetchRowsOfAllProjects(database, SELECT_FAILED_PROGRESS, attempts, limit);
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

/** A page of the current memories, in one snapshot with the revision. */
export async function fetchCurrentMemories(
  database: PostgresDatabase,
  scope: Scope,
  { after, limit }: { readonly after?: string; readonly limit: number },
): Promise<CurrentMemoryPage> {
  const selectUser = await bindUser(database, scope, SELECT_USER);
  return database.read(toAccessScope(scope), async (transaction) => {
    const [[user] = []] = await transaction.queryAll(selectUser);
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

/** Those of the given memories that a stored recall receipt contains. */
export async function fetchRecalledIds(
  database: PostgresDatabase,
  scope: Scope,
  memories: readonly string[],
): Promise<string[]> {
  const rows = await fetchUserRows(database, scope, "SELECT body FROM recalls WHERE person = $1");
  const recalledIds = new Set(rows.flatMap((row) => parseBody<RecallReceipt>(row).items.map(({ id }) => id)));
  return [...new Set(memories)].filter((id) => recalledIds.has(id));
}

export async function fetchJobNotes(database: PostgresDatabase): Promise<JobRun[]> {
  return (await fetchRowsOfAllProjects(database, "SELECT body FROM jobs")).map(parseBody<JobRun>);
}

export async function storeJobNote(database: PostgresDatabase, note: JobRun): Promise<void> {
  await database.execute(
    ALL_PROJECTS,
    "INSERT INTO jobs (name, body) VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET body = excluded.body",
    encodeText(note.name),
    JSON.stringify(note),
  );
}

// By the clock of the database server, which all servers share, in ms.
const NOW_MS = "(extract(epoch FROM clock_timestamp()) * 1000)::bigint";
const SELECT_LEASE = `SELECT token, until - ${NOW_MS} AS wait FROM leases WHERE name = $1 AND until > ${NOW_MS}`;
// If several ask at once, one inserts and the others find its row. An expired or resting lease is overwritten where allowed.
const UPSERT_LEASE =
  `INSERT INTO leases (name, token, until) VALUES ($1, $2, ${NOW_MS} + $3) ON CONFLICT (name) DO UPDATE ` +
  `SET token = excluded.token, until = ${NOW_MS} + $3 ` +
  `WHERE leases.until <= ${NOW_MS} OR (leases.token IS NULL AND $4) OR leases.token = $2 RETURNING 1`;

/** Takes a lease; expired leases are overwritten. */
export async function acquireServerLease(
  database: PostgresDatabase,
  name: string,
  { forMs, isUrgent = false }: { readonly forMs: number; readonly isUrgent?: boolean },
): Promise<LeaseResult> {
  // Checked first without a write, because leases are requested often and mostly refused.
  const [current] = await fetchRowsOfAllProjects(database, SELECT_LEASE, encodeText(name));
  if (current && !(current.token === null && isUrgent)) return toLeaseRefusal(current);
  const token = randomUUID();
  return database.write(ALL_PROJECTS, async (transaction) => {
    const taken = await transaction.query(UPSERT_LEASE, encodeText(name), token, forMs, isUrgent);
    if (taken.length > 0) return { token };
    const [late] = await transaction.query(SELECT_LEASE, encodeText(name));
    return toLeaseRefusal(late ?? { token: "", wait: "1" });
  });
}

function toLeaseRefusal({ token, wait }: { readonly [column: string]: string | null }): LeaseResult {
  return { refused: token === null ? "resting" : "held", waitMs: Math.max(1, Number(wait)) };
}

export function renewServerLease(
  database: PostgresDatabase,
  name: string,
  token: string,
  forMs: number,
): Promise<boolean> {
  return updateLease(
    database,
    `UPDATE leases SET until = ${NOW_MS} + $3 WHERE ${OWN_LEASE} RETURNING 1`,
    name,
    token,
    forMs,
  );
}

/** Releases a lease. With a rest of 0 ms, it expires at once. */
export function releaseServerLease(
  database: PostgresDatabase,
  name: string,
  token: string,
  restMs: number,
): Promise<boolean> {
  const sql = `UPDATE leases SET token = NULL, until = ${NOW_MS} + $3 WHERE ${OWN_LEASE} RETURNING 1`;
  return updateLease(database, sql, name, token, restMs);
}

const OWN_LEASE = `name = $1 AND token = $2 AND until > ${NOW_MS}`;

function updateLease(
  database: PostgresDatabase,
  sql: string,
  ...[name, token, ms]: [name: string, token: string, ms: number]
): Promise<boolean> {
  return database.write(ALL_PROJECTS, async (transaction) => {
    return (await transaction.query(sql, encodeText(name), token, ms)).length > 0;
  });
}

// The few existing spaces, each found by one index lookup.
const SELECT_OTHER_SPACES =
  "WITH RECURSIVE spaces (space) AS ((SELECT space FROM units ORDER BY space LIMIT 1) UNION ALL " +
  "SELECT (SELECT units.space FROM units WHERE units.space > spaces.space ORDER BY units.space LIMIT 1) " +
  "FROM spaces WHERE spaces.space IS NOT NULL) SELECT space FROM spaces WHERE space <> $1";
/** Citus runs no recursive query over several nodes. So each space is looked up by a statement, in the index of each shard. */
const SELECT_FIRST_SPACE = "SELECT space FROM units ORDER BY space LIMIT 1";
const SELECT_NEXT_SPACE = "SELECT space FROM units WHERE space > $1 ORDER BY space LIMIT 1";
const SELECT_STALE_USERS =
  "SELECT project, name, long_names, outside.units FROM (SELECT person, count(*) AS units FROM units " +
  "WHERE space = ANY ($1) GROUP BY person ORDER BY person LIMIT $2) AS outside " +
  "JOIN users ON users.number = outside.person ORDER BY users.number";

/** Users with units outside a space, in the order of their first write. */
export async function fetchUsersWithStaleEmbeddings(
  database: PostgresDatabase,
  space: string,
  limit: number,
): Promise<UserWithStaleEmbeddings[]> {
  const spaces = await fetchOtherSpaces(database, encodeText(space));
  if (spaces.length === 0) return [];
  const rows = await fetchRowsOfAllProjects(database, SELECT_STALE_USERS, spaces, limit);
  return rows.map((row) => ({ scope: parseScope(row), units: Number(row.units) }));
}

/**
 * The existing spaces but one, as they are stored. Usually there are none. In a single statement with what follows, the planner
 * would not know how few they are.
 */
export async function fetchOtherSpaces(database: PostgresDatabase, space: string): Promise<string[]> {
  if (!database.settings.isDistributed) {
    return (await fetchRowsOfAllProjects(database, SELECT_OTHER_SPACES, space)).map(toSpace);
  }
  const spaces: string[] = [];
  let [next] = await fetchRowsOfAllProjects(database, SELECT_FIRST_SPACE);
  while (next) {
    spaces.push(toSpace(next));
    [next] = await fetchRowsOfAllProjects(database, SELECT_NEXT_SPACE, toSpace(next));
  }
  return spaces.filter((one) => one !== space);
}

function toSpace(row: Row): string {
  return String(row.space);
}

const SELECT_STALE_UNITS =
  "SELECT id, type, owner, long_names, first, last, space, terms FROM units " +
  "WHERE person = $1 AND space <> $2 ORDER BY number LIMIT $3";
const SELECT_OWNER_MESSAGES = "SELECT id, body FROM messages WHERE person = $1 AND id = ANY ($2)";
const SELECT_OWNER_MEMORIES = `SELECT heads.id, newest.body FROM ${NEWEST_VERSIONS} WHERE heads.person = $1 AND heads.id = ANY ($2)`;

/** Some of a user's units outside a space, with their messages and memories, in one snapshot. */
export async function fetchStaleUnits(
  database: PostgresDatabase,
  scope: Scope,
  space: string,
  limit: number,
): Promise<StaleUnits> {
  const selectUser = await bindUser(database, scope, SELECT_USER);
  return database.read(toAccessScope(scope), async (transaction) => {
    const [[user] = []] = await transaction.queryAll(selectUser);
    if (!user) return { revision: 0, units: [], messages: [], memories: [] };
    const person = Number(user.number);
    const units = await transaction.query(SELECT_STALE_UNITS, person, encodeText(space), limit);
    return {
      revision: Number(user.revision),
      units: units.map(parseUnitWithoutVector),
      messages: await fetchOwners<Message>(
        transaction,
        { sql: SELECT_OWNER_MESSAGES, person, type: "passage" },
        units,
      ),
      memories: await fetchOwners<Memory>(
        transaction,
        { sql: SELECT_OWNER_MEMORIES, person, type: "memory" },
        units,
      ),
    };
  });
}

const SELECT_UNIT_COUNT =
  "SELECT count(*) AS total, count(*) FILTER (WHERE space <> $2) AS stale FROM units WHERE person = $1";

/** The number of a user's units, and of those outside a space. */
export async function fetchUnitCount(
  database: PostgresDatabase,
  scope: Scope,
  space: string,
): Promise<UnitCount> {
  const selectUser = await bindUser(database, scope, SELECT_USER);
  return database.read(toAccessScope(scope), async (transaction) => {
    const [[user] = []] = await transaction.queryAll(selectUser);
    if (!user) return { total: 0, stale: 0 };
    const [row] = await transaction.query(SELECT_UNIT_COUNT, Number(user.number), encodeText(space));
    return { total: Number(row?.total), stale: Number(row?.stale) };
  });
}

async function fetchOwners<Body>(
  transaction: PostgresTransaction,
  { sql, person, type }: { readonly sql: string; readonly person: number; readonly type: string },
  units: readonly Row[],
): Promise<Body[]> {
  const keys = [...new Set(units.filter((row) => row.type === type).map(({ owner }) => owner))];
  if (keys.length === 0) return [];
  const rows = await transaction.query(sql, person, keys);
  const found = new Map(rows.map((row) => [row.id, row]));
  return keys.flatMap((key) => {
    const row = found.get(key ?? "");
    return row ? [parseBody<Body>(row)] : [];
  });
}
