import {
  NO_WEBHOOK_HEALTH,
  type Webhook,
  type WebhookCursor,
  type WebhookFailure,
  type WebhookHealth,
} from "../../../domain/operations/webhook.ts";
import { MemoryError } from "../../../errors.ts";
import type { ChangedUser, StoredWebhook, UserPageSums } from "../../../ports/stores/webhook-store.ts";
import { CURSORS_PER_SLICE, type WebhookSteps } from "../../shared/sliced-webhooks.ts";
import { checkNames, findUser, type SqliteDatabase, type SqliteRow } from "../database.ts";

type WebhookKey = Pick<Webhook, "project" | "id">;

/** The webhooks of a project, or of all. */
export function readWebhooks(database: SqliteDatabase, project: string | undefined): StoredWebhook[] {
  const select = "SELECT body, health FROM webhooks WHERE version > 0";
  const rows =
    project === undefined
      ? database.statement(`${select} ORDER BY id`).all()
      : database.statement(`${select} AND project = :project ORDER BY id`).all({ project });
  return rows.map(parseWebhook);
}

function parseWebhook({ body, health }: SqliteRow): StoredWebhook {
  return {
    webhook: JSON.parse(String(body)) as Webhook,
    health: health === null ? NO_WEBHOOK_HEALTH : (JSON.parse(String(health)) as WebhookHealth),
  };
}

/** The steps of registering and removing webhooks. */
export function createSqliteWebhookSteps(
  database: SqliteDatabase,
  run: <Result>(work: () => Result) => Promise<Result>,
): WebhookSteps {
  return {
    store: (webhook) => run(() => storeVersion(database, webhook)),
    start: (webhook, after) => run(() => insertFirstCursors(database, webhook, after)),
    show: ({ project, id }) =>
      run(() => {
        const sql = "UPDATE webhooks SET version = 1 WHERE project = :project AND id = :id AND version = 0";
        if (Number(database.statement(sql).run({ project, id }).changes) !== 1) throw createConflictError();
      }),
    hide: (project, id) =>
      run(() => {
        const sql = "UPDATE webhooks SET version = 0 WHERE project = :project AND id = :id AND version > 0";
        return Number(database.statement(sql).run({ project, id }).changes) > 0;
      }),
    clear: (project, id) => run(() => clearHidden(database, project, id)),
    findLeftovers: (project, before) =>
      run(() => {
        const sql =
          "SELECT id FROM webhooks WHERE project = :project AND version = 0 AND body ->> 'createdAt' < :before";
        return database
          .statement(sql)
          .all({ project, before })
          .map(({ id }) => String(id));
      }),
  };
}

function createConflictError(): MemoryError {
  return new MemoryError("conflict", "the webhook has changed meanwhile. Read it again.");
}

function storeVersion(database: SqliteDatabase, webhook: Webhook): void {
  const { project, id, version } = webhook;
  checkNames(project, id);
  const body = JSON.stringify(webhook);
  const insert =
    "INSERT INTO webhooks (project, id, version, body) VALUES (:project, :id, 0, :body) ON CONFLICT DO NOTHING";
  const update =
    "UPDATE webhooks SET version = :version, body = :body WHERE project = :project AND id = :id AND version = :version - 1";
  database.transaction(() => {
    const { changes } =
      version === 1
        ? database.statement(insert).run({ project, id, body })
        : database.statement(update).run({ project, id, version, body });
    if (Number(changes) !== 1) throw createConflictError();
  });
}

function insertFirstCursors(
  database: SqliteDatabase,
  { project, id }: WebhookKey,
  after: number,
): number | undefined {
  const upTo = after + CURSORS_PER_SLICE;
  database.transaction(() => {
    const sql =
      // By number, whatever the statistics say: the index on projects would give all users of the project each time.
      "INSERT INTO webhook_cursors (project, webhook, user, revision) SELECT :project, :id, id, revision FROM users " +
      "WHERE id > :after AND id <= :upTo AND +project = :project " +
      "AND EXISTS (SELECT 1 FROM webhooks WHERE project = :project AND id = :id)";
    database.statement(sql).run({ project, id, after, upTo });
  });
  const next = database.statement("SELECT min(id) AS next FROM users WHERE id > :upTo").get({ upTo })?.next;
  return typeof next === "number" ? next - 1 : undefined;
}

