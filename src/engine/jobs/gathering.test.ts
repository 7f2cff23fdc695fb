import { beforeEach, describe, expect, it } from "vitest";
import { createInMemoryStore } from "../../adapters/memory/index.ts";
import { createMemory } from "../../memory.ts";
import { makeChangeSet, makeMessage } from "../../testing/memory-store/change-sets.ts";
import { scriptedExtractor } from "../../testing/test-doubles.ts";
import type { Keepsake } from "../api/keepsake.ts";
import { createMessageBatcher, isBatchReady, type MessageBatcher } from "./understanding-job.ts";

const ann = { project: "default", user: "ann" };
const bob = { project: "default", user: "bob" };
let now: number;
let waiting: MessageBatcher;
beforeEach(() => {
  now = 1000;
  waiting = createMessageBatcher(100, () => now);
});

describe("messages that wait for a batch", () => {
  it("wait until their user pauses, whatever others do", () => {
    waiting.add(ann);
    now += 60;
    waiting.add(ann);
    waiting.add(bob);
    now += 60;
    waiting.add(bob);
    expect(waiting.take()).toEqual([]);
    expect(waiting.next()).toBe(40);
    now += 40;
    expect(waiting.take()).toEqual([ann]);
    expect([waiting.has(ann), waiting.has(bob)]).toEqual([false, true]);
    expect(waiting.next()).toBe(60);
  });

  it("stop waiting when there are enough of them", () => {
    for (let i = 0; i < 11; i += 1) waiting.add(ann);
    expect(waiting.take()).toEqual([]);
    waiting.add(ann);
    expect(waiting.next()).toBe(0);
    expect(waiting.take()).toEqual([ann]);
  });

  it("wait for five pauses at most, in a conversation without any", () => {
    for (let i = 0; i < 10; i += 1, now += 50) waiting.add(ann);
    expect(now).toBe(1500);
    expect(waiting.take()).toEqual([ann]);
    expect(waiting.next()).toBeUndefined();
  });
});

describe("messages from another process", () => {
  const at = (seconds: number) => ({ heard: true, storedAt: new Date(seconds * 1000).toISOString() });

  it("wait as long as in that process", () => {
    const talk = [at(0), at(60), at(110)];
    expect(isBatchReady(talk, 120_000, 229_000)).toBe(false);
    expect(isBatchReady(talk, 120_000, 230_000)).toBe(true);
  });

  it("wait for five pauses at most, and no longer when there are a dozen", () => {
    const talk = Array.from({ length: 11 }, (_, i) => at(i * 59));
    expect(isBatchReady(talk, 120_000, 595_000)).toBe(false);
    expect(isBatchReady(talk, 120_000, 600_000)).toBe(true);
    expect(isBatchReady([...talk, at(595)], 120_000, 596_000)).toBe(true);
  });

  it("do not wait when no extractor has read them", () => {
    expect(isBatchReady([at(0), { storedAt: at(1).storedAt }], 120_000, 2000)).toBe(true);
  });

  it("are left alone by a newly started process until their user has paused", async () => {
    for (const lingerMs of [3_600_000, 40_000]) {
      const record = createInMemoryStore();
      const storedAt = new Date(Date.now() - 60_000).toISOString();
      const said = makeMessage("m1", { content: "I have goats.", digest: "pending", heard: true, storedAt });
      await record.commit(ann, makeChangeSet({ messages: [said] }));
      const readings: number[] = [];
      const remote = { ...scriptedExtractor(), local: false, lingerMs };
      await using memory = await createMemory({
        record,
        extractor: [
          scriptedExtractor(),
          {
            ...remote,
            async propose({ messages }) {
              readings.push(messages.length);
              return [];
            },
          },
        ],
      });
      await new Promise((resolve) => setTimeout(resolve, 400));
      const isRead = lingerMs === 40_000;
      if (isRead) await expect.poll(() => readings, { timeout: 10_000 }).toEqual([1]);
      else expect(readings).toEqual([]);
      expect((await memory.jobs())[0]).toMatchObject({ name: "understanding", attempts: 0 });
    }
  });
});

describe("a model in the background", () => {
  const readings: number[] = [];
  const opened = (lingerMs: number): Promise<Keepsake> =>
    createMemory({
      path: ":memory:",
      extractor: {
        name: "model",
        local: false,
        lingerMs,
        async propose({ messages }) {
          readings.push(messages.length);
          return [];
        },
      },
    });
  beforeEach(() => {
    readings.length = 0;
  });

  it("reads the messages before a pause together", async () => {
    await using memory = await opened(1000);
    const user = memory.scope({ user: "ann" });
    for (const place of ["Utrecht", "Porto", "Turku"]) await user.remember(`I lived in ${place} once.`);
    expect(readings).toEqual([]);
    await expect.poll(() => readings, { timeout: 10_000 }).toEqual([3]);
  });

  it("reads a dozen messages at once, however long it would have waited", async () => {
    await using memory = await opened(3_600_000);
    const user = memory.scope({ user: "ann" });
    for (let i = 1; i <= 12; i += 1) await user.remember(`I have ${i} goats now.`);
    await expect.poll(() => readings.reduce((sum, count) => sum + count, 0), { timeout: 10_000 }).toBe(12);
    expect(readings).toHaveLength(1);
  });

  it("reads at once when no wait is configured", async () => {
    await using memory = await opened(0);
    await memory.scope({ user: "ann" }).remember("I have goats.");
    await expect.poll(() => readings, { timeout: 10_000 }).toEqual([1]);
  });
});
