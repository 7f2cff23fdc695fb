import { expect, it } from "vitest";
import { bars } from "./bars.ts";

it("bars are held for 10,000 users at most, the ones that were erased last", () => {
  const barred = bars(() => new Date(0), 1000);
  for (let i = 0; i < 10_001; i += 1) barred.bar(`u${i}`, 5);
  expect([barred.isBarred("u0", 4), barred.isBarred("u1", 4), barred.isBarred("u10000", 4)]).toEqual([
    false,
    true,
    true,
  ]);
  barred.bar("u1", 3);
  barred.bar("u10001", 5);
  expect([barred.isBarred("u1", 4), barred.isBarred("u2", 4)]).toEqual([true, false]);
});
