import { expect, it } from "vitest";
import { createErasureBarriers } from "./erasure-barriers.ts";

it("keeps barriers for the 10,000 users that were erased last", () => {
  const barred = createErasureBarriers(() => new Date(0), 1000);
  for (let i = 0; i < 10_001; i += 1) barred.raise(`u${i}`, 5);
  expect([barred.isBlocked("u0", 4), barred.isBlocked("u1", 4), barred.isBlocked("u10000", 4)]).toEqual([
    false,
    true,
    true,
  ]);
  barred.raise("u1", 3);
  barred.raise("u10001", 5);
  expect([barred.isBlocked("u1", 4), barred.isBlocked("u2", 4)]).toEqual([true, false]);
});
