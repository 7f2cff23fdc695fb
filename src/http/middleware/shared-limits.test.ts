import { expect, it } from "vitest";
import { memoryRateLimits } from "../../adapters/memory/rate-limits.ts";
import { MemoryError } from "../../errors.ts";
import { sharedLimits } from "./rate-limits.ts";

const limits = (perMinute: number) => memoryRateLimits({ perMinute, clock: () => new Date(0) });
const failing = (error: Error) => ({
  name: "redis",
  take: async () => Promise.reject(error),
  spend: async () => Promise.reject(error),
});

it("uses the shared limits", async () => {
  const both = sharedLimits(limits(1), limits(100));
  expect([await both.take("k"), (await both.take("k")) > 0]).toEqual([0, true]);
});

it("uses local limits while the shared ones are unavailable", async () => {
  const both = sharedLimits(failing(new MemoryError("unavailable", "It is down.")), limits(2));
  expect([await both.take("k"), await both.take("k"), (await both.take("k")) > 0]).toEqual([0, 0, true]);
});

it("throws an error that is not an outage", async () => {
  await expect(sharedLimits(failing(new TypeError("wrong")), limits(2)).take("k")).rejects.toThrow("wrong");
});
