import type { JobName } from "../../domain/job.ts";
import { MAX_ATTEMPTS_PER_RUN } from "../../ports/queue.ts";
import type { BullmqJobOptions, BullmqQueue } from "./library.ts";

/** So many that failed are kept for each job: they are looked at, not collected. */
const MAX_KEPT_FAILURES = 100;

/** Puts a job into its queue: one that waits already is this one, and one that runs is run once more. */
export async function addJob(
  queue: BullmqQueue,
  job: JobName,
  { afterMs, firstPauseMs }: { readonly afterMs: number; readonly firstPauseMs: number },
): Promise<void> {
  const options: BullmqJobOptions = {
    ...(afterMs > 0 ? { delay: afterMs } : {}),
    attempts: MAX_ATTEMPTS_PER_RUN,
    backoff: { type: "exponential", delay: firstPauseMs },
    deduplication: { id: job, keepLastIfActive: true },
    removeOnComplete: true,
    removeOnFail: { count: MAX_KEPT_FAILURES },
    stackTraceLimit: 1,
  };
  await queue.add(job, {}, options);
}

/**
 * Offers that never wait for Redis: one at a time for each job is on its way, and what comes meanwhile is one more after it. So no
 * line grows while Redis is gone.
 */
export function createOfferer(
  send: (job: JobName, afterMs: number) => Promise<void>,
): (job: JobName, afterMs: number) => void {
  /** What comes after the one on its way: the soonest. */
  const underWay = new Map<JobName, number | undefined>();
  const go = (job: JobName, afterMs: number): void => {
    underWay.set(job, undefined);
    const done = (): void => {
      const next = underWay.get(job);
      underWay.delete(job);
      if (next !== undefined) go(job, next);
    };
    // A hint that is lost is found in the record.
    send(job, afterMs).then(done, done);
  };
  return (job, afterMs) => {
    if (!underWay.has(job)) return go(job, afterMs);
    underWay.set(job, Math.min(afterMs, underWay.get(job) ?? afterMs));
  };
}
