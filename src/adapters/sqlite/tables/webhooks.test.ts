import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { makeWebhook } from "../../../testing/memory-store/webhook-cases.ts";
import { CURSORS_PER_SLICE } from "../../shared/sliced-webhooks.ts";
import { openSqliteStore, type SqliteStore } from "../index.ts";
import { DatabaseSync } from "../node-sqlite.ts";

const USERS = 2 * CURSORS_PER_SLICE + 500;
const ALL = { after: 0, upTo: 1_000_000_000 };

let folder: string;
let store: SqliteStore;
let database: DatabaseSync;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "keepsake-webhooks-"));
  const path = join(folder, "memory.db");
  store = await openSqliteStore({ path });
  database = new DatabaseSync(path);
  database.exec(
    `INSERT INTO users (project, name, revision) WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers
     WHERE n < ${USERS}) SELECT 'default', 'user ' || n, n FROM numbers`,
  );
});
afterEach(async () => {
  database.close();
  await store.close();
  rmSync(folder, { recursive: true });
});

const countCursors = (): unknown => database.prepare("SELECT count(*) AS n FROM webhook_cursors").get()?.n;
const countWebhooks = (): unknown => database.prepare("SELECT count(*) AS n FROM webhooks").get()?.n;

describe("a webhook of several slices of users", () => {
  it("starts at the present of each user, and is removed with all cursors", async () => {
    const webhook = makeWebhook("a");
    await store.webhooks.save(webhook);
    expect(countCursors()).toBe(USERS);
    expect(await store.webhooks.findChanged(webhook, ALL)).toEqual([]);
    database.exec(`UPDATE users SET revision = revision + 1 WHERE id = ${USERS}`);
    expect(await store.webhooks.findChanged(webhook, ALL)).toEqual([
      { scope: { project: "default", user: `user ${USERS}` }, revision: USERS, latest: USERS + 1 },
    ]);
    expect(await store.webhooks.remove("default", "a")).toBe(true);
    expect([countCursors(), countWebhooks()]).toEqual([0, 0]);
  });

  it("is hidden until it is complete, and cleared an hour later if its process was killed", async () => {
    const webhook = makeWebhook("a");
    await store.webhookSteps.store(webhook);
    await store.webhookSteps.start(webhook, 0);
    await store.webhooks.saveCursors(webhook, [
      { scope: { project: "default", user: `user ${USERS}` }, revision: 1 },
    ]);
    expect(await store.webhooks.list()).toEqual([]);
    expect(await store.webhooks.findChanged(webhook, ALL)).toEqual([]);
    expect(countCursors()).toBe(CURSORS_PER_SLICE);
    const createdAfter = (ms: number): { readonly createdAt: string } => ({
      createdAt: new Date(Date.parse(webhook.createdAt) + ms).toISOString(),
    });
    await store.webhooks.save(makeWebhook("b", createdAfter(60_000)));
    expect(countWebhooks()).toBe(2);
    await store.webhooks.save(makeWebhook("c", createdAfter(3_700_000)));
    expect([countWebhooks(), countCursors()]).toEqual([2, 2 * USERS]);
    // The killed process goes on after all.
    await expect(store.webhookSteps.show(webhook)).rejects.toMatchObject({ code: "conflict" });
  });

  it("lets others write between the slices", async () => {
    let isOver = false;
    const registering = store.webhooks.save(makeWebhook("a")).then(() => {
      isOver = true;
    });
    const hidden = await store.webhooks.list();
    while (countCursors() === 0) await new Promise((resolve) => setImmediate(resolve));
    database.exec("UPDATE users SET revision = revision + 1 WHERE id = 1");
    expect([isOver, hidden]).toEqual([false, []]);
    await registering;
    expect(await store.webhooks.findChanged(makeWebhook("a"), ALL)).toHaveLength(1);
  });
});