function clearHidden(database: SqliteDatabase, project: string, id: string): boolean {
  return database.transaction(() => {
    const cursors =
      "DELETE FROM webhook_cursors WHERE project = :project AND webhook = :id AND user <= (SELECT max(user) FROM " +
      "(SELECT user FROM webhook_cursors WHERE project = :project AND webhook = :id ORDER BY user LIMIT :limit))";
    const limit = CURSORS_PER_SLICE;
    if (Number(database.statement(cursors).run({ project, id, limit }).changes) > 0) return true;
    const sql = "DELETE FROM webhooks WHERE project = :project AND id = :id AND version = 0";
    database.statement(sql).run({ project, id });
    return false;
  });
}

export function saveWebhookHealth(
  database: SqliteDatabase,
  project: string,
  id: string,
  health: WebhookHealth,
): void {
  database
    .statement("UPDATE webhooks SET health = :health WHERE project = :project AND id = :id AND version > 0")
    .run({ project, id, health: JSON.stringify(health) });
}

/** Numbers of users that one query adds up: some ms. */
const NUMBERS_PER_SUM = 20_000;

/** The sums of the revisions of pages of users. */
export function readPageSums(
  database: SqliteDatabase,
  { from, size }: { readonly from: number; readonly size: number },
): UserPageSums {
  const first = Number(
    database.statement("SELECT min(id) AS first FROM users WHERE id > :after").get({ after: from * size })
      ?.first ?? 0,
  );
  if (first === 0) return { sums: [] };
  const start = Math.floor((first - 1) / size);
  const next = start + Math.max(1, Math.floor(NUMBERS_PER_SUM / size));
  const rows = database
    .statement(
      // Page by page, because a GROUP BY would sort all users.
      "WITH RECURSIVE pages (page) AS (SELECT :start UNION ALL SELECT page + 1 FROM pages WHERE page + 1 < :next) SELECT page, " +
        "(SELECT sum(revision) FROM users WHERE id > page * :size AND id <= (page + 1) * :size) AS sum FROM pages",
    )
    .all({ size, start, next })
    .filter(({ sum }) => sum !== null);
  return { sums: rows.map(({ page, sum }) => ({ page: Number(page), sum: Number(sum) })), next };
}

/** The users of a range of numbers with revisions after the webhook's cursor. */
export function readChangedUsers(
  database: SqliteDatabase,
  { project, id }: WebhookKey,
  { after, upTo }: { readonly after: number; readonly upTo: number },
): ChangedUser[] {
  const rows = database
    .statement(
      // The range comes first: by its index on projects, SQLite would go through all users of the project.
      "SELECT name, u.revision AS latest, coalesce(c.revision, 0) AS seen, failure FROM " +
        "(SELECT id, project, name, revision FROM users WHERE id > :after AND id <= :upTo AND +project = :project) AS u " +
        "LEFT JOIN webhook_cursors c ON c.project = :project AND c.webhook = :id AND c.user = u.id " +
        "WHERE u.revision > coalesce(c.revision, 0) " +
        "AND EXISTS (SELECT 1 FROM webhooks WHERE project = :project AND id = :id AND version > 0) ORDER BY u.id",
    )
    .all({ project, id, after, upTo });
  return rows.map(({ name, seen, latest, failure }) => ({
    scope: { project, user: String(name) },
    revision: Number(seen),
    latest: Number(latest),
    ...(failure === null ? {} : { failure: JSON.parse(String(failure)) as WebhookFailure }),
  }));
}

/** Saves cursors. The stored one wins if it is ahead: a process without the lease may come late. */
export function saveWebhookCursors(
  database: SqliteDatabase,
  { project, id }: WebhookKey,
  cursors: readonly WebhookCursor[],
): void {
  const upsert = database.statement(
    "INSERT INTO webhook_cursors (project, webhook, user, revision, failure) SELECT project, id, :user, :revision, :failure " +
      "FROM webhooks WHERE project = :project AND id = :id AND version > 0 " +
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
