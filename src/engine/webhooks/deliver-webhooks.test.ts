import { createServer, type Server, type ServerResponse } from "node:http";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createInMemoryStore } from "../../adapters/memory/index.ts";
import { passingSecret, systemClock, uuidv7 } from "../../adapters/system/index.ts";
import { createWebhookSender } from "../../adapters/webhooks/index.ts";
import { NO_WEBHOOK_HEALTH, type Webhook } from "../../domain/operations/webhook.ts";
import { createMemory } from "../../memory.ts";
import type { MemoryStore } from "../../ports/memory-store.ts";
import type { WebhookStore } from "../../ports/stores/webhook-store.ts";
import type { Meter } from "../../ports/telemetry.ts";
import { makeChangeSet, makeMessage } from "../../testing/memory-store/change-sets.ts";
import { makeWebhook } from "../../testing/memory-store/webhook-cases.ts";
import { startWebhookDelivery, type WebhookDelivery } from "./deliver-webhooks.ts";
import type { WebhookTiming } from "./webhook-channel.ts";

interface Delivery {
  readonly id: string;
  readonly body: string;
  readonly user: string;
  readonly revision: number;
}

const POLL = { timeout: 15_000, interval: 20 };
const TIMING: WebhookTiming = { firstRetryMs: 20, longestRetryMs: 500, giveUpMs: 3_600_000, pollMs: 20 };

let server: Server;
let url: string;
let accepted: Delivery[];
let requests: number;
/** Answers a request: with the status that it gives, or by itself. */
let answer: (request: number, response: ServerResponse) => number | undefined;
let port: number;

async function listen(): Promise<void> {
  server = createServer((request, response) => {
    let body = "";
    request.setEncoding("utf8").on("data", (piece: string) => {
      body += piece;
    });
    request.on("end", () => {
      requests += 1;
      const status = answer(requests, response);
      if (status === undefined) return;
      const { data } = JSON.parse(body);
      const id = String(request.headers["webhook-id"]);
      if (status < 300) accepted.push({ id, body, user: data.user_id, revision: data.revision });
      response.writeHead(status).end();
    });
  });
  const isNew = port === 0;
  do if (isNew) port = drawPort();
  while (!(await listensOn(port)));
  url = `http://127.0.0.1:${port}/hook`;
}

/** Below the ports that systems give to connections: none of them takes it while the receiver is down. */
function drawPort(): number {
  return 20_000 + Math.floor(Math.random() * 10_000);
}

function listensOn(wanted: number): Promise<boolean> {
  return new Promise((resolve) => {
    server.once("error", () => setTimeout(resolve, 50, false));
    server.listen(wanted, "127.0.0.1", () => resolve(true));
  });
}

async function stopListening(): Promise<void> {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
}

beforeEach(async () => {
  [accepted, requests, port] = [[], 0, 0];
  answer = () => 204;
  await listen();
});
afterEach(stopListening);

const revisionsOf = (user: string): number[] =>
  accepted.filter((delivery) => delivery.user === user).map(({ revision }) => revision);
const countTo = (most: number): number[] => Array.from({ length: most }, (_, i) => i + 1);
/** Without repetitions. */
const firstOf = (revisions: readonly number[]): number[] => [...new Set(revisions)];

