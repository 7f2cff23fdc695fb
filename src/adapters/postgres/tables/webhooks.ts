import {
  NO_WEBHOOK_HEALTH,
  type Webhook,
  type WebhookCursor,
  type WebhookFailure,
  type WebhookHealth,
} from "../../../domain/operations/webhook.ts";
import { MemoryError } from "../../../errors.ts";
import type { ChangedUser, StoredWebhook, UserPageSums } from "../../../ports/stores/webhook-store.ts";
import { compareStrings } from "../../shared/change-rules.ts";
import { CURSORS_PER_SLICE, type WebhookSteps } from "../../shared/sliced-webhooks.ts";
import { checkNames } from "../../shared/stored-rows.ts";
import type { Row } from "../database/connection.ts";
import { ALL_PROJECTS, type PostgresDatabase } from "../database/database.ts";
import { parseScope, toIndexKey, toScopeKeys } from "../database/user-rows.ts";
import { fetchRowsOfAllProjects } from "../read.ts";

type WebhookKey = Pick<Webhook, "project" | "id">;

/** The webhooks of a project, or of all. */
export async function fetchWebhooks(
  database: PostgresDatabase,
  project: string | undefined,
): Promise<StoredWebhook[]> {
  const select = "SELECT body, health FROM webhooks WHERE version > 0";
  if (project === undefined)
    return (await fetchRowsOfAllProjects(database, `${select} ORDER BY id`)).map(parseWebhook);
  const key = toIndexKey(project);
  const sql = `${select} AND project = $1 ORDER BY id`;
  return (await database.queryOnce(key, { sql, values: [key] })).map(parseWebhook);
}

function parseWebhook({ body, health }: Row): StoredWebhook {
  return {
    webhook: JSON.parse(body ?? "") as Webhook,
    health: health ? (JSON.parse(health) as WebhookHealth) : NO_WEBHOOK_HEALTH,
  };
}

const INSERT_HIDDEN =
  "INSERT INTO webhooks (project, id, version, body) VALUES ($1, $2, 0, $3) ON CONFLICT DO NOTHING RETURNING 1 AS done";
const UPDATE_WEBHOOK =
  "UPDATE webhooks SET body = $3, version = $4 WHERE project = $1 AND id = $2 AND version = $4 - 1 RETURNING 1 AS done";
const SHOW =
  "UPDATE webhooks SET version = 1 WHERE project = $1 AND id = $2 AND version <= 1 RETURNING 1 AS done";
const HIDE =
  "UPDATE webhooks SET version = 0 WHERE project = $1 AND id = $2 AND version > 0 RETURNING 1 AS done";
const INSERT_FIRST_CURSORS =
  "INSERT INTO webhook_cursors (project, webhook, person, revision) SELECT project, $2, number, revision FROM users " +
  "WHERE project = $1 AND number > $3 AND number <= $4 " +
  "AND EXISTS (SELECT FROM webhooks WHERE project = $1 AND id = $2) ON CONFLICT DO NOTHING";
const DELETE_CURSORS =
  "DELETE FROM webhook_cursors WHERE project = $1 AND webhook = $2 AND person <= (SELECT max(person) FROM " +
  "(SELECT person FROM webhook_cursors WHERE project = $1 AND webhook = $2 ORDER BY person LIMIT $3) AS slice) RETURNING 1 AS done";
const DELETE_HIDDEN = "DELETE FROM webhooks WHERE project = $1 AND id = $2 AND version = 0";

/** The steps of registering and removing webhooks. */
export function createPostgresWebhookSteps(database: PostgresDatabase): WebhookSteps {
  return {
    store: (webhook) => storeVersion(database, webhook),
    start: (webhook, after) => insertFirstCursors(database, webhook, after),
    show: ({ project, id }) =>
      database.write({ project: toIndexKey(project) }, async (transaction) => {
        const rows = await transaction.query(SHOW, toIndexKey(project), toIndexKey(id));
        if (rows.length !== 1) throw createConflictError();
      }),
    hide: (project, id) =>
      database.write(
        { project: toIndexKey(project) },
        async (transaction) =>
          (await transaction.query(HIDE, toIndexKey(project), toIndexKey(id))).length > 0,
      ),
    clear: (project, id) => clearHidden(database, toIndexKey(project), toIndexKey(id)),
    async findLeftovers(project, before) {
      const key = toIndexKey(project);
      const sql = "SELECT body FROM webhooks WHERE project = $1 AND version = 0";
      const rows = await database.queryOnce(key, { sql, values: [key] });
      const found = rows.map(({ body }) => JSON.parse(body ?? "") as Webhook);
      return found.filter(({ createdAt }) => createdAt < before).map(({ id }) => id);
    },
  };
}

function createConflictError(): MemoryError {
  return new MemoryError("conflict", "the webhook has changed meanwhile. Read it again.");
}

async function storeVersion(database: PostgresDatabase, webhook: Webhook): Promise<void> {
  const { version } = webhook;
  checkNames(webhook.project, webhook.id);
  const [project, id] = [toIndexKey(webhook.project), toIndexKey(webhook.id)];
  const body = JSON.stringify(webhook);
  await database.write<void>(
    { project },
    async (transaction) => {
      const rows =
        version === 1
          ? await transaction.query(INSERT_HIDDEN, project, id, body)
          : await transaction.query(UPDATE_WEBHOOK, project, id, body, version);
      if (rows.length !== 1) throw createConflictError();
    },
    async (transaction) => {
      // After a COMMIT without an answer, the body shows whether it was stored.
      const sql = "SELECT body FROM webhooks WHERE project = $1 AND id = $2";
      const [row] = await transaction.query(sql, project, id);
      return row?.body === body ? { was: undefined } : undefined;
    },
  );
}

