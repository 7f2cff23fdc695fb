import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { textIndex } from "./text-index.ts";

describe("textIndex", () => {
  it("scores by Okapi BM25 with the idf of Lucene", () => {
    const index = textIndex();
    index.put("a", ["tea", "tea", "cup"]);
    index.put("b", ["tea"]);
    index.put("c", ["cup", "plate", "fork", "spoon"]);
    const weight = Math.log(1 + (3 - 2 + 0.5) / (2 + 0.5));
    const mean = 8 / 3;
    const scores = index.scores(["tea"]);
    expect(scores.get("a")).toBeCloseTo((weight * 2 * 2.2) / (2 + 1.2 * (0.25 + (0.75 * 3) / mean)), 12);
    expect(scores.get("b")).toBeCloseTo((weight * 2.2) / (1 + 1.2 * (0.25 + 0.75 / mean)), 12);
    expect(scores.has("c")).toBe(false);
  });

  it("is the same after any puts and removals as one built anew", () => {
    const term = fc.constantFrom("a", "b", "c", "d", "e");
    const step = fc.record({
      id: fc.constantFrom("x", "y", "z", "w"),
      terms: fc.option(fc.array(term, { maxLength: 6 })),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
        const changed = textIndex();
        const held = new Map<string, string[]>();
        for (const { id, terms } of steps) {
          if (terms) changed.put(id, terms);
          else changed.remove(id);
          if (terms) held.set(id, terms);
          else held.delete(id);
        }
        const fresh = textIndex();
        for (const [id, terms] of held) fresh.put(id, terms);
        expect(changed.size).toBe(held.size);
        expect(changed.meanLength).toBe(fresh.meanLength);
        for (const query of [["a"], ["b", "c"], ["d", "d", "e"]]) {
          expect(changed.scores(query)).toEqual(fresh.scores(query));
        }
        const slots = [...held.keys()].map((id) => changed.slot(id));
        expect(new Set(slots).size).toBe(held.size);
      }),
    );
  });
});
