import { describe, expect, it } from "vitest";
import { findFaults, readPairs } from "./conflicts.ts";

const FIXTURES = new URL("../src/language/en/grammar/__fixtures__/", import.meta.url);
// Pairs with an even number are for figures: `node scripts/conflicts.ts FILE even`.
const CONFLICTS = readPairs(new URL("conflicts.txt", FIXTURES)).filter(({ id }) => id % 2 === 1);
const NO_CONFLICTS = readPairs(new URL("no-conflicts.txt", FIXTURES));

describe("a second message", () => {
  it.each(CONFLICTS)("that changes what the first said, ends it: $name", async (pair) => {
    expect(await findFaults(pair)).toEqual([]);
  });

  it.each(NO_CONFLICTS)("that says something else, ends nothing: $name", async (pair) => {
    expect(await findFaults(pair)).toEqual([]);
  });

  it("is judged by what it should and should not leave", async () => {
    const pair = {
      id: 1,
      name: "wrong",
      lines: ["+ I like jazz.", "c rock", "c !jazz", "? Do I like jazz? => No"],
    };
    expect(await findFaults(pair)).toHaveLength(3);
  });
});
