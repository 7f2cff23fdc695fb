import { expect, it } from "vitest";
import { rotationKills } from "./rotation-kill.ts";

it("a change of the master key that is killed is ended by the next one, and no key is lost or left wrapped with the earlier one", {
  timeout: 180_000,
}, async () => {
  const { before, between, after, faults } = await rotationKills(6, 34);
  expect(faults).toEqual([]);
  expect(before + between + after).toBe(6);
  expect(between).toBeGreaterThan(0);
});
