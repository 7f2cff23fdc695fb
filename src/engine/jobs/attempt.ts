import { hold, isHeld, type Refused } from "./hold.ts";
import type { Job } from "./job.ts";
import { rest } from "./rest.ts";
import type { Watch, WatchPorts } from "./watch.ts";

/** How one run of a job went. */
export type Outcome =
  | { readonly kind: "done" }
  | { readonly kind: "failed"; readonly error: unknown }
  /** Its signal was aborted, or its lease lost: it goes on where it was, here or elsewhere. */
  | { readonly kind: "broken off" }
  /** Another process is at it, or has been in this period. */
  | ({ readonly kind: "refused" } & Refused);

/** Where a step was a wait for a server, it rests as after one of this length. */
const LONGEST_REST_MS = 50;

/**
 * One run, under a lease, so that of all processes on this record one alone runs the job: what comes to its end is not due again
 * anywhere for its interval, and what fails not for the pause.
 */
export async function attempt(
  ports: WatchPorts,
  job: Job,
  seen: Watch,
  run: { readonly signal: AbortSignal; readonly isUrgent: boolean; readonly pauseMs: number },
): Promise<Outcome> {
  try {
    await job.ready?.(run.signal);
    // What has nothing to do needs nobody's leave.
    if (job.isShared || (await job.left?.()) === 0) return await once(job, seen, run.signal);
    const held = await hold(ports.record, leaseOf(job), run);
    if (!isHeld(held)) return { kind: "refused", ...held };
    const outcome = await once(job, seen, held.signal);
    await held.giveBack(restAfter(outcome, job, run.pauseMs));
    return outcome;
  } catch (error) {
    if (run.signal.aborted) return { kind: "broken off" };
    seen.begin();
    await seen.ended(error);
    return { kind: "failed", error };
  }
}

/** Under which name a job is leased. */
export function leaseOf({ name }: Pick<Job, "name">): string {
  return `job ${name}`;
}

function restAfter({ kind }: Outcome, job: Job, pauseMs: number): number {
  if (kind === "done") return job.everyMs ?? 0;
  return kind === "failed" ? pauseMs : 0;
}

async function once(job: Job, seen: Watch, signal: AbortSignal): Promise<Outcome> {
  seen.begin();
  try {
    let from = performance.now();
    for await (const step of job.run(signal)) {
      seen.step(step);
      const took = performance.now() - from;
      if (job.rest > 0) await rest(job.rest * Math.min(LONGEST_REST_MS, took), signal);
      from = performance.now();
    }
    await seen.ended();
    return { kind: "done" };
  } catch (error) {
    if (signal.aborted) return { kind: "broken off" };
    await seen.ended(error);
    return { kind: "failed", error };
  }
}
