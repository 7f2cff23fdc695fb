import { createHash, randomUUID } from "node:crypto";
import { hostname } from "node:os";
import type { Memory } from "../../../domain/memory.ts";
import type { Message } from "../../../domain/message.ts";
import type { JobFailure, JobName, JobProgress, JobRun } from "../../../domain/operations/job.ts";
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
import { findUser, parseBody, type SqliteDatabase, type SqliteRow } from "../database.ts";
import { IS_WAITING } from "../migrations/0008-jobs.ts";

/** Users whose messages await extraction. The index contains only those messages. */
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

/** A page of all users with a job's progress for each. The cursor is the number of the last user. */
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

/** A job's progress for one user. */
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
  const upsert = database.statement(
    "INSERT OR REPLACE INTO visits (user, job, revision, due, found, failed) " +
      "VALUES (:user, :job, :revision, :due, :found, :failed)",
  );
  database.transaction(() => {
    for (const { scope, visit } of visits) {
      const user = findUser(database, scope);
      if (!user || user.revision === 0) continue;
      const { revision, due = null, found = null } = visit;
      const failed = visit.failed === undefined ? null : JSON.stringify(visit.failed);
      upsert.run({ user: user.id, job, revision, due, found, failed });
    }
  });
}

/** Progress with at least this many failed attempts, newest first. The index contains only failed progress. */
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

/** A page of the current memories, in one read transaction with the revision. */
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

/** Numbers examined per query for a page of memories; nearly all are current. */
const NUMBERS_PER_QUERY = 400;

