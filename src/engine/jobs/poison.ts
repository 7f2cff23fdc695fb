import type { Visit } from "../../domain/job.ts";
import { codeOf } from "../../errors.ts";
import { MOST_ATTEMPTS } from "../../ports/queue.ts";

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
