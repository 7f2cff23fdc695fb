import type { Job } from "./job.ts";
import { pauseFor } from "./rest.ts";

/** At work for more than this share of its time, the process has requests to answer. */
const BUSY_SHARE = 0.6;
const LOOK_AGAIN_MS = 1000;
/** So long a run waits in all; then it goes on beside the requests, or on a server that is never calm nothing would be done. */
const LONGEST_WAIT_MS = 15 * 60_000;
/** A share of less than this says nothing. */
const SHORTEST_MS = 200;

/** The same job, which waits before it begins and before each step while the process has its hands full. */
export function deferWhileBusy(job: Job, workload: () => number = measureWorkload()): Job {
  let waited = 0;
  const calm = async (signal: AbortSignal): Promise<void> => {
    while (workload() > BUSY_SHARE && waited < LONGEST_WAIT_MS) {
      await pauseFor(LOOK_AGAIN_MS, signal);
      signal.throwIfAborted();
      waited += LOOK_AGAIN_MS;
    }
  };
  return {
    ...job,
    async waitUntilReady(signal) {
      waited = 0;
      await calm(signal);
    },
    async *run(signal) {
      try {
        await calm(signal);
        for await (const step of job.run(signal)) {
          yield step;
          await calm(signal);
        }
      } finally {
        waited = 0;
      }
    },
  };
}

/** The share of its time, 0 to 1, that this process was at work since it was last asked. */
function measureWorkload(): () => number {
  let before = performance.eventLoopUtilization();
  let share = 0;
  return () => {
    const now = performance.eventLoopUtilization();
    const since = performance.eventLoopUtilization(now, before);
    if (since.active + since.idle >= SHORTEST_MS) {
      share = since.utilization;
      before = now;
    }
    return share;
  };
}
