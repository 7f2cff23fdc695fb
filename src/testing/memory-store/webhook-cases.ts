import { expect } from "vitest";
import { NO_WEBHOOK_HEALTH, type Webhook } from "../../domain/operations/webhook.ts";
import type { MemoryStore } from "../../ports/memory-store.ts";
import type { UserPageSums, WebhookStore } from "../../ports/stores/webhook-store.ts";
import { BASE_TIME, makeChangeSet, makeMessage } from "./change-sets.ts";
import { ANN, BOB, type MemoryStoreCases, requireCapability } from "./store-contents.ts";

/** A webhook of the project "default". */
export function makeWebhook(id: string, more: Partial<Webhook> = {}): Webhook {
  return {
    id,
    project: "default",
    url: "https://example.com/hook",
    events: ["memories.changed"],
    enabled: true,
    enabledAt: BASE_TIME,
    createdAt: BASE_TIME,
    generation: "first",
    version: 1,
    ...more,
  };
}

const webhooksOf = (store: MemoryStore): WebhookStore => requireCapability(store, "webhooks");

/** Every number. */
const ALL = { after: 0, upTo: 1_000_000_000 };
const OTHER_ANN = { project: "other", user: "ann" };
const FAILURE = { attempts: 2, since: BASE_TIME, at: BASE_TIME, due: BASE_TIME };

/** A changed webhook with a cursor, and one that was removed. Nothing if the store keeps none. */
export async function changeWebhooks(store: MemoryStore): Promise<void> {
  const { webhooks } = store;
  if (!webhooks) return;
  const webhook = makeWebhook("a");
  await webhooks.save(webhook);
  await webhooks.save(makeWebhook("b"));
  await webhooks.remove("default", "b");
  const base = await store.revision(ANN);
  for (const more of [0, 1])
    await store.commit(ANN, makeChangeSet({ base: base + more, messages: [makeMessage(`later ${more}`)] }));
  await webhooks.saveCursors(webhook, [{ scope: ANN, revision: base + 1, failure: FAILURE }]);
  await webhooks.saveHealth("default", "a", { ...NO_WEBHOOK_HEALTH, delivered: 3 });
  await webhooks.save(makeWebhook("a", { version: 2, events: ["memories.changed"], enabled: false }));
}

/** The webhooks, and the users that have changed since. Undefined if the store keeps none. */
export async function readWebhooks({ webhooks }: MemoryStore): Promise<unknown> {
  if (!webhooks) return undefined;
  return { stored: await webhooks.list(), changed: await webhooks.findChanged(makeWebhook("a"), ALL) };
}

