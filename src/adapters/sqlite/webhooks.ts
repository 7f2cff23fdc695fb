import {
  NO_WEBHOOK_HEALTH,
  type Webhook,
  type WebhookCursor,
  type WebhookFailure,
  type WebhookHealth,
} from "../../domain/webhook.ts";
import { MemoryError } from "../../errors.ts";
import type { ChangedUserPage, StoredWebhook } from "../../ports/webhook-store.ts";
import { checkNames, findUser, type SqliteDatabase, type SqliteRow } from "./database.ts";

type WebhookKey = Pick<Webhook, "project" | "id">;

/** The webhooks of a project, or of all. */
export function readWebhooks(database: SqliteDatabase, project: string | undefined): StoredWebhook[] {
  const select = "SELECT body, health FROM webhooks";
  const rows =
    project === undefined
      ? database.statement(`${select} ORDER BY id`).all()
      : database.statement(`${select} WHERE project = :project ORDER BY id`).all({ project });
  return rows.map(parseWebhook);
}

function parseWebhook({ body, health }: SqliteRow): StoredWebhook {
  return {
    webhook: JSON.parse(String(body)) as Webhook,
    health: health === null ? NO_WEBHOOK_HEALTH : (JSON.parse(String(health)) as WebhookHealth),
  };
}

/** Stores a webhook. A new one starts at the current revision of each user. */
export function saveWebhook(database: SqliteDatabase, webhook: Webhook): void {
  const { project, id, version } = webhook;
  checkNames(project, id);
  database.transaction(() => {
    const row = { project, id, version, body: JSON.stringify(webhook) };
    const sql =
      version === 1
        ? "INSERT INTO webhooks (project, id, version, body) VALUES (:project, :id, :version, :body) ON CONFLICT DO NOTHING"
        : "UPDATE webhooks SET version = :version, body = :body WHERE project = :project AND id = :id AND version = :version - 1";
    if (Number(database.statement(sql).run(row).changes) !== 1)
      throw new MemoryError("conflict", "the webhook has changed meanwhile. Read it again.");
    if (version > 1) return;
    database
      .statement(
        "INSERT INTO webhook_cursors (project, webhook, user, revision) SELECT project, :id, id, revision FROM users WHERE project = :project",
      )
      .run({ project, id });
  });
}

/** Removes a webhook with its cursors. */
export function deleteStoredWebhook(database: SqliteDatabase, project: string, id: string): boolean {
  const sql = "DELETE FROM webhooks WHERE project = :project AND id = :id";
  return Number(database.statement(sql).run({ project, id }).changes) > 0;
}

export function saveWebhookHealth(
  database: SqliteDatabase,
  project: string,
  id: string,
  health: WebhookHealth,
): void {
  database
    .statement("UPDATE webhooks SET health = :health WHERE project = :project AND id = :id")
    .run({ project, id, health: JSON.stringify(health) });
}

/** A page of users by number, and of these the ones with revisions after the webhook's cursor. */
export function readChangedUsers(
  database: SqliteDatabase,
  { project, id }: WebhookKey,
  { after = "0", limit }: { readonly after?: string | undefined; readonly limit: number },
): ChangedUserPage {
  const from = Number(after);
  const page = database
    .statement(
      "SELECT max(id) AS last, count(*) AS found FROM (SELECT id FROM users WHERE id > :from ORDER BY id LIMIT :limit)",
    )
    .get({ from, limit });
  const last = Number(page?.last ?? 0);
  const rows = database
    .statement(
      // The page comes first: by its index on projects, SQLite would go through all users of the project for each page.
      "SELECT name, coalesce(c.revision, 0) AS seen, failure FROM " +
        "(SELECT id, project, name, revision FROM users WHERE id > :from ORDER BY id LIMIT :limit) AS u " +
        "LEFT JOIN webhook_cursors c ON c.project = :project AND c.webhook = :id AND c.user = u.id " +
        "WHERE u.project = :project AND u.revision > coalesce(c.revision, 0) " +
        "AND EXISTS (SELECT 1 FROM webhooks WHERE project = :project AND id = :id) ORDER BY u.id",
    )
    .all({ project, id, from, limit });
  const users = rows.map(({ name, seen, failure }) => ({
    scope: { project, user: String(name) },
    revision: Number(seen),
    ...(failure === null ? {} : { failure: JSON.parse(String(failure)) as WebhookFailure }),
  }));
  return { users, ...(Number(page?.found) === limit ? { cursor: String(last) } : {}) };
}

/** Saves cursors. The stored one wins if it is ahead: a process without the lease may come late. */
export function saveWebhookCursors(
  database: SqliteDatabase,
  { project, id }: WebhookKey,
  cursors: readonly WebhookCursor[],
): void {
  const upsert = database.statement(
    "INSERT INTO webhook_cursors (project, webhook, user, revision, failure) SELECT project, id, :user, :revision, :failure " +
      "FROM webhooks WHERE project = :project AND id = :id " +
      "ON CONFLICT (project, webhook, user) DO UPDATE SET revision = excluded.revision, failure = excluded.failure " +
      "WHERE excluded.revision >= webhook_cursors.revision",
  );
  database.transaction(() => {
    for (const { scope, revision, failure } of cursors) {
      const user = findUser(database, scope)?.id;
      if (user === undefined) continue;
      upsert.run({ project, id, user, revision, failure: failure ? JSON.stringify(failure) : null });
    }
  });
}
