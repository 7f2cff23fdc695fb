import { expect } from "vitest";
import { NO_WEBHOOK_HEALTH, type Webhook } from "../../domain/webhook.ts";
import type { MemoryStore } from "../../ports/memory-store.ts";
import type { WebhookStore } from "../../ports/webhook-store.ts";
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

const OTHER_ANN = { project: "other", user: "ann" };
const FAILURE = { attempts: 2, since: BASE_TIME, at: BASE_TIME, due: BASE_TIME };

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
    expect((await webhooks.findChanged(webhook, { limit: 10 })).users).toEqual([]);
    await store.commit(BOB, makeChangeSet({ messages: [makeMessage("m1")] }));
    await store.commit(OTHER_ANN, makeChangeSet({ base: 1, messages: [makeMessage("m2")] }));
    await store.commit(ANN, makeChangeSet({ base: 1, messages: [makeMessage("m2")] }));
    expect((await webhooks.findChanged(webhook, { limit: 10 })).users).toEqual([
      { scope: ANN, revision: 1 },
      { scope: BOB, revision: 0 },
    ]);
    // A change of the webhook does not move it.
    await webhooks.save(makeWebhook("a", { version: 2 }));
    expect((await webhooks.findChanged(webhook, { limit: 10 })).users).toHaveLength(2);
  },

  "looks at a limited number of users in a page": async (store) => {
    const webhooks = webhooksOf(store);
    const webhook = makeWebhook("a");
    await webhooks.save(webhook);
    for (const user of ["c", "a", "b"])
      await store.commit({ project: "default", user }, makeChangeSet({ messages: [makeMessage("m1")] }));
    const found: string[] = [];
    let after: string | undefined;
    do {
      const page = await webhooks.findChanged(webhook, {
        limit: 2,
        ...(after === undefined ? {} : { after }),
      });
      expect(page.users.length).toBeLessThanOrEqual(2);
      found.push(...page.users.map(({ scope }) => scope.user));
      after = page.cursor;
    } while (after !== undefined);
    expect(found).toEqual(["c", "a", "b"]);
  },

  "moves cursors forward only, with the failure of the next event": async (store) => {
    const webhooks = webhooksOf(store);
    const webhook = makeWebhook("a");
    await webhooks.save(webhook);
    for (const base of [0, 1, 2])
      await store.commit(ANN, makeChangeSet({ base, messages: [makeMessage(`m${base}`)] }));
    const find = async () => (await webhooks.findChanged(webhook, { limit: 10 })).users;
    await webhooks.saveCursors(webhook, [{ scope: ANN, revision: 2, failure: FAILURE }]);
    expect(await find()).toEqual([{ scope: ANN, revision: 2, failure: FAILURE }]);
    await webhooks.saveCursors(webhook, [{ scope: ANN, revision: 1 }]);
    expect(await find()).toEqual([{ scope: ANN, revision: 2, failure: FAILURE }]);
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
    expect(await webhooks.list()).toEqual([]);
    expect((await webhooks.findChanged(webhook, { limit: 10 })).users).toEqual([]);
  },
};
