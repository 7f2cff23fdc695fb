import * as fc from "fast-check";
import { expect, it } from "vitest";
import { runInShares, runInSlices, sortInSlices } from "./time-slicing.ts";

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

it("work in shares gets about as much time as other work, and work in short slices hardly any", async () => {
  const holdFor = (milliseconds: number): void => {
    const until = performance.now() + milliseconds;
    while (performance.now() < until);
  };
  function* steps(): Generator<void, void, void> {
    for (let i = 0; i < 100; i += 1) {
      holdFor(1);
      yield;
    }
  }
  const countOthers = async (run: (work: Generator<void, void, void>) => Promise<void>): Promise<number> => {
    let others = 0;
    let isOver = false;
    const other = (): void => {
      if (isOver) return;
      others += 1;
      holdFor(20);
      setImmediate(other);
    };
    setImmediate(other);
    await run(steps());
    isOver = true;
    return others;
  };
  const inShares = await countOthers(runInShares);
  const inSlices = await countOthers(runInSlices);
  expect(inShares).toBeGreaterThan(1);
  expect(inSlices).toBeGreaterThan(2 * inShares);
});
