import { acquireLease, isHeldLease, type LeaseRefusal } from "./hold.ts";
import type { Job } from "./job.ts";
import { pauseFor } from "./rest.ts";
import type { JobMonitor, JobMonitorPorts } from "./watch.ts";

/** How one run of a job went. */
export type JobOutcome =
  | { readonly kind: "done" }
  | { readonly kind: "failed"; readonly error: unknown }
  /** Its signal was aborted, or its lease lost: it goes on where it was, here or elsewhere. */
  | { readonly kind: "broken off" }
  /** Another process is at it, or has been in this period. */
  | ({ readonly kind: "refused" } & LeaseRefusal);

/** Where a step was a wait for a server, it rests as after one of this length. */
const LONGEST_REST_MS = 50;

/**
 * One run, under a lease, so that of all processes on this record one alone runs the job: what comes to its end is not due again
 * anywhere for its interval, and what fails not for the pause.
 */
export async function attemptRun(
  ports: JobMonitorPorts,
  job: Job,
  seen: JobMonitor,
  run: { readonly signal: AbortSignal; readonly isUrgent: boolean; readonly pauseMs: number },
): Promise<JobOutcome> {
  try {
    await job.waitUntilReady?.(run.signal);
    // What has nothing to do needs nobody's leave.
    if (job.isShared || (await job.countLeft?.()) === 0) return await runOnce(job, seen, run.signal);
    const held = await acquireLease(ports.record, toLeaseName(job), run);
    if (!isHeldLease(held)) return { kind: "refused", ...held };
    const outcome = await runOnce(job, seen, held.signal);
    await held.giveBack(computeLeaseRest(outcome, job, run.pauseMs));
    return outcome;
  } catch (error) {
    if (run.signal.aborted) return { kind: "broken off" };
    seen.begin();
    await seen.finish(error);
    return { kind: "failed", error };
  }
}

/** Under which name a job is leased. */
export function toLeaseName({ name }: Pick<Job, "name">): string {
  return `job ${name}`;
}

function computeLeaseRest({ kind }: JobOutcome, job: Job, pauseMs: number): number {
  if (kind === "done") return job.everyMs ?? 0;
  return kind === "failed" ? pauseMs : 0;
}

async function runOnce(job: Job, seen: JobMonitor, signal: AbortSignal): Promise<JobOutcome> {
  seen.begin();
  try {
    let from = performance.now();
    for await (const step of job.run(signal)) {
      seen.step(step);
      const took = performance.now() - from;
      if (job.restFactor > 0) await pauseFor(job.restFactor * Math.min(LONGEST_REST_MS, took), signal);
      from = performance.now();
    }
    await seen.finish();
    return { kind: "done" };
  } catch (error) {
    if (signal.aborted) return { kind: "broken off" };
    await seen.finish(error);
    return { kind: "failed", error };
  }
}
