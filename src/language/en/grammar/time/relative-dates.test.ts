import { describe, expect, it } from "vitest";
import { datesIn } from "./dates.ts";

/** A Wednesday. */
const AT = "2026-03-11T10:00:00.000Z";

function ahead(text: string): string | undefined {
  return datesIn(text, AT, true)[0]?.iso;
}

describe("a date counted from the day of the message", () => {
  it.each([
    ["in two weeks", "2026-03-25"],
    ["I have a check-up in three days", "2026-03-14"],
    ["in a couple of weeks", "2026-03-25"],
    ["in a fortnight", "2026-03-25"],
    ["in 10 days' time", "2026-03-21"],
    ["a week on Monday", "2026-03-23"],
    ["Monday week", "2026-03-23"],
    ["the Friday after next", "2026-03-20"],
    ["the last Sunday of the month", "2026-03-29"],
    ["the second Tuesday in April", "2026-04-14"],
    ["on New Year's Eve", "2026-12-31"],
    ["in a month", "2026-04"],
  ])("%s is %s", (text, iso) => {
    expect(ahead(text)).toBe(iso);
  });

  it.each([
    ["three weeks ago", "2026-02-18"],
    ["a couple of days ago", "2026-03-09"],
    ["on New Year's Eve", "2025-12-31"],
  ])("%s was %s", (text, iso) => {
    expect(datesIn(text, AT, false)[0]?.iso).toBe(iso);
  });

  it.each([
    "every two weeks",
    "I read it in two weeks",
    "the shop closes at 5:30",
    "Monday to Thursday",
    "I've done it for six years",
  ])("%s is none", (text) => {
    expect(datesIn(text, AT, false)).toEqual([]);
  });
});
