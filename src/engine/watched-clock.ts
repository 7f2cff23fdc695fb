import type { Clock } from "../ports/clock.ts";
import type { Meter } from "../ports/meter.ts";

const CLOCK_JUMP_MS = 60_000;

/** The same clock; where it moves otherwise than the time that passes in this process, that is counted. */
export function watchClock(clock: Clock, meter: Meter): Clock {
  let time = clock().getTime();
  let passed = performance.now();
  return () => {
    const now = clock();
    const by = now.getTime() - time - (performance.now() - passed);
    // One that is held still is held on purpose.
    if (Math.abs(by) > CLOCK_JUMP_MS && now.getTime() !== time)
      meter.count("memory_clock_jumps_total", { to: by > 0 ? "ahead" : "back" });
    time = now.getTime();
    passed = performance.now();
    return now;
  };
}
