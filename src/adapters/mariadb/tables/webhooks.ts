import {
  NO_WEBHOOK_HEALTH,
  type Webhook,
  type WebhookCursor,
  type WebhookFailure,
  type WebhookHealth,
} from "../../../domain/operations/webhook.ts";
import { MemoryError } from "../../../errors.ts";
import type { WebhookStore } from "../../../ports/stores/webhook-store.ts";
import { compareStrings } from "../../shared/change-rules.ts";
import { CURSORS_PER_SLICE, createSlicedWebhooks, type WebhookSteps } from "../../shared/sliced-webhooks.ts";
import { checkNames, parseBody } from "../../shared/stored-rows.ts";
import type { MariadbDatabase, MariadbTransaction } from "../database.ts";
import { insertMariadbRows } from "../database.ts";
import { parseMariadbScope, toMariadbKey, toMariadbScopeKeys } from "../keys.ts";

type WebhookPlace = Pick<Webhook, "project" | "id">;

const toKeys = ({ project, id }: WebhookPlace): [string, string] => [toMariadbKey(project), toMariadbKey(id)];
const ONE_WEBHOOK = "project = ? AND id = ?";

/** Users whose revisions one query adds up: some ten ms. */
const NUMBERS_PER_SUM = 100_000;
// The range comes first, by its own index.
const SELECT_CHANGED =
  "SELECT u.project, u.name, u.long_names, u.revision AS latest, COALESCE(c.revision, 0) AS seen, c.failure FROM users u " +
  "LEFT JOIN webhook_cursors c ON c.project = ? AND c.webhook = ? AND c.person = u.number " +
  "WHERE u.number > ? AND u.number <= ? AND u.project = ? AND u.revision > COALESCE(c.revision, 0) " +
  "AND EXISTS (SELECT 1 FROM webhooks WHERE project = ? AND id = ? AND version > 0) ORDER BY u.number";

/** Webhooks, and how far each has come. */
export function createMariadbWebhooks(database: MariadbDatabase): WebhookStore {
  return {
    ...createSlicedWebhooks(createSteps(database)),
    async list(project) {
      const select = "SELECT body, health FROM webhooks WHERE version > 0";
      const rows =
        project === undefined
          ? await database.query(`${select} ORDER BY id`)
          : await database.query(`${select} AND project = ? ORDER BY id`, toMariadbKey(project));
      return rows.map((row) => ({
        webhook: parseBody<Webhook>(row),
        health: row.health === null ? NO_WEBHOOK_HEALTH : parseBody<WebhookHealth>({ body: row.health }),
      }));
    },
    async saveHealth(project, id, health) {
      const sql = `UPDATE webhooks SET health = ? WHERE ${ONE_WEBHOOK} AND version > 0`;
      const values = [JSON.stringify(health), ...toKeys({ project, id })];
      await database.write((transaction) => transaction.run(sql, ...values));
    },
    async readPageSums({ from, size }) {
      const [row] = await database.query(
        "SELECT MIN(number) AS first FROM users WHERE number > ?",
        from * size,
      );
      const first = Number(row?.first ?? 0);
      if (first === 0) return { sums: [] };
      const start = Math.floor((first - 1) / size);
      const next = start + Math.max(1, Math.floor(NUMBERS_PER_SUM / size));
      const rows = await database.query(
        "SELECT (number - 1) DIV ? AS page, SUM(revision) AS sum FROM users WHERE number > ? AND number <= ? " +
          "GROUP BY page ORDER BY page",
        size,
        start * size,
        next * size,
      );
      return { sums: rows.map(({ page, sum }) => ({ page: Number(page), sum: Number(sum) })), next };
    },
    async findChanged(webhook, { after, upTo }) {
      const [project, id] = toKeys(webhook);
      const values = [project, id, after, upTo, project, project, id];
      return (await database.query(SELECT_CHANGED, ...values)).map((row) => ({
        scope: parseMariadbScope(row),
        revision: Number(row.seen),
        latest: Number(row.latest),
        ...(row.failure === null ? {} : { failure: parseBody<WebhookFailure>({ body: row.failure }) }),
      }));
    },
    saveCursors: (webhook, cursors) =>
      database.write((transaction) => saveCursors(transaction, webhook, cursors)),
  };
}

function createSteps(database: MariadbDatabase): WebhookSteps {
  return {
    store: (webhook) => storeVersion(database, webhook),
    start: (webhook, after) => insertFirstCursors(database, webhook, after),
    async show(webhook) {
      const sql = `UPDATE webhooks SET version = 1 WHERE ${ONE_WEBHOOK} AND version <= 1`;
      const isThere = await changeFound(database, webhook, "version <= 1", sql);
      if (!isThere) throw createWebhookConflict();
    },
    hide: (project, id) =>
      changeFound(
        database,
        { project, id },
        "version > 0",
        `UPDATE webhooks SET version = 0 WHERE ${ONE_WEBHOOK} AND version > 0`,
      ),
    clear: (project, id) =>
      database.write(async (transaction) => {
        const keys = toKeys({ project, id });
        const sql = "DELETE FROM webhook_cursors WHERE project = ? AND webhook = ? ORDER BY person LIMIT ?";
        if ((await transaction.run(sql, ...keys, CURSORS_PER_SLICE)) > 0) return true;
        await transaction.run(`DELETE FROM webhooks WHERE ${ONE_WEBHOOK} AND version = 0`, ...keys);
        return false;
      }),
    async findLeftovers(project, before) {
      const sql = "SELECT body FROM webhooks WHERE project = ? AND version = 0";
      const found = (await database.query(sql, toMariadbKey(project))).map(parseBody<Webhook>);
      return found.filter(({ createdAt }) => createdAt < before).map(({ id }) => id);
    },
  };
}

