import { monitorEventLoopDelay } from "node:perf_hooks";
import type { Meter } from "../../ports/meter.ts";

/** Tells of this process: its time, its memory, and how late its timers are. Gives what sets the values anew. */
export function createProcessMetrics(): (meter: Meter) => void {
  // Looks every 50 ms, and holds up no end of the program.
  const delay = monitorEventLoopDelay({ resolution: 50 });
  delay.enable();
  let counted = 0;
  return (meter) => {
    const { user, system } = process.cpuUsage();
    const seconds = (user + system) / 1e6;
    meter.count("process_cpu_seconds_total", {}, seconds - counted);
    counted = seconds;
    const { rss, heapUsed } = process.memoryUsage();
    meter.set("process_resident_memory_bytes", rss);
    meter.set("nodejs_heap_used_bytes", heapUsed);
    meter.set("process_start_time_seconds", performance.timeOrigin / 1000);
    const late = delay.percentile(99) / 1e9;
    meter.set("nodejs_eventloop_lag_p99_seconds", Number.isFinite(late) ? late : 0);
    delay.reset();
  };
}
