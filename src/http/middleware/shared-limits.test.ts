import { expect, it } from "vitest";
import { memoryRateLimits } from "../../adapters/memory/rate-limits.ts";
import { MemoryError } from "../../errors.ts";
import { sharedLimits } from "./rate-limits.ts";

const limits = (perMinute: number) => memoryRateLimits({ perMinute, clock: () => new Date(0) });
const failing = (error: Error) => ({ name: "redis", take: async () => Promise.reject(error) });

it("limits that are shared are the ones that count", async () => {
  const both = sharedLimits(limits(1), limits(100));
  expect([await both.take("k"), (await both.take("k")) > 0]).toEqual([0, true]);
});

it("a server counts for itself where the shared ones cannot be asked", async () => {
  const both = sharedLimits(failing(new MemoryError("unavailable", "It is down.")), limits(2));
  expect([await both.take("k"), await both.take("k"), (await both.take("k")) > 0]).toEqual([0, 0, true]);
});

it("what is no trouble of theirs is thrown", async () => {
  await expect(sharedLimits(failing(new TypeError("wrong")), limits(2)).take("k")).rejects.toThrow("wrong");
});
