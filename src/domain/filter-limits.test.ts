import { describe, expect, it } from "vitest";
import { checkWhere, type Where } from "./metadata-filter.ts";

const nested = (levels: number): Where => (levels === 0 ? { a: 1 } : { $not: nested(levels - 1) });

describe("a filter", () => {
  it("of as many names and values as may be passes, and a larger one is refused", () => {
    expect(() => checkWhere({ id: { $in: Array.from({ length: 997 }, (_, i) => i) } })).not.toThrow();
    expect(() => checkWhere({ id: { $in: Array.from({ length: 998 }, (_, i) => i) } })).toThrow(
      "where holds too much: at most 1,000 names and values.",
    );
  });

  it("that is nested deeper than sixteen levels is refused", () => {
    expect(() => checkWhere(nested(15))).not.toThrow();
    expect(() => checkWhere(nested(16))).toThrow("where is nested too deep: at most 16 levels.");
  });
});
