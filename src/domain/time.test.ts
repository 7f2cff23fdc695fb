import { describe, expect, it } from "vitest";
import { findOffset, toIsoTime, toLocalTime } from "./time.ts";

describe("times with a zone", () => {
  it.each([
    ["2026-03-11T00:30:00+08:00", "+08:00"],
    ["2026-03-11T00:30:00-0530", "-05:30"],
    ["2026-03-11T00:30:00Z", undefined],
    ["2026-03-11T00:30:00+00:00", undefined],
    ["2026-03-11", undefined],
  ])("the offset of %s is %s", (time, zone) => {
    expect(findOffset(time)).toBe(zone);
  });

  it("shows a time as local time in its zone", () => {
    expect(toLocalTime("2026-03-10T16:30:00.000Z", "+08:00")).toBe("2026-03-11T00:30:00.000+08:00");
    expect(toLocalTime("2026-03-10T16:30:00.000Z", undefined)).toBe("2026-03-10T16:30:00.000Z");
  });

  it("converts to local time and back to the same moment", () => {
    expect(toIsoTime(toLocalTime("2026-03-10T16:30:00.000Z", "-05:30"), "at")).toBe(
      "2026-03-10T16:30:00.000Z",
    );
  });
});
