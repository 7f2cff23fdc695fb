import { describe, expect, it } from "vitest";
import { isMedical, isMedicine } from "./topics.ts";

describe("isMedicine", () => {
  it.each(["metformin", "Atorvastatin", "bisoprolol", "amoxicillin", "omeprazole", "insulin", "diazepam"])(
    "recognises %s",
    (word) => expect(isMedicine(word)).toBe(true),
  );
  it.each(["bus", "Pilates", "statin", "sugar", "April", "lorazine", "photographs", "control"])(
    "rejects %s",
    (word) => expect(isMedicine(word)).toBe(false),
  );
});

describe("isMedical", () => {
  it.each([
    ["take", "risperidone", true],
    ["take", "the tram", false],
    ["break", "a rib", true],
    ["break", "a record", false],
    ["have", "arthritis", true],
    ["have", "a diploma", false],
    ["cut", "the budget", false],
  ])("%s %s: %s", (relation, value, expected) => {
    expect(isMedical({ relation, value })).toBe(expected);
  });
});
