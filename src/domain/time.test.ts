import { describe, expect, it } from "vitest";
import { findOffset, toIsoTime, toLocalTime } from "./time.ts";

describe("a time that names its zone", () => {
  it.each([
    ["2026-03-11T00:30:00+08:00", "+08:00"],
    ["2026-03-11T00:30:00-0530", "-05:30"],
    ["2026-03-11T00:30:00Z", undefined],
    ["2026-03-11T00:30:00+00:00", undefined],
    ["2026-03-11", undefined],
  ])("%s has the offset %s", (time, zone) => {
    expect(findOffset(time)).toBe(zone);
  });

  it("is shown as the clock on the wall there showed it", () => {
    expect(toLocalTime("2026-03-10T16:30:00.000Z", "+08:00")).toBe("2026-03-11T00:30:00.000+08:00");
    expect(toLocalTime("2026-03-10T16:30:00.000Z", undefined)).toBe("2026-03-10T16:30:00.000Z");
  });

  it("names the same moment before and after", () => {
    expect(toIsoTime(toLocalTime("2026-03-10T16:30:00.000Z", "-05:30"), "at")).toBe(
      "2026-03-10T16:30:00.000Z",
    );
  });
});
