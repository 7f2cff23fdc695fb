import { randomUUID } from "node:crypto";
import type { Memory } from "../../../domain/memory.ts";
import type { JobFailure, JobName, JobProgress, JobRun } from "../../../domain/operations/job.ts";
import type { RecallReceipt } from "../../../domain/recall.ts";
import type { Scope } from "../../../domain/scope.ts";
import type { JobStore, LeaseResult, Leases, NewJobProgress } from "../../../ports/stores/job-store.ts";
import { parseBody } from "../../shared/stored-rows.ts";
import type { MariadbDatabase, MariadbRow, MariadbTransaction } from "../database.ts";
import { insertMariadbRows } from "../database.ts";
import {
  findMariadbUser,
  parseMariadbScope,
  toMariadbKey,
  toMariadbScopeKeys,
  USER_NUMBER,
} from "../keys.ts";
import { NEWEST_MEMORIES } from "../read.ts";
import { toNoteRow } from "./receipts.ts";

const SELECT_WAITING =
  "SELECT project, name, long_names, waiting.messages FROM (SELECT person, COUNT(*) AS messages FROM messages " +
  "WHERE is_waiting = 1 AND stored_at < ? GROUP BY person ORDER BY person LIMIT ?) AS waiting " +
  "JOIN users ON users.number = waiting.person ORDER BY users.number";
const PROGRESS = "visits.revision AS seen, due, found, failed";
const SELECT_PROGRESS_PAGE =
  `SELECT users.number, project, name, long_names, users.revision, ${PROGRESS} FROM users ` +
  "LEFT JOIN visits ON visits.person = users.number AND visits.job = ? WHERE users.number > ? ORDER BY users.number LIMIT ?";
const SELECT_FAILED =
  `SELECT project, name, long_names, users.revision, job, ${PROGRESS} FROM visits JOIN users ON users.number = visits.person ` +
  "WHERE attempts >= ? ORDER BY failed_at DESC, users.number, job LIMIT ?";

/** What background jobs use. */
export function createMariadbJobs(database: MariadbDatabase): JobStore {
  return {
    ...createLeases(database),
    async usersWithPendingMessages(before, limit) {
      const rows = await database.query(SELECT_WAITING, before, limit);
      return rows.map((row) => ({ scope: parseMariadbScope(row), messages: Number(row.messages) }));
    },
    async jobProgress(job, { after = "0", limit }) {
      // One extra row shows whether there is another page.
      const rows = await database.query(SELECT_PROGRESS_PAGE, job, Number(after), limit + 1);
      const page = rows.slice(0, limit);
      const users = page.map((row) => ({
        scope: parseMariadbScope(row),
        revision: Number(row.revision),
        ...(row.seen === null ? {} : { visit: parseMariadbProgress(row) }),
      }));
      const last = page.at(-1);
      return { users, ...(last && rows.length > limit ? { cursor: String(last.number) } : {}) };
    },
    async userProgress(job, scope) {
      const sql = `SELECT ${PROGRESS} FROM visits WHERE person = ${USER_NUMBER} AND job = ?`;
      const [row] = await database.query(sql, ...toMariadbScopeKeys(scope), job);
      return row && parseMariadbProgress(row);
    },
    saveProgress: (job, visits) => database.write((transaction) => saveProgress(transaction, job, visits)),
    async failedProgress({ attempts, limit }) {
      const rows = await database.query(SELECT_FAILED, attempts, limit);
      return rows.map((row) => ({
        scope: parseMariadbScope(row),
        job: String(row.job) as JobName,
        revision: Number(row.revision),
        visit: parseMariadbProgress(row),
      }));
    },
    currentMemories: (scope, options) =>
      database.snapshot((transaction) => selectCurrentMemories(transaction, scope, options)),
    async findRecalled(scope, memories) {
      const sql = `SELECT body FROM recalls WHERE person = ${USER_NUMBER}`;
      const rows = await database.query(sql, ...toMariadbScopeKeys(scope));
      const recalled = new Set(
        rows.flatMap((row) => parseBody<RecallReceipt>(row).items.map(({ id }) => id)),
      );
      return [...new Set(memories)].filter((id) => recalled.has(id));
    },
    jobRuns: async () => (await database.query("SELECT body FROM jobs")).map(parseBody<JobRun>),
    saveJobRun: (note) =>
      database.write((transaction) =>
        insertMariadbRows(
          transaction,
          "jobs",
          [toNoteRow(note)],
          "ON DUPLICATE KEY UPDATE body = VALUES(body)",
        ),
      ),
  };
}

/** Parses the progress in a row, whose revision column is `seen`. */
export function parseMariadbProgress({ seen, due, found, failed }: MariadbRow): JobProgress {
  return {
    revision: Number(seen),
    ...(due === null ? {} : { due: String(due) }),
    ...(found === null ? {} : { found: Number(found) }),
    ...(failed === null ? {} : { failed: parseBody<JobFailure>({ body: failed }) }),
  };
}

