import fc from "fast-check";
import { expect, it } from "vitest";
import { vectorBlock } from "./vector-block.ts";

const part = fc.float({ min: -1, max: 1, noNaN: true });

it.each([
  ["few vectors", 40, 16],
  ["many, by the processor's wide instructions", 3000, 16],
  ["many of a length that those cannot take", 3000, 10],
])("gives the dot product of each vector with the query: %s", (_name, count, dimensions) => {
  fc.assert(
    fc.property(fc.array(part, { minLength: dimensions, maxLength: dimensions }), (query) => {
      const block = vectorBlock(dimensions);
      const rows = Array.from({ length: count }, (_, row) =>
        Float32Array.from({ length: dimensions }, (_value, i) => Math.sin(row * 31 + i)),
      );
      for (const [slot, row] of rows.entries()) block.set(slot, row);
      block.set(5, undefined);
      const got = block.dot(Float32Array.from(query), count);
      expect(got).toHaveLength(count);
      for (const [slot, row] of rows.entries()) {
        const wanted = slot === 5 ? 0 : row.reduce((sum, value, i) => sum + value * (query[i] ?? 0), 0);
        expect(Math.abs((got[slot] ?? 0) - wanted)).toBeLessThan(1e-4);
      }
    }),
    { numRuns: 5 },
  );
});
