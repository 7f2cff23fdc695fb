import { describe, expect, it } from "vitest";
import { stretchIn } from "./validity.ts";

/** A Wednesday. */
const AT = "2026-03-11T10:00:00.000Z";

describe("a stretch of time", () => {
  it.each([
    ["from 2015 to 2019 I lived there", false, { from: "2015", until: "2019" }],
    ["between May and August 2024", false, { from: "2024-05", until: "2024-08" }],
    ["I'll be away from 2 to 9 April", true, { from: "2026-04-02", until: "2026-04-09" }],
    ["I studied there (2008-2012)", false, { from: "2008", until: "2012" }],
    ["from November to February 2025", false, { from: "2024-11", until: "2025-02" }],
    ["I am here until Friday", true, { until: "2026-03-13" }],
    ["until the end of April", true, { until: "2026-04-30" }],
    ["until last year", false, { until: "2025" }],
    ["starting Monday", true, { from: "2026-03-16" }],
    ["as of next month", true, { from: "2026-04" }],
    ["From Monday on I work there", true, { from: "2026-03-16" }],
  ] as const)("%s", (text, ahead, stretch) => {
    expect(stretchIn(text, AT, ahead)).toEqual(stretch);
  });

  it.each(["open Monday to Friday", "from nine to five", "from Lisbon to Porto", "every week until noon"])(
    "%s is none",
    (text) => {
      expect(stretchIn(text, AT, true)).toEqual({});
    },
  );
});
