import { expect, it } from "vitest";
import { plantAll } from "./planted.ts";

// Fifty are planted in `.ci/run`, and a thousand by `node test/faults/planted.ts`.
it("the doctor finds each inconsistency that is planted in a database, and none in one that is sound", {
  timeout: 180_000,
}, async () => {
  const result = await plantAll({ seed: 16, count: 25 });
  expect(result).toMatchObject({ planted: 25, found: 25, missed: [], falseAlarms: 0 });
  expect(result.controls).toBeGreaterThan(1);
});
