import { describe, expect, it } from "vitest";
import { countSteps, isHyponym, isKnownNoun } from "./kinds.ts";

describe("the hierarchy of kinds", () => {
  it.each([
    ["coriander", "herb"],
    ["metformin", "drug"],
    ["volleyball", "sport"],
    ["monstera", "plant"],
    ["cello", "musical instrument"],
    ["portugal", "country"],
    ["daughter", "child"],
    ["herb", "herb"],
    ["ibuprofen", "medicine"],
    ["cardigan", "clothing"],
  ])("takes %s for a kind of %s", (noun, kind) => {
    expect(isHyponym(noun, kind)).toBe(true);
  });

  it.each([
    ["bike", "pet"],
    ["cat", "vehicle"],
    ["herb", "coriander"],
    ["zzyzx", "herb"],
    ["coriander", "zzyzx"],
  ])("does not take %s for a kind of %s", (noun, kind) => {
    expect(isHyponym(noun, kind)).toBe(false);
  });

  it("knows the first and the last noun of the table", () => {
    expect(isKnownNoun("zymosis")).toBe(true);
    expect(isKnownNoun("aardvark")).toBe(true);
    expect(isKnownNoun("")).toBe(false);
  });

  it("counts few steps for wide kinds", () => {
    expect(countSteps("thing")).toBeLessThan(countSteps("herb"));
    expect(countSteps("zzyzx")).toBe(0);
  });
});