/**
 * Up to `wanted` rows of current memories after a number. The numbers come first, from an index alone. With both in one statement,
 * SQLite would scan all versions of the user for each page, which takes a tenth of a second for 100,000.
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
    const candidates = numbers
      .all({ user, last, most: NUMBERS_PER_QUERY })
      .map(({ number }) => Number(number));
    rows.push(...current.all({ numbers: JSON.stringify(candidates), most: wanted - rows.length }));
    if (candidates.length < NUMBERS_PER_QUERY) break;
    last = candidates.at(-1) ?? last;
  }
  return rows;
}

function findHeadNumber(database: SqliteDatabase, user: number, id: string): number | undefined {
  const row = database
    .statement("SELECT number FROM heads WHERE user = :user AND id = :id")
    .get({ user, id });
  return row && Number(row.number);
}

/** Those of the given memories that a stored recall receipt contains. */
export function readRecalledIds(
  database: SqliteDatabase,
  scope: Scope,
  memories: readonly string[],
): string[] {
  const user = findUser(database, scope)?.id ?? -1;
  const recalledIds = new Set(
    database
      .statement(
        "SELECT DISTINCT json_extract(item.value, '$.id') AS id FROM recalls, json_each(body, '$.items') AS item " +
          "WHERE user = :user",
      )
      .all({ user })
      .map(({ id }) => String(id)),
  );
  return [...new Set(memories)].filter((id) => recalledIds.has(id));
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

/** Part of each token, which identifies its owner: the machine, by a hash of its name, and the process. */
const MACHINE_ID = createHash("sha256").update(hostname()).digest("hex").slice(0, 12);

/**
 * Whether the process that took a lease is known to be gone, so that others need not wait until it expires. If the process id was
 * reused, or belongs to another machine, the process counts as alive.
 */
function isOrphan(token: unknown): boolean {
  const [machine, pid] = String(token).split(".");
  if (machine !== MACHINE_ID || !/^[1-9]\d*$/.test(pid ?? "")) return false;
  try {
    process.kill(Number(pid), 0);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "ESRCH";
  }
}

/**
 * No lease or rest lasts longer, in ms. A longer one was written before the clock was set back. It is dropped, because otherwise
 * it would block until the clock catches up.
 */
const LONGEST_MS = 2 * 24 * 60 * 60 * 1000;

/**
 * Takes a lease, by this machine's clock: all users of the file share the machine. It also deletes expired leases and those of
 * killed processes.
 */
export function acquireLocalLease(
  database: SqliteDatabase,
  name: string,
  { forMs, isUrgent = false }: { readonly forMs: number; readonly isUrgent?: boolean },
): LeaseResult {
  const find = database.statement(
    "SELECT token, until FROM leases WHERE name = :name AND until > :now AND until <= :latest",
  );
  const drop = database.statement(
    "DELETE FROM leases WHERE until <= :now OR until > :latest OR (name = :name AND (token IS NULL OR token = :orphan))",
  );
  const take = database.statement("INSERT INTO leases (name, token, until) VALUES (:name, :token, :until)");
  let orphan: string | null = null;
  const refusal = (now: number): LeaseResult | undefined => {
    const current = find.get({ name, now, latest: now + LONGEST_MS });
    if (!current || (current.token === null && isUrgent)) return undefined;
    if (current.token !== null && isOrphan(current.token)) {
      orphan = String(current.token);
      return undefined;
    }
    return { refused: current.token === null ? "resting" : "held", waitMs: Number(current.until) - now };
  };
  // Checked first without a write, because leases are requested often and mostly refused.
  const refused = refusal(Date.now());
  if (refused) return refused;
  return database.transaction(() => {
    const now = Date.now();
    const late = refusal(now);
    if (late) return late;
    const token = `${MACHINE_ID}.${process.pid}.${randomUUID()}`;
    drop.run({ name, now, orphan, latest: now + LONGEST_MS });
    take.run({ name, token, until: now + forMs });
    return { token };
  });
}

export function renewLocalLease(
  database: SqliteDatabase,
  name: string,
  token: string,
  forMs: number,
): boolean {
  const renew = database.statement(
    "UPDATE leases SET until = :until WHERE name = :name AND token = :token AND until > :now",
  );
  const now = Date.now();
  return Number(renew.run({ name, token, now, until: now + forMs }).changes) > 0;
}

export function releaseLocalLease(
  database: SqliteDatabase,
  name: string,
  token: string,
  restMs: number,
): boolean {
  // With a rest of 0 ms, it expires at once, and is deleted when the next lease is taken.
  const release = database.statement(
    "UPDATE leases SET token = NULL, until = :until WHERE name = :name AND token = :token AND until > :now",
  );
  const now = Date.now();
  return Number(release.run({ name, token, now, until: now + restMs }).changes) > 0;
}

/** Users with units outside a space, in the order of their first write. */
export function readUsersWithStaleEmbeddings(
  database: SqliteDatabase,
  space: string,
  limit: number,
): UserWithStaleEmbeddings[] {
  const counts = new Map<number, number>();
  const count = database.statement(
    "SELECT user, count(*) AS units FROM units WHERE space = :space GROUP BY user ORDER BY user LIMIT :limit",
  );
  for (const other of listOtherSpaces(database, space)) {
    for (const { user, units } of count.all({ space: other, limit })) {
      counts.set(Number(user), (counts.get(Number(user)) ?? 0) + Number(units));
    }
  }
  return nameStaleUsers(database, counts, limit);
}

/** The first users by number, with their names. */
export function nameStaleUsers(
  database: SqliteDatabase,
  counts: ReadonlyMap<number, number>,
  limit: number,
): UserWithStaleEmbeddings[] {
  const selectUser = database.statement("SELECT project, name FROM users WHERE id = :user");
  return [...counts]
    .sort(([one], [other]) => one - other)
    .slice(0, limit)
    .map(([user, units]) => {
      const row = selectUser.get({ user });
      return { scope: { project: String(row?.project), user: String(row?.name) }, units };
    });
}

/** Some of a user's units outside a space, with their messages and memories, in one read transaction. */
export function readStaleUnits(
  database: SqliteDatabase,
  scope: Scope,
  space: string,
  limit: number,
): StaleUnits {
  const { handle } = database;
  handle.exec("BEGIN");
  try {
    const user = findUser(database, scope);
    const units = user ? readStaleRows(database, user.id, space, limit) : [];
    const bodies = <Body>(type: string, sql: string): Body[] =>
      [...new Set(units.filter((row) => row.type === type).map(({ owner }) => String(owner)))].flatMap(
        (id) => {
          const row = database.statement(sql).get({ user: user?.id ?? -1, id });
          return row ? [parseBody<Body>(row)] : [];
        },
      );
    return {
      revision: user?.revision ?? 0,
      units: units.map((row) => ({
        id: String(row.id),
        type: row.type === "memory" ? "memory" : "passage",
        owner: String(row.owner),
        start: Number(row.first),
        end: Number(row.last),
        terms: String(row.terms),
        space: String(row.space),
      })),
      messages: bodies<Message>("passage", "SELECT body FROM messages WHERE user = :user AND id = :id"),
      memories: bodies<Memory>(
        "memory",
        "SELECT body FROM heads JOIN versions USING (user, id, version) WHERE heads.user = :user AND heads.id = :id",
      ),
    };
  } finally {
    handle.exec("COMMIT");
  }
}

/** The number of a user's units, and of those outside a space. Both come from indexes alone. */
export function countUnits(database: SqliteDatabase, scope: Scope, space: string): UnitCount {
  const user = findUser(database, scope)?.id;
  if (user === undefined) return { total: 0, stale: 0 };
  const all = database.statement("SELECT count(*) AS units FROM units WHERE user = :user").get({ user });
  const count = database.statement(
    "SELECT count(*) AS units FROM units WHERE space = :space AND user = :user",
  );
  let stale = 0;
  for (const other of listOtherSpaces(database, space))
    stale += Number(count.get({ space: other, user })?.units);
  return { total: Number(all?.units), stale };
}

function readStaleRows(database: SqliteDatabase, user: number, space: string, limit: number): SqliteRow[] {
  const select = database.statement(
    "SELECT id, type, owner, first, last, terms, space FROM units " +
      "WHERE space = :space AND user = :user ORDER BY number LIMIT :limit",
  );
  const rows: SqliteRow[] = [];
  for (const other of listOtherSpaces(database, space)) {
    if (rows.length >= limit) break;
    rows.push(...(select.all({ space: other, user, limit: limit - rows.length }) as SqliteRow[]));
  }
  return rows;
}

/** The few existing spaces except the given one, each found by one index lookup. */
export function listOtherSpaces(database: SqliteDatabase, space: string): string[] {
  const next = database.statement("SELECT min(space) AS space FROM units WHERE space > :last");
  const first = database.statement("SELECT min(space) AS space FROM units").get();
  const spaces: string[] = [];
  for (let found = first?.space; typeof found === "string"; found = next.get({ last: found })?.space) {
    if (found !== space) spaces.push(found);
  }
  return spaces;
}