export const WEBHOOK_CASES: MemoryStoreCases = {
  "lists the webhooks of a project, or of all, in the order of their ids": async (store) => {
    const webhooks = webhooksOf(store);
    const [b, a, c] = [makeWebhook("b"), makeWebhook("a"), makeWebhook("c", { project: "other" })];
    for (const webhook of [b, a, c]) await webhooks.save(webhook);
    const shown = [a, b, c].map((webhook) => ({ webhook, health: NO_WEBHOOK_HEALTH }));
    expect(await webhooks.list()).toEqual(shown);
    expect(await webhooks.list("default")).toEqual(shown.slice(0, 2));
    expect(await webhooks.list("nothing")).toEqual([]);
  },

  "accepts only the next version of a webhook": async (store) => {
    const webhooks = webhooksOf(store);
    await webhooks.save(makeWebhook("a"));
    await webhooks.saveHealth("default", "a", { ...NO_WEBHOOK_HEALTH, delivered: 3 });
    for (const version of [1, 3])
      await expect(webhooks.save(makeWebhook("a", { version }))).rejects.toMatchObject({ code: "conflict" });
    const second = makeWebhook("a", { version: 2, enabled: false });
    await webhooks.save(second);
    expect(await webhooks.list()).toEqual([
      { webhook: second, health: { ...NO_WEBHOOK_HEALTH, delivered: 3 } },
    ]);
    await expect(webhooks.save(makeWebhook("b", { version: 2 }))).rejects.toMatchObject({ code: "conflict" });
  },

  "starts a webhook at the current revisions, and finds the users of its project that changed since": async (
    store,
  ) => {
    const webhooks = webhooksOf(store);
    await store.commit(ANN, makeChangeSet({ messages: [makeMessage("m1")] }));
    await store.commit(OTHER_ANN, makeChangeSet({ messages: [makeMessage("m1")] }));
    const webhook = makeWebhook("a");
    await webhooks.save(webhook);
    expect(await webhooks.findChanged(webhook, ALL)).toEqual([]);
    await store.commit(BOB, makeChangeSet({ messages: [makeMessage("m1")] }));
    await store.commit(OTHER_ANN, makeChangeSet({ base: 1, messages: [makeMessage("m2")] }));
    await store.commit(ANN, makeChangeSet({ base: 1, messages: [makeMessage("m2")] }));
    expect(await webhooks.findChanged(webhook, ALL)).toEqual([
      { scope: ANN, revision: 1, latest: 2 },
      { scope: BOB, revision: 0, latest: 1 },
    ]);
    // A change of the webhook does not move it.
    await webhooks.save(makeWebhook("a", { version: 2 }));
    expect(await webhooks.findChanged(webhook, ALL)).toHaveLength(2);
  },

  "finds changed users within a range of the order of their first writes": async (store) => {
    const webhooks = webhooksOf(store);
    const webhook = makeWebhook("a");
    await webhooks.save(webhook);
    for (const user of ["c", "a", "b"])
      await store.commit({ project: "default", user }, makeChangeSet({ messages: [makeMessage("m1")] }));
    const found: string[] = [];
    // Numbers may have gaps.
    for (let after = 0; after < 100 && found.length < 3; after += 1) {
      const users = await webhooks.findChanged(webhook, { after, upTo: after + 1 });
      expect(users.length).toBeLessThanOrEqual(1);
      found.push(...users.map(({ scope }) => scope.user));
    }
    expect(found).toEqual(["c", "a", "b"]);
  },

  "changes the sum of a page with each commit of one of its users, and no other sum": async (store) => {
    const webhooks = webhooksOf(store);
    const readSums = async (): Promise<Map<number, number>> => {
      const sums = new Map<number, number>();
      for (let from: number | undefined = 0; from !== undefined; ) {
        const read: UserPageSums = await webhooks.readPageSums({ from, size: 2 });
        for (const { page, sum } of read.sums) sums.set(page, sum);
        from = read.next;
      }
      return sums;
    };
    expect([...(await readSums())]).toEqual([]);
    const users = ["a", "b", "c", "d", "e", "a", "d", "a"];
    const webhookOf = (user: string): Webhook => makeWebhook(user, { project: `project of ${user}` });
    for (const user of new Set(users)) await webhooks.save(webhookOf(user));
    const bases = new Map<string, number>();
    let before = await readSums();
    for (const user of users) {
      const base = bases.get(user) ?? 0;
      bases.set(user, base + 1);
      const changes = makeChangeSet({ base, messages: [makeMessage(`m${base}`)] });
      await store.commit({ project: `project of ${user}`, user }, changes);
      const after = await readSums();
      const changed = [...after].filter(([page, sum]) => (before.get(page) ?? 0) !== sum);
      expect(changed.map(([page, sum]) => sum - (before.get(page) ?? 0))).toEqual([1]);
      before = after;
      const page = changed[0]?.[0] ?? Number.NaN;
      expect(Number.isInteger(page)).toBe(true);
      const range = { after: page * 2, upTo: page * 2 + 2 };
      expect(await webhooks.findChanged(webhookOf(user), range)).toMatchObject([
        { scope: { project: `project of ${user}`, user }, revision: 0, latest: base + 1 },
      ]);
    }
    expect([...before.values()].reduce((one, other) => one + other, 0)).toBe(8);
  },

  "moves cursors forward only, with the failure of the next event": async (store) => {
    const webhooks = webhooksOf(store);
    const webhook = makeWebhook("a");
    await webhooks.save(webhook);
    for (const base of [0, 1, 2])
      await store.commit(ANN, makeChangeSet({ base, messages: [makeMessage(`m${base}`)] }));
    const find = async () => await webhooks.findChanged(webhook, ALL);
    await webhooks.saveCursors(webhook, [{ scope: ANN, revision: 2, failure: FAILURE }]);
    expect(await find()).toEqual([{ scope: ANN, revision: 2, latest: 3, failure: FAILURE }]);
    await webhooks.saveCursors(webhook, [{ scope: ANN, revision: 1 }]);
    expect(await find()).toEqual([{ scope: ANN, revision: 2, latest: 3, failure: FAILURE }]);
    await webhooks.saveCursors(webhook, [
      { scope: ANN, revision: 3 },
      { scope: BOB, revision: 1 },
    ]);
    expect(await find()).toEqual([]);
    await webhooks.saveCursors({ project: "default", id: "nothing" }, [{ scope: ANN, revision: 3 }]);
  },

  "removes a webhook with its cursors": async (store) => {
    const webhooks = webhooksOf(store);
    const webhook = makeWebhook("a");
    await webhooks.save(webhook);
    await store.commit(ANN, makeChangeSet({ messages: [makeMessage("m1")] }));
    await webhooks.saveCursors(webhook, [{ scope: ANN, revision: 1 }]);
    expect(await webhooks.remove("other", "a")).toBe(false);
    expect(await webhooks.remove("default", "a")).toBe(true);
    expect(await webhooks.remove("default", "a")).toBe(false);
    await webhooks.saveHealth("default", "a", { ...NO_WEBHOOK_HEALTH, delivered: 3 });
    await webhooks.saveCursors(webhook, [{ scope: ANN, revision: 1 }]);
    expect(await webhooks.list()).toEqual([]);
    expect(await webhooks.findChanged(webhook, ALL)).toEqual([]);
    // Another one with its id starts at the present.
    await store.commit(ANN, makeChangeSet({ base: 1, messages: [makeMessage("m2")] }));
    await webhooks.save(webhook);
    expect(await webhooks.findChanged(webhook, ALL)).toEqual([]);
  },
};
