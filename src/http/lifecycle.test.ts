import { describe, expect, it } from "vitest";
import { createLifecycle } from "./graceful-shutdown.ts";

describe("work in progress", () => {
  it("is awaited, with the work after its response", async () => {
    const at = createLifecycle();
    const done: string[] = [];
    const rest = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
    void at.track(async () => {
      await rest(10);
      done.push("answer");
      at.trackAfterAnswer(rest(10).then(() => done.push("stored")));
    });
    expect(await at.waitUntilIdle(5000)).toBe(true);
    expect(done).toEqual(["answer", "stored"]);
  });

  it("is not awaited longer than the given time", async () => {
    const at = createLifecycle();
    void at.track(() => new Promise(() => {}));
    expect(await at.waitUntilIdle(20)).toBe(false);
  });

  it("ends also if it fails, and its error goes to the caller", async () => {
    const at = createLifecycle();
    const failing = at.track(() => Promise.reject(new Error("no")));
    await expect(failing).rejects.toThrow("no");
    expect(await at.waitUntilIdle(1000)).toBe(true);
  });
});
