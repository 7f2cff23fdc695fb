import { checkCount } from "../../domain/limits.ts";
import type { JobName, JobProgress } from "../../domain/operations/job.ts";
import { toScopeKey } from "../../domain/scope.ts";
import { getErrorCode, isMemoryError, isRetryable } from "../../errors.ts";
import { MAX_ATTEMPTS_PER_RUN } from "../../ports/queue.ts";
import type { FailedJobProgress } from "../../ports/stores/job-store.ts";
import type { Keepsake } from "../api/keepsake.ts";
import type { JobState, WorkSetAside } from "../api/maintenance-types.ts";
import type { Ports } from "../ports.ts";
import { DAY_MS } from "./apply-edits.ts";

type QuarantinePorts = Pick<Ports, "store" | "queue" | "secret">;

/** Quarantined items searched for the one to release. */
const MAX_SCANNED = 10_000;
const DEFAULT_LIMIT = 100;

/** Actions on work that failed too often. */
export function createQuarantineActions(
  ports: QuarantinePorts,
  work: { readonly again: (job: JobName) => void },
  check: () => void,
): Pick<Keepsake, "setAside" | "again"> {
  return {
    async setAside({ limit = DEFAULT_LIMIT } = {}) {
      check();
      return listQuarantined(ports, checkCount(limit, "limit", 1, MAX_SCANNED));
    },
    async again(id) {
      check();
      const job = await releaseQuarantined(ports, id);
      if (job !== undefined) work.again(job);
      return job !== undefined;
    },
  };
}

/** Adds to each job's state the number of users it fails with. */
export async function addQuarantineCounts(
  { store }: Pick<Ports, "store">,
  states: readonly JobState[],
): Promise<JobState[]> {
  const failed = await store.jobs.failedProgress({ attempts: MAX_ATTEMPTS_PER_RUN, limit: MAX_SCANNED });
  return states.map((state) => {
    const setAside = failed.filter(({ job }) => job === state.name).length;
    return setAside === 0 ? state : { ...state, setAside };
  });
}

/**
 * Work that failed too often, newest first: users with whom a job fails, and whole runs that a queue has
 * given up.
 */
async function listQuarantined(ports: QuarantinePorts, limit: number): Promise<WorkSetAside[]> {
  const failed = await ports.store.jobs.failedProgress({ attempts: MAX_ATTEMPTS_PER_RUN, limit });
  // The queue's list is unavailable while its server is down; the store's list is not.
  const runs = (await ports.queue?.setAside(limit).catch(() => [])) ?? [];
  const users = failed.flatMap((one) => {
    const { failed: failure } = one.visit;
    if (!failure) return [];
    const { project, user } = one.scope;
    return { id: toQuarantineId(ports, one), job: one.job, project, user, ...failure };
  });
  return [...users, ...runs].toSorted((one, other) => (one.at < other.at ? 1 : -1)).slice(0, limit);
}

/** Releases one item. Gives its job, or undefined if the id is unknown. */
async function releaseQuarantined(ports: QuarantinePorts, id: string): Promise<JobName | undefined> {
  const failed = await ports.store.jobs.failedProgress({
    attempts: MAX_ATTEMPTS_PER_RUN,
    limit: MAX_SCANNED,
  });
  const found = failed.find((one) => toQuarantineId(ports, one) === id);
  if (!found) {
    const runs = (await ports.queue?.setAside(MAX_SCANNED)) ?? [];
    const run = runs.find((one) => one.id === id);
    return run && (await ports.queue?.again(id)) ? run.job : undefined;
  }
  // Revision 0 makes the user due, whatever was visited.
  const visit: JobProgress = { revision: 0 };
  await ports.store.jobs.saveProgress(found.job, [{ scope: found.scope, visit }]);
  return found.job;
}

/** The same in every process, and not readable. */
function toQuarantineId({ secret }: Pick<Ports, "secret">, { job, scope }: FailedJobProgress): string {
  return `${job}.${secret.sign(`set aside ${job} ${toScopeKey(scope)}`).slice(0, 16)}`;
}

/** Whether an error is unrelated to the user: a server that is down, a rejected key, an exhausted budget. */
export function isGlobalFailure(error: unknown): boolean {
  return isRetryable(error) || (isMemoryError(error) && error.code === "forbidden");
}

/** The progress after a failure, based on the earlier progress. */
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

/** It failed too often and no longer counts as a failure of the job. */
export function isQuarantined({ failed }: JobProgress): boolean {
  return failed !== undefined && failed.attempts >= MAX_ATTEMPTS_PER_RUN;
}

/** Quarantined work is skipped until it is released or the user's memory changes, and for a day at most. */
export function isOnHold(visit: JobProgress, revision: number, at: string): boolean {
  if (!visit.failed || !isQuarantined(visit) || visit.revision !== revision) return false;
  return Math.abs(Date.parse(at) - Date.parse(visit.failed.at)) < DAY_MS;
}
