import { expect, it } from "vitest";
import { conversionKills } from "./encryption-kill.ts";

it("a database file whose conversion is killed is as before or encrypted, whole, and the next conversion ends it", {
  timeout: 180_000,
}, async () => {
  const { plain, encrypted, faults } = await conversionKills(5, 34);
  expect(faults).toEqual([]);
  expect(plain + encrypted).toBe(5);
  expect([plain > 0, encrypted > 0]).toEqual([true, true]);
});
