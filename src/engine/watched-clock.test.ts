import { expect, it } from "vitest";
import { NO_METER } from "../ports/telemetry.ts";
import { watchClock } from "./instrumentation.ts";

it("counts each jump of the clock, ahead and back, and nothing else", () => {
  let now = Date.parse("2026-03-01T10:00:00Z");
  const counted: unknown[] = [];
  const clock = watchClock(() => new Date(now), {
    ...NO_METER,
    count: (name, labels) => counted.push([name, labels]),
  });
  const moved = (ms: number): void => {
    now += ms;
    expect(clock().getTime()).toBe(now);
  };
  for (const ms of [0, 5, 30_000, 0]) moved(ms);
  expect(counted).toEqual([]);
  moved(-26 * 3_600_000);
  moved(10);
  moved(400 * 86_400_000);
  expect(counted).toEqual([
    ["memory_clock_jumps_total", { to: "back" }],
    ["memory_clock_jumps_total", { to: "ahead" }],
  ]);
});
