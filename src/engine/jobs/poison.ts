import type { Visit } from "../../domain/job.ts";
import { ERROR_CODES, isMemoryError } from "../../errors.ts";
import { MOST_ATTEMPTS } from "../../ports/queue.ts";

/** Whether an error passes by itself, however often it comes: a server that is down, a budget that is used up. */
export function isPassing(error: unknown): boolean {
  return isMemoryError(error) && ERROR_CODES[error.code].retryable;
}

/** What is noted of a user with whom a job broke off, on top of what was noted before. */
export function brokenOff(
  error: unknown,
  {
    before,
    revision,
    at,
  }: { readonly before: Visit | undefined; readonly revision: number; readonly at: string },
): Visit & Required<Pick<Visit, "failed">> {
  const attempts = (before?.failed?.attempts ?? 0) + 1;
  return { revision, failed: { attempts, problem: codeOf(error), at } };
}

/** It has failed too often: it is left alone until somebody lets it run again, or the user's memory has changed. */
export function isSetAside({ failed }: Visit): boolean {
  return failed !== undefined && failed.attempts >= MOST_ATTEMPTS;
}

/** The stable code of an error, or "internal": nothing that a user said. */
function codeOf(error: unknown): string {
  return isMemoryError(error) ? error.code : "internal";
}
