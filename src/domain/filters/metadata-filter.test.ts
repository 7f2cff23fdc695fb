import { expect, it } from "vitest";
import { matchesFilter } from "./metadata-filter.ts";

const metadata = { city: "Porto", age: 30, tags: ["a", "b"], gone: null };

it.each([
  [{ city: "Porto" }, true],
  [{ city: { $eq: "porto" } }, false],
  [{ city: { $ne: "Lima" } }, true],
  [{ missing: { $ne: "Lima" } }, true],
  [{ age: { $gt: 29, $lte: 30 } }, true],
  [{ age: { $gt: "29" } }, false],
  [{ city: { $gte: "Oslo" } }, true],
  [{ city: { $in: ["Lima", "Porto"] } }, true],
  [{ city: { $nin: ["Lima", "Porto"] } }, false],
  [{ missing: { $nin: ["Lima"] } }, true],
  [{ missing: { $exists: false } }, true],
  [{ gone: { $exists: true } }, true],
  [{ tags: "b" }, true],
  [{ tags: { $ne: "b" } }, false],
  [{ $or: [{ city: "Lima" }, { age: 30 }] }, true],
  [{ $and: [{ city: "Porto" }, { age: 31 }] }, false],
  [{ $not: { city: "Lima" } }, true],
  [{ age: { $not: { $lt: 30 } } }, true],
  [{}, true],
])("filter %j matches: %j", (where, expected) => {
  expect(matchesFilter(where, metadata)).toBe(expected);
});

it.each([
  { city: { $like: "P%" } },
  { $nor: [] },
  { $or: {} },
  { age: { $in: 3 } },
  { age: { $gt: {} } },
  { a: { $constructor: 1 } },
])("rejects the malformed filter %j instead of matching everything", (where) => {
  expect(() => matchesFilter(where, metadata)).toThrow(expect.objectContaining({ code: "invalid_input" }));
});