/** The columns of a job's progress, besides its person. */
export function toProgressRow(job: JobName, { revision, due, found, failed }: JobProgress): MariadbRow {
  return {
    job,
    revision,
    due: due ?? null,
    found: found ?? null,
    failed: failed ? JSON.stringify(failed) : null,
    attempts: failed?.attempts ?? null,
    failed_at: failed?.at ?? null,
  };
}

const REPLACE_PROGRESS = `ON DUPLICATE KEY UPDATE ${[
  "revision",
  "due",
  "found",
  "failed",
  "attempts",
  "failed_at",
]
  .map((column) => `${column} = VALUES(${column})`)
  .join(", ")}`;

async function saveProgress(
  transaction: MariadbTransaction,
  job: JobName,
  visits: readonly NewJobProgress[],
): Promise<void> {
  const rows: (MariadbRow & { readonly person: number })[] = [];
  for (const { scope, visit } of visits) {
    const user = await findMariadbUser(transaction, scope);
    if (user && user.revision > 0) rows.push({ person: user.number, ...toProgressRow(job, visit) });
  }
  // In a fixed order, so that two servers that save the same users do not deadlock.
  const ordered = rows.toSorted((one, other) => one.person - other.person);
  await insertMariadbRows(transaction, "visits", ordered, REPLACE_PROGRESS);
}

async function selectCurrentMemories(
  transaction: MariadbTransaction,
  scope: Scope,
  { after, limit }: { readonly after?: string; readonly limit: number },
) {
  const user = await findMariadbUser(transaction, scope);
  if (!user) return { revision: 0, memories: [], more: false };
  const { number, revision } = user;
  const place = "SELECT number FROM heads WHERE person = ? AND id = ?";
  const [last] =
    after === undefined ? [{ number: 0 }] : await transaction.query(place, number, toMariadbKey(after));
  if (!last) return { revision, memories: [], more: false };
  const sql =
    `SELECT body FROM ${NEWEST_MEMORIES} WHERE heads.person = ? AND heads.number > ? AND is_current = 1 ` +
    "ORDER BY heads.number LIMIT ?";
  const rows = await transaction.query(sql, number, last.number, limit + 1);
  return { revision, memories: rows.slice(0, limit).map(parseBody<Memory>), more: rows.length > limit };
}

/** The clock of the server, in ms since 1970, which all processes share. Sessions are in UTC. */
export const SERVER_NOW = "CAST(UNIX_TIMESTAMP(NOW(3)) * 1000 AS SIGNED)";
const SELECT_LEASE = `SELECT token, until - ${SERVER_NOW} AS wait FROM leases WHERE name = ? AND until > ${SERVER_NOW}`;
const OWN_LEASE = `name = ? AND token = ? AND until > ${SERVER_NOW}`;

function createLeases(database: MariadbDatabase): Leases {
  const update = (name: string, token: string, change: string, ms: number): Promise<boolean> =>
    database.write(async (transaction) => {
      const key = toMariadbKey(name);
      const rows = await transaction.query(
        `SELECT 1 AS found FROM leases WHERE ${OWN_LEASE} FOR UPDATE`,
        key,
        token,
      );
      if (rows.length === 0) return false;
      const sql = `UPDATE leases SET ${change} until = ${SERVER_NOW} + ? WHERE name = ?`;
      await transaction.run(sql, ms, key);
      return true;
    });
  return {
    async takeLease(name, { forMs, isUrgent = false }) {
      const key = toMariadbKey(name);
      const refuse = (row: MariadbRow | undefined): LeaseResult | undefined =>
        !row || (row.token === null && isUrgent)
          ? undefined
          : {
              refused: row.token === null ? "resting" : "held",
              waitMs: Math.max(1, Number(row.wait)),
            };
      // Checked first without a write, because leases are requested often and mostly refused.
      const refused = refuse((await database.query(SELECT_LEASE, key))[0]);
      if (refused) return refused;
      const token = randomUUID();
      return database.write(async (transaction) => {
        const row = { name: key, token: null, until: 0 };
        await insertMariadbRows(transaction, "leases", [row], "ON DUPLICATE KEY UPDATE name = VALUES(name)");
        const [current] = await transaction.query(`${SELECT_LEASE} FOR UPDATE`, key);
        const late = current?.token === token ? undefined : refuse(current);
        if (late) return late;
        const sql = `UPDATE leases SET token = ?, until = ${SERVER_NOW} + ? WHERE name = ?`;
        await transaction.run(sql, token, forMs, key);
        return { token };
      });
    },
    renewLease: (name, token, forMs) => update(name, token, "", forMs),
    // With a rest of 0 ms, it expires at once.
    releaseLease: (name, token, restMs = 0) => update(name, token, "token = NULL,", restMs),
  };
}
