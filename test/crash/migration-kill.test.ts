import { expect, it } from "vitest";
import { migrationKills } from "./migration-kill.ts";

it("a file of an older version that is opened by a process that is killed is of the old version or the new one, and whole", {
  timeout: 120_000,
}, async () => {
  const { kills, beforeCopy, between, updated, lost, half, refused, faults } = await migrationKills(8, 31);
  expect(faults).toEqual([]);
  expect([kills, lost, half, refused]).toEqual([8, 0, 0, 8]);
  // Else no kill hit the update.
  expect(beforeCopy + between).toBeGreaterThan(0);
  expect(beforeCopy + between + updated).toBe(8);
});
