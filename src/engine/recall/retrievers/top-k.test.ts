import fc from "fast-check";
import { expect, it } from "vitest";
import { selectTopK, selectTopKOf } from "./top-k.ts";

// Few different values, so that many are equal.
const values = fc
  .array(fc.integer({ min: -4, max: 4 }), { maxLength: 200 })
  .map((all) => Float32Array.from(all));

it("gives the same result as sorting", () => {
  fc.assert(
    fc.property(
      values,
      fc.integer({ min: 1, max: 60 }),
      fc.integer({ min: -5, max: 5 }),
      (all, most, least) => {
        const sorted = [...all.keys()]
          .filter((place) => (all[place] as number) >= least)
          .sort((one, other) => (all[other] as number) - (all[one] as number) || one - other);
        expect(selectTopKOf(all, most, least)).toEqual(sorted.slice(0, most));
        expect(selectTopK(all)).toBe(Math.max(0, ...all));
      },
    ),
  );
});
