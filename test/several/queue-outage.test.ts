import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as bullmq from "bullmq";
import { Redis } from "ioredis";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { BULLMQ_CLIENT, bullmqQueue } from "../../src/adapters/bullmq/index.ts";
import type { Queue } from "../../src/ports/queue.ts";
import { type OwnServer, ownServer } from "../services/own-server.ts";
import { type RunningWorker, startedWorker } from "./processes.ts";

const { KEEPSAKE_TEST_REDIS: isThere } = process.env;
const missing = isThere
  ? ""
  : ' (needs redis-server and KEEPSAKE_TEST_REDIS: eval "$(test/services/up redis)")';
const SOON = { timeout: 15_000, interval: 20 };

describe.skipIf(!isThere)(`a queue whose Redis is treated badly${missing}`, { timeout: 120_000 }, () => {
  let redis: OwnServer;
  const opened: { readonly queue: Queue; readonly client: Redis }[] = [];
  beforeAll(async () => {
    redis = await ownServer("redis");
  }, 120_000);
  afterAll(async () => {
    await Promise.all(opened.map(({ queue }) => queue.close()));
    for (const { client } of opened) client.disconnect();
    await redis.remove();
  }, 120_000);

  function open(prefix: string): Queue {
    const client = new Redis(redis.address, BULLMQ_CLIENT);
    client.on("error", () => {});
    const queue = bullmqQueue({
      library: bullmq,
      connection: client,
      prefix,
      firstPauseMs: 10,
      lockMs: 1000,
    });
    opened.push({ queue, client });
    return queue;
  }

  it("offers and ends without waiting for a Redis that was killed, and goes on when it is back, empty", async () => {
    const queue = open("killed");
    let runs = 0;
    const run = async (): Promise<void> => {
      runs += 1;
    };
    await queue.work("expiry", run);
    const end = await queue.work("decay", run);
    queue.offer("expiry");
    await expect.poll(() => runs, SOON).toBe(1);
    await redis.kill();
    await expect.poll(() => queue.isUp(), SOON).toBe(false);
    const begun = performance.now();
    for (let i = 0; i < 1000; i += 1) queue.offer("expiry");
    expect(performance.now() - begun).toBeLessThan(1000);
    await expect(queue.setAside(10)).rejects.toMatchObject({ code: "unavailable" });
    await end();
    expect(performance.now() - begun).toBeLessThan(10_000);
    await redis.start();
    await expect.poll(() => queue.isUp(), SOON).toBe(true);
    queue.offer("expiry");
    await expect.poll(() => runs, SOON).toBeGreaterThan(1);
    // A thousand hints that there is work are one or two.
    expect(runs).toBeLessThan(5);
  });

  it("has a run that was in hand when Redis was killed end well, and is offered new ones afterwards", async () => {
    const queue = open("in-hand");
    let runs = 0;
    await queue.work("expiry", async () => {
      runs += 1;
      await new Promise((resolve) => setTimeout(resolve, runs === 1 ? 2000 : 0));
    });
    queue.offer("expiry");
    await expect.poll(() => runs, SOON).toBe(1);
    await redis.kill();
    await redis.start();
    await expect.poll(() => queue.isUp(), SOON).toBe(true);
    await new Promise((resolve) => setTimeout(resolve, 2500));
    queue.offer("expiry");
    await expect.poll(() => runs, SOON).toBeGreaterThan(1);
  });

  it("is down for whoever asks while Redis is paused, and up again afterwards", async () => {
    const queue = open("paused");
    expect(await queue.isUp()).toBe(true);
    redis.pause();
    const begun = performance.now();
    try {
      expect(await queue.isUp()).toBe(false);
      expect(() => queue.offer("expiry")).not.toThrow();
      expect(performance.now() - begun).toBeLessThan(5000);
    } finally {
      redis.goOn();
    }
    await expect.poll(() => queue.isUp(), SOON).toBe(true);
  });

  it("takes over what a worker that was lost had in hand", async () => {
    const [lost, other] = [open("lost"), open("lost")];
    let taken = 0;
    await lost.work("expiry", () => new Promise(() => {}));
    lost.offer("expiry");
    await new Promise((resolve) => setTimeout(resolve, 300));
    // Its connection is gone, and its lock runs out.
    opened.find(({ queue }) => queue === lost)?.client.disconnect();
    await other.work("expiry", async () => {
      taken += 1;
    });
    await expect.poll(() => taken, SOON).toBe(1);
  });

  it("keeps no worker from starting, from being well, and from ending in good order", async () => {
    const folder = mkdtempSync(join(tmpdir(), "keepsake-worker-"));
    const settings = { REDIS_URL: redis.address, KEEPSAKE_QUEUE: "bullmq" };
    const queueOf = async (worker: RunningWorker): Promise<unknown> => (await worker.health()).queue;
    try {
      await redis.kill();
      const first = await startedWorker(join(folder, "memory.db"), settings);
      expect(await first.health()).toEqual({ http: 200, status: "ok", record: "ok", queue: "unavailable" });
      await redis.start();
      await expect.poll(() => queueOf(first), SOON).toBe("ok");
      for (const [go, back] of [
        [redis.kill, redis.start],
        [redis.pause, redis.goOn],
      ] as const) {
        const worker = await startedWorker(join(folder, "memory.db"), settings);
        // From then on it takes what is offered.
        await new Promise((resolve) => setTimeout(resolve, 1500));
        await go();
        const { exit, tookMs } = await worker.end("SIGTERM");
        await back();
        expect(exit).toBe(0);
        expect(tookMs).toBeLessThan(10_000);
      }
      expect(await first.end("SIGTERM")).toMatchObject({ exit: 0 });
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it("goes on without hints where Redis has no room", async () => {
    const queue = open("full");
    let runs = 0;
    await queue.work("expiry", async () => {
      runs += 1;
    });
    const admin = new Redis(redis.address);
    await admin.config("SET", "maxmemory", "1");
    queue.offer("expiry");
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(runs).toBe(0);
    await admin.config("SET", "maxmemory", "0");
    admin.disconnect();
    queue.offer("expiry");
    await expect.poll(() => runs, SOON).toBe(1);
  });
});
