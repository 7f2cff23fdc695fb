import type { JobName, JobNote, Visit, VisitFailure } from "../../domain/job.ts";
import type { Memory } from "../../domain/memory.ts";
import type { RecallReceipt } from "../../domain/recall-receipt.ts";
import type { Scope } from "../../domain/scope.ts";
import type {
  CurrentPage,
  FailedVisit,
  NewVisit,
  VisitPage,
  WaitingUser,
} from "../../ports/house-keeping.ts";
import { bodyOf } from "../shared/stored-body.ts";
import { NEWEST } from "./by-id.ts";
import { type Database, EVERYBODY } from "./database.ts";
import { keyOf, readText, textOf } from "./names.ts";
import type { Row } from "./pool.ts";
import { everybodys, rowsOf } from "./read.ts";
import { keysOf, PERSON, reachOf, scopeOf } from "./rows.ts";
import { statement } from "./statement.ts";

const WAITING =
  "SELECT project, name, long_names, waiting.messages FROM (SELECT person, count(*) AS messages FROM messages " +
  "WHERE is_waiting AND stored_at < $1 GROUP BY person ORDER BY person LIMIT $2) AS waiting " +
  "JOIN users ON users.number = waiting.person ORDER BY users.number";

/** Users whose messages wait for an extractor; the index holds those messages and no others. */
export async function usersWaiting(
  database: Database,
  storedBefore: string,
  limit: number,
): Promise<WaitingUser[]> {
  const rows = await everybodys(database, statement(WAITING, storedBefore, limit));
  return rows.map((row) => ({ scope: scopeOf(row), messages: Number(row.messages) }));
}

const VISIT = "visits.revision AS seen, due, found, failed";
const VISITS =
  `SELECT users.number, users.project, name, long_names, users.revision, ${VISIT} FROM users ` +
  "LEFT JOIN visits ON visits.person = users.number AND visits.job = $1 WHERE users.number > $2 ORDER BY users.number LIMIT $3";

/** A page of all users, and what a job noted of each. The cursor is the number of the last one. */
export async function visits(
  database: Database,
  job: JobName,
  { after = "0", limit }: { readonly after?: string; readonly limit: number },
): Promise<VisitPage> {
  // One more than asked for tells whether there is another page.
  const rows = await everybodys(database, statement(VISITS, textOf(job), Number(after), limit + 1));
  const page = rows.slice(0, limit);
  const users = page.map((row) => ({
    scope: scopeOf(row),
    revision: Number(row.revision),
    ...(row.seen === null ? {} : { visit: visitOf(row) }),
  }));
  const cursor = rows.length > limit ? page.at(-1)?.number : undefined;
  return { users, ...(cursor ? { cursor } : {}) };
}

/** What a job noted of one user. */
export async function visit(database: Database, job: JobName, scope: Scope): Promise<Visit | undefined> {
  const sql = `SELECT ${VISIT} FROM visits WHERE person = $1 AND job = $2`;
  const [row] = await rowsOf(database, scope, sql, textOf(job));
  return row && visitOf(row);
}

/** A visit of a row, whose revision is called `seen`. */
export function visitOf({ seen, due, found, failed }: Row): Visit {
  return {
    revision: Number(seen),
    ...(due === null || due === undefined ? {} : { due }),
    ...(found === null ? {} : { found: Number(found) }),
    ...(failed === null ? {} : { failed: bodyOf<VisitFailure>({ body: failed }) }),
  };
}

const NOTE =
  "INSERT INTO visits (person, project, job, revision, due, found, failed) SELECT number, project, $3, $4, $5, $6, $7 FROM users " +
  "WHERE project = $1 AND name = $2 AND revision > 0 " +
  "ON CONFLICT (person, job) DO UPDATE SET revision = excluded.revision, due = excluded.due, found = excluded.found, " +
  "failed = excluded.failed";

export async function noteVisits(
  database: Database,
  job: JobName,
  visits: readonly NewVisit[],
): Promise<void> {
  // In one order, so that two servers that note the same users follow each other.
  const ordered = visits
    .map(({ scope, visit }, place) => ({ keys: keysOf(scope), visit, place }))
    .sort((one, other) => compare(one.keys, other.keys) || one.place - other.place);
  await database.write(EVERYBODY, async (transaction) => {
    for (const { keys, visit } of ordered) {
      const { revision, due = null, found = null, failed } = visit;
      const failure = failed ? JSON.stringify(failed) : null;
      transaction.later(NOTE, ...keys, textOf(job), revision, due, found, failure);
    }
  });
}

function compare(one: readonly string[], other: readonly string[]): number {
  const [left, right] = [JSON.stringify(one), JSON.stringify(other)];
  return left < right ? -1 : Number(left > right);
}

const FAILED =
  `SELECT users.project, name, long_names, users.revision, job, ${VISIT} FROM visits JOIN users ON users.number = visits.person ` +
  "WHERE failed IS NOT NULL AND (failed::json ->> 'attempts')::bigint >= $1 " +
  "ORDER BY failed::json ->> 'at' DESC, users.number, job LIMIT $2";

export async function failedVisits(
  database: Database,
  { attempts, limit }: { readonly attempts: number; readonly limit: number },
): Promise<FailedVisit[]> {
  const rows = await everybodys(database, statement(FAILED, attempts, limit));
  return rows.map((row) => ({
    scope: scopeOf(row),
    job: readText(row.job) as JobName,
    revision: Number(row.revision),
    visit: visitOf(row),
  }));
}

const CURRENT =
  `SELECT newest.body FROM ${NEWEST} WHERE heads.person = $1 AND heads.number > $2 ` +
  "AND is_current ORDER BY heads.number LIMIT $3";

/** A page of the memories that are current, as of one moment with the revision. */
export function currentMemories(
  database: Database,
  scope: Scope,
  { after, limit }: { readonly after?: string; readonly limit: number },
): Promise<CurrentPage> {
  return database.read(reachOf(scope), async (transaction) => {
    const [user] = await transaction.rows(PERSON, ...keysOf(scope));
    const revision = Number(user?.revision ?? 0);
    if (!user) return { revision, memories: [], more: false };
    const person = Number(user.number);
    const place = "SELECT number FROM heads WHERE person = $1 AND id = $2";
    const [last] =
      after === undefined ? [{ number: "0" }] : await transaction.rows(place, person, keyOf(after));
    if (!last) return { revision, memories: [], more: false };
    const rows = await transaction.rows(CURRENT, person, Number(last.number), limit + 1);
    return { revision, memories: rows.slice(0, limit).map(bodyOf<Memory>), more: rows.length > limit };
  });
}

/** Those of some memories that are among the items of a kept receipt of a recall. */
export async function recalled(
  database: Database,
  scope: Scope,
  memories: readonly string[],
): Promise<string[]> {
  const rows = await rowsOf(database, scope, "SELECT body FROM recalls WHERE person = $1");
  const given = new Set(rows.flatMap((row) => bodyOf<RecallReceipt>(row).items.map(({ id }) => id)));
  return [...new Set(memories)].filter((id) => given.has(id));
}

export async function jobs(database: Database): Promise<JobNote[]> {
  return (await everybodys(database, statement("SELECT body FROM jobs"))).map(bodyOf<JobNote>);
}

export async function noteJob(database: Database, note: JobNote): Promise<void> {
  await database.write(EVERYBODY, async (transaction) => {
    transaction.later(
      "INSERT INTO jobs (name, body) VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET body = excluded.body",
      textOf(note.name),
      JSON.stringify(note),
    );
  });
}
