import { computeRetryDelay } from "../../ports/queue.ts";
import { attemptRun, type JobOutcome } from "./attempt.ts";
import type { Job } from "./job.ts";
import { pauseFor } from "./rest.ts";
import type { JobMonitor, JobMonitorPorts } from "./watch.ts";

/** Whether somebody wants the job run now: not only when it is due. Set from outside while it runs. */
export interface RunRequest {
  isRequested: boolean;
}

/** Where another process is at what was asked for here, it is looked again so soon: it may have passed by that already. */
const LOOK_AGAIN_MS = 5000;

/**
 * Runs a job until it came to its end and nobody asked for more, with longer pauses after each failure. Gives in how many ms it
 * is due, where another process has run it or is at it and nobody here asked.
 */
export async function runUntilDone(
  ports: JobMonitorPorts,
  job: Job,
  seen: JobMonitor,
  asked: RunRequest,
  { signal, tell }: { readonly signal: AbortSignal; readonly tell: (ms?: number) => void },
): Promise<number | undefined> {
  let isUrgent = asked.isRequested;
  let failures = 0;
  while (!signal.aborted) {
    asked.isRequested = false;
    tell();
    const pauseMs = computeRetryDelay(failures + 1);
    const outcome = await attemptRun(ports, job, seen, { signal, isUrgent, pauseMs });
    isUrgent ||= asked.isRequested;
    if (outcome.kind === "done" && !asked.isRequested) return undefined;
    if (outcome.kind === "refused" && !isUrgent) return outcome.waitMs;
    failures = outcome.kind === "failed" ? failures + 1 : 0;
    const pause = computePause(outcome, pauseMs);
    if (pause === 0) continue;
    tell(pause);
    await pauseFor(pause, signal);
  }
  return undefined;
}

function computePause(outcome: JobOutcome, pauseMs: number): number {
  if (outcome.kind === "failed") return pauseMs;
  return outcome.kind === "refused" ? Math.min(LOOK_AGAIN_MS, outcome.waitMs) : 0;
}