/** Changes a webhook if it meets a condition. False if it does not. */
function changeFound(
  database: MariadbDatabase,
  webhook: WebhookPlace,
  condition: string,
  sql: string,
): Promise<boolean> {
  return database.write(async (transaction) => {
    const keys = toKeys(webhook);
    const select = `SELECT 1 AS found FROM webhooks WHERE ${ONE_WEBHOOK} AND ${condition} FOR UPDATE`;
    if ((await transaction.query(select, ...keys)).length === 0) return false;
    await transaction.run(sql, ...keys);
    return true;
  });
}

function createWebhookConflict(): MemoryError {
  return new MemoryError("conflict", "the webhook has changed meanwhile. Read it again.");
}

async function storeVersion(database: MariadbDatabase, webhook: Webhook): Promise<void> {
  const { version } = webhook;
  checkNames(webhook.project, webhook.id);
  const [project, id] = toKeys(webhook);
  const body = JSON.stringify(webhook);
  const select = `SELECT version, body FROM webhooks WHERE ${ONE_WEBHOOK} FOR UPDATE`;
  await database.write<void>(
    async (transaction) => {
      const [row] = await transaction.query(select, project, id);
      const isNext = version === 1 ? !row : Number(row?.version) === version - 1;
      if (!isNext) throw createWebhookConflict();
      const columns = { project, id, version: version === 1 ? 0 : version, body };
      const replace = "ON DUPLICATE KEY UPDATE version = VALUES(version), body = VALUES(body)";
      await insertMariadbRows(transaction, "webhooks", [columns], version === 1 ? "" : replace).catch(
        (error: unknown) => {
          throw (error as { readonly errno?: unknown }).errno === DUPLICATE_KEY
            ? createWebhookConflict()
            : error;
        },
      );
    },
    // After a COMMIT without an answer, the body shows whether it was stored.
    async (transaction) =>
      (await transaction.query(select, project, id))[0]?.body === body ? { was: undefined } : undefined,
  );
}

const DUPLICATE_KEY = 1062;

async function insertFirstCursors(
  database: MariadbDatabase,
  webhook: WebhookPlace,
  after: number,
): Promise<number | undefined> {
  const [project, id] = toKeys(webhook);
  const upTo = after + CURSORS_PER_SLICE;
  const sql =
    "INSERT INTO webhook_cursors (project, webhook, person, revision) SELECT u.project, ?, u.number, u.revision FROM users u " +
    "WHERE u.project = ? AND u.number > ? AND u.number <= ? AND EXISTS (SELECT 1 FROM webhooks WHERE project = ? AND id = ?) " +
    "ON DUPLICATE KEY UPDATE person = VALUES(person)";
  await database.write((transaction) => transaction.run(sql, id, project, after, upTo, project, id));
  const [row] = await database.query("SELECT MIN(number) AS next FROM users WHERE number > ?", upTo);
  return row?.next ? Number(row.next) - 1 : undefined;
}

/** Saves cursors. The stored one wins if it is ahead: a server without the lease may come late. */
async function saveCursors(
  transaction: MariadbTransaction,
  webhook: WebhookPlace,
  cursors: readonly WebhookCursor[],
): Promise<void> {
  const [project, id] = toKeys(webhook);
  const sql =
    "INSERT INTO webhook_cursors (project, webhook, person, revision, failure) SELECT w.project, w.id, u.number, ?, ? " +
    "FROM webhooks w JOIN users u ON u.project = w.project AND u.name = ? " +
    "WHERE w.project = ? AND w.id = ? AND w.version > 0 ON DUPLICATE KEY UPDATE " +
    // In this order: each column is compared with the stored revision.
    "failure = IF(VALUES(revision) >= webhook_cursors.revision, VALUES(failure), webhook_cursors.failure), " +
    "revision = GREATEST(VALUES(revision), webhook_cursors.revision)";
  // In a fixed order, so that two servers that save the same users do not deadlock.
  const ordered = cursors
    .map(({ scope, revision, failure }) => ({ name: toMariadbScopeKeys(scope)[1], revision, failure }))
    .sort((one, other) => compareStrings(one.name, other.name));
  for (const { name, revision, failure } of ordered) {
    const body = failure ? JSON.stringify(failure) : null;
    await transaction.run(sql, revision, body, name, project, id);
  }
}