async function insertFirstCursors(
  database: PostgresDatabase,
  webhook: WebhookKey,
  after: number,
): Promise<number | undefined> {
  const [project, id] = [toIndexKey(webhook.project), toIndexKey(webhook.id)];
  const upTo = after + CURSORS_PER_SLICE;
  await database.execute({ project }, INSERT_FIRST_CURSORS, project, id, after, upTo);
  const sql = "SELECT min(number) AS next FROM users WHERE number > $1";
  const [row] = await fetchRowsOfAllProjects(database, sql, upTo);
  return row?.next ? Number(row.next) - 1 : undefined;
}

function clearHidden(database: PostgresDatabase, project: string, id: string): Promise<boolean> {
  return database.write({ project }, async (transaction) => {
    if ((await transaction.query(DELETE_CURSORS, project, id, CURSORS_PER_SLICE)).length > 0) return true;
    transaction.queue(DELETE_HIDDEN, project, id);
    return false;
  });
}

export function storeWebhookHealth(
  database: PostgresDatabase,
  project: string,
  id: string,
  health: WebhookHealth,
): Promise<void> {
  const key = toIndexKey(project);
  const sql = "UPDATE webhooks SET health = $3 WHERE project = $1 AND id = $2 AND version > 0";
  return database.execute({ project: key }, sql, key, toIndexKey(id), JSON.stringify(health));
}

/** Numbers of users that one query adds up: some ten ms. */
const NUMBERS_PER_SUM = 100_000;
const SELECT_SUMS =
  "SELECT (number - 1) / $1 AS page, sum(revision) AS sum FROM users WHERE number > $2 AND number <= $3 GROUP BY 1 ORDER BY 1";

/** The sums of the revisions of pages of users. */
export async function fetchPageSums(
  database: PostgresDatabase,
  { from, size }: { readonly from: number; readonly size: number },
): Promise<UserPageSums> {
  const sql = "SELECT min(number) AS first FROM users WHERE number > $1";
  const [row] = await fetchRowsOfAllProjects(database, sql, from * size);
  const first = Number(row?.first ?? 0);
  if (first === 0) return { sums: [] };
  const start = Math.floor((first - 1) / size);
  const next = start + Math.max(1, Math.floor(NUMBERS_PER_SUM / size));
  const rows = await fetchRowsOfAllProjects(database, SELECT_SUMS, size, start * size, next * size);
  return { sums: rows.map(({ page, sum }) => ({ page: Number(page), sum: Number(sum) })), next };
}

// The range comes first, by its own index, whatever the statistics say.
const SELECT_CHANGED_USERS =
  "SELECT u.project, u.name, u.long_names, u.revision AS latest, coalesce(c.revision, 0) AS seen, c.failure FROM " +
  "(SELECT number, project, name, long_names, revision FROM users WHERE number > $3 AND number <= $4 ORDER BY number) AS u " +
  "LEFT JOIN webhook_cursors c ON c.project = $1 AND c.webhook = $2 AND c.person = u.number " +
  "WHERE u.project = $1 AND u.revision > coalesce(c.revision, 0) " +
  "AND EXISTS (SELECT FROM webhooks WHERE project = $1 AND id = $2 AND version > 0) ORDER BY u.number";

/** The users of a range of numbers with revisions after the webhook's cursor. */
export async function fetchChangedUsers(
  database: PostgresDatabase,
  { project, id }: WebhookKey,
  { after, upTo }: { readonly after: number; readonly upTo: number },
): Promise<ChangedUser[]> {
  const values = [toIndexKey(project), toIndexKey(id), after, upTo];
  const rows = await fetchRowsOfAllProjects(database, SELECT_CHANGED_USERS, ...values);
  return rows.map((row) => ({
    scope: parseScope(row),
    revision: Number(row.seen),
    latest: Number(row.latest),
    ...(row.failure ? { failure: JSON.parse(row.failure) as WebhookFailure } : {}),
  }));
}

const UPSERT_CURSOR =
  "INSERT INTO webhook_cursors (project, webhook, person, revision, failure) SELECT w.project, w.id, u.number, $4, $5 " +
  "FROM webhooks w JOIN users u ON u.project = w.project AND u.name = $3 WHERE w.project = $1 AND w.id = $2 AND w.version > 0 " +
  "ON CONFLICT (project, webhook, person) DO UPDATE SET revision = excluded.revision, failure = excluded.failure " +
  "WHERE excluded.revision >= webhook_cursors.revision";

/** Saves cursors. The stored one wins if it is ahead: a server without the lease may come late. */
export async function storeWebhookCursors(
  database: PostgresDatabase,
  { project, id }: WebhookKey,
  cursors: readonly WebhookCursor[],
): Promise<void> {
  const [key, webhook] = [toIndexKey(project), toIndexKey(id)];
  // In a fixed order, so that two servers that save the same users do not deadlock.
  const ordered = cursors
    .map(({ scope, revision, failure }) => ({ name: toScopeKeys(scope)[1], revision, failure }))
    .sort((one, other) => compareStrings(one.name, other.name));
  await database.write(ALL_PROJECTS, async (transaction) => {
    for (const { name, revision, failure } of ordered) {
      const body = failure ? JSON.stringify(failure) : null;
      transaction.queue(UPSERT_CURSOR, key, webhook, name, revision, body);
    }
  });
}