describe("a webhook of a memory", () => {
  it("is told by ids and kinds of changes in its project, after its registration, and of no text", async () => {
    await using keepsake = await createMemory({ path: ":memory:", webhooks: { allowsLoopback: true } });
    const ana = keepsake.scope({ user: "ana" });
    await ana.remember("I lived in Porto before.");
    const { id } = await keepsake.webhooks.create({ url });
    const { memories } = await ana.remember("I moved to Lisbon.");
    await keepsake.scope({ user: "ana", project: "other" }).remember("I use Magnet.");
    await expect.poll(() => accepted.length, POLL).toBe(1);
    expect(JSON.parse(accepted[0]?.body ?? "")).toMatchObject({
      type: "memories.changed",
      data: {
        project: "default",
        user_id: "ana",
        revision: 2,
        cause: "remember",
        memories: [{ id: memories[0]?.id }],
      },
    });
    expect(accepted[0]?.body).not.toContain("Lisbon");
    await expect
      .poll(async () => (await keepsake.webhooks.attempts(id))[0], POLL)
      .toMatchObject({ event: accepted[0]?.id, status: 204, attempt: 1, type: "memories.changed" });
    expect(await keepsake.webhooks.get(id)).toMatchObject({ status: "active", delivered: 1, failures: 0 });
  });

  it("goes on at once at its first failed event when its URL is corrected", async () => {
    await using keepsake = await createMemory({ path: ":memory:", webhooks: { allowsLoopback: true } });
    const { id } = await keepsake.webhooks.create({ url: "http://127.0.0.1:9/" });
    const ana = keepsake.scope({ user: "ana" });
    await ana.add({ text: "The number is 1." });
    // The third attempt comes seconds later.
    await expect.poll(async () => (await keepsake.webhooks.get(id)).failures, POLL).toBeGreaterThanOrEqual(2);
    const from = performance.now();
    await keepsake.webhooks.update(id, { url });
    await ana.add({ text: "The number is 2." });
    await expect.poll(() => revisionsOf("ana"), POLL).toEqual([1, 2]);
    expect(performance.now() - from).toBeLessThan(1500);
  });

  it("is a problem of the health report once its receiver has failed for an hour", async () => {
    let skewMs = 0;
    const clock = () => new Date(Date.now() + skewMs);
    await using keepsake = await createMemory({
      path: ":memory:",
      clock,
      webhooks: { allowsLoopback: true },
    });
    const check = async () => (await keepsake.health()).checks.filter(({ name }) => name === "webhooks");
    expect(await check()).toEqual([]);
    await using other = await createMemory({ path: ":memory:", clock, webhooks: { allowsLoopback: true } });
    const { id } = await other.webhooks.create({ url: "http://127.0.0.1:9/" });
    await other.scope({ user: "ana" }).add({ text: "The number is 1." });
    await expect.poll(async () => (await other.webhooks.get(id)).failures, POLL).toBeGreaterThan(0);
    skewMs = 3_700_000;
    const [webhooks] = (await other.health()).checks.filter(({ name }) => name === "webhooks");
    expect(webhooks).toMatchObject({ state: "warning", count: 1 });
  });

  it("is told of the wanted kinds only", async () => {
    await using keepsake = await createMemory({ path: ":memory:", webhooks: { allowsLoopback: true } });
    await keepsake.webhooks.create({ url, events: ["content.erased"] });
    const ana = keepsake.scope({ user: "ana" });
    await ana.remember("I moved to Lisbon.");
    await ana.forget("Lisbon");
    await expect.poll(() => accepted.length, POLL).toBe(1);
    expect(accepted[0]?.body).toContain("content.erased");
  });
});

