import { expect, it } from "vitest";
import { eraseKills } from "./erase-kill.ts";

it("a large erasure that is killed at random moments is whole or has not begun, and once acknowledged stays", {
  timeout: 120_000,
}, async () => {
  const { untouched, erased, unacknowledged, acknowledged, faults } = await eraseKills(6, 24);
  expect(faults).toEqual([]);
  expect(untouched + erased).toBe(6);
  // Else no kill hit the erasure.
  expect(unacknowledged).toBeGreaterThan(0);
  expect(acknowledged).toBeGreaterThanOrEqual(3);
});
