import { describe, expect, it } from "vitest";
import { toChromaFilter } from "./client.ts";

describe("the translation of a filter for Chroma", () => {
  it("writes one condition per object", () => {
    expect(toChromaFilter({})).toBeUndefined();
    expect(toChromaFilter({ type: "memory" })).toEqual({ type: { $eq: "memory" } });
    expect(toChromaFilter({ type: "memory", at: { $gt: 1, $lte: 5 } })).toEqual({
      $and: [{ type: { $eq: "memory" } }, { at: { $gt: 1 } }, { at: { $lte: 5 } }],
    });
    expect(toChromaFilter({ $and: [{ type: "memory" }] })).toEqual({ type: { $eq: "memory" } });
    expect(toChromaFilter({ $or: [{ kind: "fact" }, { $and: [{ session: "a" }, { at: 1 }] }] })).toEqual({
      $or: [{ kind: { $eq: "fact" } }, { $and: [{ session: { $eq: "a" } }, { at: { $eq: 1 } }] }],
    });
    expect(toChromaFilter({ $or: [{ kind: "fact" }, {}] })).toBeUndefined();
  });

  it.each([
    { $not: { type: "memory" } },
    { kind: { $exists: true } },
    { type: { $gt: "a" } },
    { at: { $gte: 1.5 } },
    { at: { $in: [] } },
    { $or: [] },
    { kind: null },
    { kind: "" },
    { nowhere: "x" },
  ])("refuses %j, which Chroma does not support", (where) => {
    expect(() => toChromaFilter(where)).toThrow(expect.objectContaining({ code: "unsupported" }));
  });

  it("refuses an unknown operator", () => {
    expect(() => toChromaFilter({ at: { $like: 3 } })).toThrow(
      expect.objectContaining({ code: "invalid_input" }),
    );
  });
});
