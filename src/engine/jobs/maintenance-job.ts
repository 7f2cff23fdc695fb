import type { Memory } from "../../domain/memory.ts";
import type { JobProgress } from "../../domain/operations/job.ts";
import type { Scope } from "../../domain/scope.ts";
import { isMemoryError } from "../../errors.ts";
import type { JobProgressPage, NewJobProgress } from "../../ports/stores/job-store.ts";
import { portsOfUser } from "../embedders.ts";
import type { Ports } from "../ports.ts";
import type { MaintenanceTask } from "./apply-edits.ts";
import { applyEdits } from "./apply-edits.ts";
import type { Job, JobStep } from "./job.ts";
import { isGlobalFailure, isOnHold, isQuarantined, toFailedProgress } from "./quarantine.ts";

/** Users per page, and users whose progress is saved at once. */
const USERS = 200;
const SAVED_AT_ONCE = 20;
/** Memories per read: a millisecond or two. */
const MEMORIES = 100;

/** Totals of a run so far. */
interface MaintenanceTotals {
  done: number;
  found: number;
  readonly failures: unknown[];
}

function toStep({ done, found }: MaintenanceTotals): JobStep {
  return { done, found };
}

/**
 * Runs a task as a job, user by user. Skips a user if nothing has changed since the last visit and nothing is
 * due. The progress of each user is saved in the store, so that it continues after a crash or in another
 * process.
 */
export function createMaintenanceJob(ports: Ports, task: MaintenanceTask): Job {
  return {
    name: task.name,
    about: task.about,
    everyMs: task.everyMs,
    restFactor: 9,
    async *run(signal) {
      const sum: MaintenanceTotals = { done: 0, found: 0, failures: [] };
      let after: string | undefined;
      do {
        const page: JobProgressPage = await ports.store.jobs.jobProgress(task.name, {
          limit: USERS,
          ...(after === undefined ? {} : { after }),
        });
        yield* processPage(ports, task, page, sum, signal);
        after = page.cursor;
      } while (after !== undefined);
      for (const error of sum.failures) throw error;
    },
  };
}

async function* processPage(
  ports: Ports,
  task: MaintenanceTask,
  page: JobProgressPage,
  sum: MaintenanceTotals,
  signal: AbortSignal,
): AsyncGenerator<JobStep, void, void> {
  let visited: NewJobProgress[] = [];
  // A visit that cannot be saved is repeated.
  const noted = async (): Promise<void> => {
    const some = visited;
    visited = [];
    if (some.length > 0) await ports.store.jobs.saveProgress(task.name, some).catch(() => {});
  };
  try {
    for (const user of page.users) {
      signal.throwIfAborted();
      const visit = yield* processUser(ports, task, user, sum);
      if (visit) visited.push({ scope: user.scope, visit });
      if (visited.length >= SAVED_AT_ONCE) await noted();
    }
  } finally {
    await noted();
  }
  yield toStep(sum);
}

/** Visits a user if that is due. A fault of one user does not delay the others. */
async function* processUser(
  ports: Ports,
  task: MaintenanceTask,
  { scope, revision, visit }: JobProgressPage["users"][number],
  sum: MaintenanceTotals,
): AsyncGenerator<JobStep, JobProgress | undefined, void> {
  const at = ports.clock().toISOString();
  if (!isVisitDue(revision, visit, at)) {
    sum.found += visit?.found ?? 0;
    return undefined;
  }
  try {
    const memories = yield* readCurrentMemories(ports, scope, sum);
    if (!memories) return undefined;
    const seen = await runTask(await portsOfUser(ports, scope), task, { scope, at, ...memories });
    sum.done += seen.done;
    sum.found += seen.visit.found ?? 0;
    yield toStep(sum);
    return seen.visit;
  } catch (error) {
    if (isMemoryError(error) && error.code === "unavailable") throw error;
    const failed = isGlobalFailure(error)
      ? undefined
      : toFailedProgress(error, { before: visit, revision, at });
    if (!failed || !isQuarantined(failed)) sum.failures.push(error);
    return failed;
  }
}

/** Whether a user changed since the last visit, or something is due. */
export function isVisitDue(revision: number, visit: JobProgress | undefined, at: string): boolean {
  if (!visit || visit.revision !== revision) return true;
  if (visit.failed) return !isOnHold(visit, revision, at);
  return visit.due !== undefined && visit.due <= at;
}

/**
 * The user's current memories in batches. Undefined if another process wrote in between: the next round
 * repeats the visit.
 */
async function* readCurrentMemories(
  { store }: Pick<Ports, "store">,
  scope: Scope,
  sum: MaintenanceTotals,
): AsyncGenerator<JobStep, { memories: Memory[]; revision: number } | undefined, void> {
  const memories: Memory[] = [];
  let first: number | undefined;
  for (;;) {
    const last = memories.at(-1)?.id;
    const page = await store.jobs.currentMemories(scope, {
      limit: MEMORIES,
      ...(last === undefined ? {} : { after: last }),
    });
    first ??= page.revision;
    if (page.revision !== first) return undefined;
    for (const memory of page.memories) memories.push(memory);
    if (!page.more) return { memories, revision: first };
    yield toStep(sum);
  }
}

interface TaskResult {
  /** Applied edits. */
  readonly done: number;
  readonly visit: JobProgress;
}

async function runTask(
  ports: Ports,
  task: MaintenanceTask,
  looking: { scope: Scope; memories: readonly Memory[]; revision: number; at: string },
): Promise<TaskResult> {
  const { edits, due } = await task.plan(ports, looking);
  const more = due === undefined ? {} : { due };
  if (!task.isAutomatic(ports) || edits.length === 0) {
    const found = edits.length === 0 ? {} : { found: edits.length };
    return { done: 0, visit: { revision: looking.revision, ...more, ...found } };
  }
  const { edits: done, revision } = await applyEdits(ports, looking.scope, edits);
  // Only its own change may lie between the two revisions; otherwise the user is visited again. The same
  // applies if one change-set could not hold all edits.
  const isAll = done.length === edits.length && revision === looking.revision + 1;
  return { done: done.length, visit: { revision: isAll ? revision : looking.revision, ...more } };
}
