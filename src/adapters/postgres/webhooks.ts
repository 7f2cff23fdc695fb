import {
  NO_WEBHOOK_HEALTH,
  type Webhook,
  type WebhookCursor,
  type WebhookFailure,
  type WebhookHealth,
} from "../../domain/webhook.ts";
import { MemoryError } from "../../errors.ts";
import type { ChangedUserPage, StoredWebhook } from "../../ports/webhook-store.ts";
import { compareStrings } from "../shared/change-rules.ts";
import { checkNames } from "../shared/stored-rows.ts";
import type { Row } from "./database/connection.ts";
import { ALL_PROJECTS, type PostgresDatabase } from "./database/database.ts";
import { parseScope, toIndexKey, toScopeKeys } from "./database/user-rows.ts";
import { fetchRowsOfAllProjects } from "./read.ts";

type WebhookKey = Pick<Webhook, "project" | "id">;

/** The webhooks of a project, or of all. */
export async function fetchWebhooks(
  database: PostgresDatabase,
  project: string | undefined,
): Promise<StoredWebhook[]> {
  const select = "SELECT body, health FROM webhooks";
  if (project === undefined)
    return (await fetchRowsOfAllProjects(database, `${select} ORDER BY id`)).map(parseWebhook);
  const key = toIndexKey(project);
  const sql = `${select} WHERE project = $1 ORDER BY id`;
  return (await database.queryOnce(key, { sql, values: [key] })).map(parseWebhook);
}

function parseWebhook({ body, health }: Row): StoredWebhook {
  return {
    webhook: JSON.parse(body ?? "") as Webhook,
    health: health ? (JSON.parse(health) as WebhookHealth) : NO_WEBHOOK_HEALTH,
  };
}

const INSERT_WEBHOOK =
  "INSERT INTO webhooks (project, id, version, body) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING RETURNING 1 AS done";
const UPDATE_WEBHOOK =
  "UPDATE webhooks SET version = $3, body = $4 WHERE project = $1 AND id = $2 AND version = $3 - 1 RETURNING 1 AS done";
const INSERT_FIRST_CURSORS =
  "INSERT INTO webhook_cursors (project, webhook, person, revision) SELECT project, $2, number, revision FROM users WHERE project = $1";

/** Stores a webhook. A new one starts at the current revision of each user. */
export async function storeWebhook(database: PostgresDatabase, webhook: Webhook): Promise<void> {
  checkNames(webhook.project, webhook.id);
  const [project, id] = [toIndexKey(webhook.project), toIndexKey(webhook.id)];
  const body = JSON.stringify(webhook);
  await database.write<void>(
    { project },
    async (transaction) => {
      const sql = webhook.version === 1 ? INSERT_WEBHOOK : UPDATE_WEBHOOK;
      const rows = await transaction.query(sql, project, id, webhook.version, body);
      if (rows.length !== 1)
        throw new MemoryError("conflict", "the webhook has changed meanwhile. Read it again.");
      if (webhook.version === 1) transaction.queue(INSERT_FIRST_CURSORS, project, id);
    },
    async (transaction) => {
      // After a COMMIT without an answer, the body shows whether it was stored.
      const sql = "SELECT body FROM webhooks WHERE project = $1 AND id = $2";
      const [row] = await transaction.query(sql, project, id);
      return row?.body === body ? { was: undefined } : undefined;
    },
  );
}

/** Removes a webhook with its cursors. */
export function deleteWebhook(database: PostgresDatabase, project: string, id: string): Promise<boolean> {
  const key = toIndexKey(project);
  const sql = "DELETE FROM webhooks WHERE project = $1 AND id = $2 RETURNING 1 AS done";
  return database.write(
    { project: key },
    async (transaction) => (await transaction.query(sql, key, toIndexKey(id))).length > 0,
  );
}

export function storeWebhookHealth(
  database: PostgresDatabase,
  project: string,
  id: string,
  health: WebhookHealth,
): Promise<void> {
  const key = toIndexKey(project);
  const sql = "UPDATE webhooks SET health = $3 WHERE project = $1 AND id = $2";
  return database.execute({ project: key }, sql, key, toIndexKey(id), JSON.stringify(health));
}

const SELECT_LAST_OF_PAGE =
  "SELECT max(number) AS last, count(*) AS found FROM (SELECT number FROM users WHERE number > $1 ORDER BY number LIMIT $2) AS page";
// The page comes first, by its own index, whatever the statistics say.
const SELECT_CHANGED_USERS =
  "SELECT u.project, u.name, u.long_names, coalesce(c.revision, 0) AS seen, c.failure FROM " +
  "(SELECT number, project, name, long_names, revision FROM users WHERE number > $3 ORDER BY number LIMIT $4) AS u " +
  "LEFT JOIN webhook_cursors c ON c.project = $1 AND c.webhook = $2 AND c.person = u.number " +
  "WHERE u.project = $1 AND u.revision > coalesce(c.revision, 0) " +
  "AND EXISTS (SELECT FROM webhooks WHERE project = $1 AND id = $2) ORDER BY u.number";

/** A page of users by number, and of these the ones with revisions after the webhook's cursor. */
export async function fetchChangedUsers(
  database: PostgresDatabase,
  { project, id }: WebhookKey,
  { after = "0", limit }: { readonly after?: string | undefined; readonly limit: number },
): Promise<ChangedUserPage> {
  const from = Number(after);
  // A user has a number before the first commit is seen, so a page may gain users later. The next look finds them.
  const [page] = await fetchRowsOfAllProjects(database, SELECT_LAST_OF_PAGE, from, limit);
  const last = Number(page?.last ?? 0);
  const values = [toIndexKey(project), toIndexKey(id), from, limit];
  const rows = last === 0 ? [] : await fetchRowsOfAllProjects(database, SELECT_CHANGED_USERS, ...values);
  const users = rows.map((row) => ({
    scope: parseScope(row),
    revision: Number(row.seen),
    ...(row.failure ? { failure: JSON.parse(row.failure) as WebhookFailure } : {}),
  }));
  return { users, ...(Number(page?.found) === limit ? { cursor: String(last) } : {}) };
}

const UPSERT_CURSOR =
  "INSERT INTO webhook_cursors (project, webhook, person, revision, failure) SELECT w.project, w.id, u.number, $4, $5 " +
  "FROM webhooks w JOIN users u ON u.project = w.project AND u.name = $3 WHERE w.project = $1 AND w.id = $2 " +
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