describe("deliveries", () => {
  let store: MemoryStore;
  let webhooks: WebhookStore;
  let running: WebhookDelivery[];
  /** Added to the time, in ms. */
  let skewMs: number;

  beforeEach(() => {
    store = createInMemoryStore();
    webhooks = store.webhooks as WebhookStore;
    [running, skewMs] = [[], 0];
  });
  afterEach(async () => {
    await Promise.all(running.map((one) => one.stop()));
    await store.close();
  });

  const secret = passingSecret();
  function start(timing: Partial<WebhookTiming> = {}, meter?: Meter): WebhookDelivery {
    const clock = () => new Date(systemClock().getTime() + skewMs);
    const webhookSender = createWebhookSender({ allowsLoopback: true, timeoutMs: 300 });
    const ports = { store, clock, ids: uuidv7(clock), secret, webhookSender, ...(meter ? { meter } : {}) };
    const delivery = startWebhookDelivery(ports, webhooks, { ...TIMING, ...timing }) as WebhookDelivery;
    running.push(delivery);
    return delivery;
  }

  async function commit(user: string, from: number, to: number): Promise<void> {
    for (let base = from; base < to; base += 1)
      await store.commit(
        { project: "default", user },
        makeChangeSet({ base, messages: [makeMessage(`m${base}`)] }),
      );
  }

  const register = (more: Partial<Webhook> = {}): Promise<void> =>
    webhooks.save(makeWebhook("hook", { url, events: ["messages.added"], ...more }));
  const read = async () => (await webhooks.list())[0];

  it("are complete and in the order of each user's revisions, although the receiver fails one in ten", async () => {
    answer = (request) => (request % 10 === 0 ? 500 : 200);
    await register();
    start();
    const users = ["ana", "bo", "cem", "dee"];
    for (const user of users) await commit(user, 0, 100);
    await expect.poll(() => accepted.length, POLL).toBe(400);
    for (const user of users) expect(revisionsOf(user)).toEqual(countTo(100));
    expect(new Set(accepted.map(({ id }) => id)).size).toBe(400);
    await expect.poll(async () => (await read())?.health.delivered, POLL).toBe(400);
  }, 20_000);

  it("end at once when the receiver answers 410, and go on where they stopped when it is enabled again", async () => {
    answer = () => (accepted.length === 3 ? 410 : 200);
    await register();
    start();
    await commit("ana", 0, 6);
    await expect.poll(async () => (await read())?.webhook.disabledFor, POLL).toBe("gone");
    const { webhook } = (await read()) ?? { webhook: makeWebhook("") };
    expect(webhook).toMatchObject({ enabled: false, version: 2 });
    const before = requests;
    await commit("ana", 6, 8);
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect([requests, accepted.length]).toEqual([before, 3]);
    answer = () => 200;
    const { disabledFor: _gone, ...rest } = webhook;
    await webhooks.save({ ...rest, enabled: true, version: 3 });
    running[0]?.onWebhookChange();
    await expect.poll(() => revisionsOf("ana"), POLL).toEqual(countTo(8));
  });

  it("are given up after the longest time and ten attempts, and the last attempts say why", async () => {
    answer = () => 503;
    await register();
    start({ giveUpMs: 3_600_000, firstRetryMs: 1, longestRetryMs: 5 });
    await commit("ana", 0, 1);
    await expect.poll(() => requests, POLL).toBeGreaterThan(3);
    expect((await read())?.webhook.enabled).toBe(true);
    skewMs = 3_600_000;
    await expect.poll(async () => (await read())?.webhook.disabledFor, POLL).toBe("failing");
    expect(requests).toBeGreaterThanOrEqual(10);
    const [last] = (await read())?.health.attempts ?? [];
    expect(last).toMatchObject({ status: 503, problem: "refused_by_receiver", type: "messages.added" });
    expect(last?.attempt).toBeGreaterThanOrEqual(10);
  });

  it("to a receiver that was down are made up for when it is back, without the pauses of each event", async () => {
    await register();
    await stopListening();
    start({ firstRetryMs: 10, longestRetryMs: 60_000 });
    for (const user of countTo(20)) await commit(`user ${user}`, 0, 2);
    await expect.poll(async () => (await read())?.health.failures ?? 0, POLL).toBeGreaterThan(9);
    expect((await read())?.health.attempts[0]?.problem).toBe("no_connection");
    await listen();
    // At least once: an answer that comes too late is a repetition.
    const told = () => countTo(20).map((user) => [...new Set(revisionsOf(`user ${user}`))]);
    await expect.poll(told, POLL).toEqual(countTo(20).map(() => [1, 2]));
    await expect.poll(async () => (await read())?.health.failures, POLL).toBe(0);
  }, 20_000);

  it("to a slow receiver and to one that drops the connection are tried again", async () => {
    answer = (request, response) => {
      if (request === 1) return undefined;
      if (request !== 2) return 200;
      response.socket?.destroy();
      return undefined;
    };
    await register();
    start();
    await commit("ana", 0, 3);
    await expect.poll(() => revisionsOf("ana"), POLL).toEqual([1, 2, 3]);
    await expect.poll(async () => (await read())?.health.delivered, POLL).toBe(3);
    const problems = (await read())?.health.attempts.map(({ problem }) => problem);
    expect(problems).toEqual([undefined, undefined, undefined, "broken_off", "timeout"]);
  });

  it("do not wait for a time far ahead, which was noted before the clock was set back", async () => {
    await register();
    await commit("ana", 0, 1);
    const far = new Date(systemClock().getTime() + 86_400_000).toISOString();
    const failure = { attempts: 3, since: far, at: far, due: far };
    await webhooks.saveCursors({ project: "default", id: "hook" }, [
      { scope: { project: "default", user: "ana" }, revision: 0, failure },
    ]);
    const health = { ...NO_WEBHOOK_HEALTH, failures: 20, failingSince: far, pausedUntil: far };
    await webhooks.saveHealth("default", "hook", health);
    start();
    await expect.poll(() => revisionsOf("ana"), POLL).toEqual([1]);
  });

  it("go on after a stop, in order, and repeat nothing that was stored", async () => {
    await register();
    const first = start();
    await commit("ana", 0, 100);
    await expect.poll(() => accepted.length, POLL).toBeGreaterThan(10);
    await first.stop();
    // A request that was cut off may still arrive.
    await new Promise((resolve) => setTimeout(resolve, 100));
    const before = accepted.length;
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect([accepted.length, before < 100]).toEqual([before, true]);
    await commit("ana", 100, 200);
    start();
    await expect.poll(() => firstOf(revisionsOf("ana")), POLL).toEqual(countTo(200));
    expect(accepted.length).toBeLessThanOrEqual(201);
  });

  it("of one event are made by one of two processes on the same store", async () => {
    await register();
    start();
    start();
    for (const user of ["ana", "bo", "cem"]) await commit(user, 0, 50);
    await expect.poll(() => accepted.length, POLL).toBe(150);
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect(requests).toBe(150);
    for (const user of ["ana", "bo", "cem"]) expect(revisionsOf(user)).toEqual(countTo(50));
    // The other one takes over.
    await running[0]?.stop();
    await commit("ana", 50, 60);
    await expect.poll(() => revisionsOf("ana"), POLL).toEqual(countTo(60));
  }, 30_000);

  it("are measured: attempts, webhooks by status, what waits, and for how long", async () => {
    const values = new Map<string, number>();
    const toKey = (name: string, labels: object = {}): string => [name, ...Object.values(labels)].join(" ");
    const meter: Meter = {
      count: (name, labels, by = 1) => {
        const key = toKey(name, labels);
        values.set(key, (values.get(key) ?? 0) + by);
      },
      observe: () => {},
      set: (name, value, labels) => values.set(toKey(name, labels), value),
    };
    const watched = () => ({
      active: values.get("keepsake_webhooks active"),
      failing: values.get("keepsake_webhooks failing"),
      disabled: values.get("keepsake_webhooks disabled"),
      revisions: values.get("keepsake_webhook_pending_revisions"),
    });
    answer = () => 500;
    await register();
    await webhooks.save(makeWebhook("off", { url, enabled: false }));
    const delivery = start({ firstRetryMs: 300, longestRetryMs: 300 }, meter);
    await commit("ana", 0, 3);
    await commit("bo", 0, 2);
    await expect
      .poll(() => {
        delivery.onWebhookChange();
        return watched();
      }, POLL)
      .toEqual({ active: 0, failing: 1, disabled: 1, revisions: 5 });
    await expect
      .poll(() => {
        delivery.onWebhookChange();
        return values.get("keepsake_webhook_oldest_failing_seconds");
      }, POLL)
      .toBeGreaterThan(0);
    expect(values.get("keepsake_webhook_attempts_total failed")).toBeGreaterThan(0);
    answer = () => 200;
    await expect
      .poll(() => {
        delivery.onWebhookChange();
        return watched();
      }, POLL)
      .toEqual({ active: 1, failing: 0, disabled: 1, revisions: 0 });
    expect(values.get("keepsake_webhook_oldest_failing_seconds")).toBe(0);
    expect(values.get("keepsake_webhook_attempts_total delivered")).toBe(5);
  }, 20_000);

  it("to a removed webhook end", async () => {
    await register();
    start();
    await commit("ana", 0, 1);
    await expect.poll(() => accepted.length, POLL).toBe(1);
    await webhooks.remove("default", "hook");
    running[0]?.onWebhookChange();
    await new Promise((resolve) => setTimeout(resolve, 50));
    await commit("ana", 1, 5);
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(accepted.length).toBe(1);
  });
});
