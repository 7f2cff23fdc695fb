import type { JobProgress } from "../../domain/job.ts";
import { getErrorCode, isMemoryError, isRetryable } from "../../errors.ts";
import { MAX_ATTEMPTS_PER_RUN } from "../../ports/queue.ts";
import { DAY_MS } from "./task.ts";

/** Whether an error says nothing of the user with whom it came: a server that is down, a key that is refused, a budget that is used up. */
export function isGlobalFailure(error: unknown): boolean {
  return isRetryable(error) || (isMemoryError(error) && error.code === "forbidden");
}

/** What is noted of a user with whom a job broke off, on top of what was noted before. */
export function toFailedProgress(
  error: unknown,
  {
    before,
    revision,
    at,
  }: { readonly before: JobProgress | undefined; readonly revision: number; readonly at: string },
): JobProgress & Required<Pick<JobProgress, "failed">> {
  const attempts = (before?.failed?.attempts ?? 0) + 1;
  return { revision, failed: { attempts, problem: getErrorCode(error), at } };
}

/** It has failed too often, and is no failure of the job any more. */
export function isQuarantined({ failed }: JobProgress): boolean {
  return failed !== undefined && failed.attempts >= MAX_ATTEMPTS_PER_RUN;
}

/** What was set aside is left alone until somebody lets it run again or the user's memory has changed, and for a day at most. */
export function isOnHold(visit: JobProgress, revision: number, at: string): boolean {
  if (!visit.failed || !isQuarantined(visit) || visit.revision !== revision) return false;
  return Math.abs(Date.parse(at) - Date.parse(visit.failed.at)) < DAY_MS;
}
