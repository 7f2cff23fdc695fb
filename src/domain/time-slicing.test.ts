import * as fc from "fast-check";
import { expect, it } from "vitest";
import { sortInSlices } from "./time-slicing.ts";

it("sorting in slices gives what sorting at once gives, with equal items in their order", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.nat(50), { maxLength: 5000, size: "max" }), async (numbers) => {
      const items = numbers.map((number, place) => ({ number, place }));
      const compare = (one: { number: number }, other: { number: number }) => one.number - other.number;
      expect(await sortInSlices(items, compare)).toEqual([...items].sort(compare));
    }),
    { numRuns: 20 },
  );
});

it("sorting in slices lets other work run", async () => {
  let runs = 0;
  const timer = setInterval(() => {
    runs += 1;
  }, 1);
  const items = Array.from({ length: 100_000 }, (_one, i) => (i * 7919) % 100_003);
  await sortInSlices(items, (one, other) => one - other);
  clearInterval(timer);
  expect(runs).toBeGreaterThan(1);
});
