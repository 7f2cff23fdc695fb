import { expect, it } from "vitest";
import { rateLimitsConformance } from "../../testing/rate-limits-conformance.ts";
import { memoryRateLimits } from "./rate-limits.ts";

rateLimitsConformance("memory", async (options) => memoryRateLimits(options));

it("refuses a rate limit of zero", () => {
  expect(() => memoryRateLimits({ perMinute: 0, clock: () => new Date(0) })).toThrow(/perMinute/);
});
