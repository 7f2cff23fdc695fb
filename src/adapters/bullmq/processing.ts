import { getErrorCode, isRetryable } from "../../errors.ts";
import { computeRetryDelay } from "../../ports/queue.ts";
import { withTimeout } from "../shared/within.ts";
import type { BullmqJob, BullmqLibrary } from "./library.ts";

/** A Redis that does not answer holds up no end of a program for longer. */
const LEAVE_MS = 2000;

/** Runs what BullMQ hands out; what only has to wait, or was broken off, goes back without being counted as a failure. */
export function createProcessor<Connection>(
  { DelayedError }: Pick<BullmqLibrary<Connection>, "DelayedError">,
  run: (signal: AbortSignal) => Promise<void>,
  { stopping, firstPauseMs }: { readonly stopping: AbortSignal; readonly firstPauseMs: number },
): (job: BullmqJob, token?: string) => Promise<void> {
  return async (job, token) => {
    try {
      stopping.throwIfAborted();
      await run(stopping);
    } catch (error) {
      if (stopping.aborted) {
        // Somebody else's at once. Where that cannot be said, its lock runs out, and it is taken over then.
        const moved = job.moveToDelayed(Date.now(), token);
        await withTimeout(moved, LEAVE_MS, () => new Error("late")).catch(() => {});
        throw new DelayedError();
      }
      if (isRetryable(error)) {
        await job.moveToDelayed(Date.now() + computeRetryDelay(job.attemptsStarted, firstPauseMs), token);
        throw new DelayedError();
      }
      // Its message goes into Redis: the code alone, for nobody knows what another error's says.
      throw new Error(getErrorCode(error));
    }
  };
}
