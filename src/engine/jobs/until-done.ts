import { pauseAfter } from "../../ports/queue.ts";
import { attempt, type Outcome } from "./attempt.ts";
import type { Job } from "./job.ts";
import { rest } from "./rest.ts";
import type { Watch, WatchPorts } from "./watch.ts";

/** Whether somebody wants the job run now: not only when it is due. Set from outside while it runs. */
export interface Asked {
  isAsked: boolean;
}

/** Where another process is at what was asked for here, it is looked again so soon: it may have passed by that already. */
const LOOK_AGAIN_MS = 5000;

/**
 * Runs a job until it came to its end and nobody asked for more, with longer pauses after each failure. Gives in how many ms it
 * is due, where another process has run it or is at it and nobody here asked.
 */
export async function untilDone(
  ports: WatchPorts,
  job: Job,
  seen: Watch,
  asked: Asked,
  { signal, tell }: { readonly signal: AbortSignal; readonly tell: (ms?: number) => void },
): Promise<number | undefined> {
  let isUrgent = asked.isAsked;
  let failures = 0;
  while (!signal.aborted) {
    asked.isAsked = false;
    tell();
    const pauseMs = pauseAfter(failures + 1);
    const outcome = await attempt(ports, job, seen, { signal, isUrgent, pauseMs });
    isUrgent ||= asked.isAsked;
    if (outcome.kind === "done" && !asked.isAsked) return undefined;
    if (outcome.kind === "refused" && !isUrgent) return outcome.waitMs;
    failures = outcome.kind === "failed" ? failures + 1 : 0;
    const pause = restAfter(outcome, pauseMs);
    if (pause === 0) continue;
    tell(pause);
    await rest(pause, signal);
  }
  return undefined;
}

function restAfter(outcome: Outcome, pauseMs: number): number {
  if (outcome.kind === "failed") return pauseMs;
  return outcome.kind === "refused" ? Math.min(LOOK_AGAIN_MS, outcome.waitMs) : 0;
}
