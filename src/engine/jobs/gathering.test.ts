import { beforeEach, describe, expect, it } from "vitest";
import { createMemory } from "../../memory.ts";
import type { Keepsake } from "../surface.ts";
import { type Gathering, gathering } from "./gathering.ts";

const ann = { project: "default", user: "ann" };
const bob = { project: "default", user: "bob" };
let now: number;
let waiting: Gathering;
beforeEach(() => {
  now = 1000;
  waiting = gathering(100, () => now);
});

describe("messages that wait to be read together", () => {
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

  it("wait no longer where there are enough of them", () => {
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

  it("reads together what was said before a pause", async () => {
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

  it("reads at once where it is told to wait for nobody", async () => {
    await using memory = await opened(0);
    await memory.scope({ user: "ann" }).remember("I have goats.");
    await expect.poll(() => readings, { timeout: 10_000 }).toEqual([1]);
  });
});
