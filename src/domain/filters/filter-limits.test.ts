import { describe, expect, it } from "vitest";
import { checkWhere, type Where } from "./metadata-filter.ts";

const nested = (levels: number): Where => (levels === 0 ? { a: 1 } : { $not: nested(levels - 1) });

describe("metadata filter limits", () => {
  it("accepts a filter with the maximum number of terms and rejects a larger one", () => {
    expect(() => checkWhere({ id: { $in: Array.from({ length: 997 }, (_, i) => i) } })).not.toThrow();
    expect(() => checkWhere({ id: { $in: Array.from({ length: 998 }, (_, i) => i) } })).toThrow(
      "where is too large. Limit: 1,000 names and values.",
    );
  });

  it("rejects a filter nested deeper than sixteen levels", () => {
    expect(() => checkWhere(nested(15))).not.toThrow();
    expect(() => checkWhere(nested(16))).toThrow("where is nested too deeply. Limit: 16 levels.");
  });
});
