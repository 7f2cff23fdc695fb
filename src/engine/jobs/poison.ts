import type { Visit } from "../../domain/job.ts";
import { codeOf, isMemoryError, isPassing } from "../../errors.ts";
import { MOST_ATTEMPTS } from "../../ports/queue.ts";
import { DAY_MS } from "./task.ts";

/** Whether an error says nothing of the user with whom it came: a server that is down, a key that is refused, a budget that is used up. */
export function isEverybodys(error: unknown): boolean {
  return isPassing(error) || (isMemoryError(error) && error.code === "forbidden");
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

/** It has failed too often, and is no failure of the job any more. */
export function isSetAside({ failed }: Visit): boolean {
  return failed !== undefined && failed.attempts >= MOST_ATTEMPTS;
}

/** What was set aside is left alone until somebody lets it run again or the user's memory has changed, and for a day at most. */
export function isLeftAlone(visit: Visit, revision: number, at: string): boolean {
  if (!visit.failed || !isSetAside(visit) || visit.revision !== revision) return false;
  return Math.abs(Date.parse(at) - Date.parse(visit.failed.at)) < DAY_MS;
}
