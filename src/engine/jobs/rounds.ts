import type { Visit } from "../../domain/job.ts";
import type { Memory } from "../../domain/memory.ts";
import type { Scope } from "../../domain/scope.ts";
import { isMemoryError } from "../../errors.ts";
import type { NewVisit, VisitPage } from "../../ports/house-keeping.ts";
import type { Ports } from "../ports.ts";
import { carryOut } from "./carry-out.ts";
import type { Job, JobStep } from "./job.ts";
import { brokenOff, isEverybodys, isLeftAlone, isSetAside } from "./poison.ts";
import type { Task } from "./task.ts";

/** Users on a page, and users whose visits are noted at once. */
const USERS = 200;
const NOTED = 20;
/** Memories read at once: a millisecond or two. */
const MEMORIES = 100;

/** What a run has come to so far. */
interface Sum {
  done: number;
  found: number;
  readonly failures: unknown[];
}

function stepOf({ done, found }: Sum): JobStep {
  return { done, found };
}

/**
 * A task as a job that goes from user to user. Where nothing has changed since the last visit, and nothing is due, it
 * passes by; how far it is with each user is noted in the record, so that it goes on after a crash or in another process.
 */
export function rounds(ports: Ports, task: Task): Job {
  return {
    name: task.name,
    about: task.about,
    everyMs: task.everyMs,
    rest: 9,
    async *run(signal) {
      const sum: Sum = { done: 0, found: 0, failures: [] };
      let after: string | undefined;
      do {
        const page: VisitPage = await ports.record.visits(task.name, {
          limit: USERS,
          ...(after === undefined ? {} : { after }),
        });
        yield* throughPage(ports, task, page, sum, signal);
        after = page.cursor;
      } while (after !== undefined);
      for (const error of sum.failures) throw error;
    },
  };
}

async function* throughPage(
  ports: Ports,
  task: Task,
  page: VisitPage,
  sum: Sum,
  signal: AbortSignal,
): AsyncGenerator<JobStep, void, void> {
  let visited: NewVisit[] = [];
  // A visit that cannot be noted is made again.
  const noted = async (): Promise<void> => {
    const some = visited;
    visited = [];
    if (some.length > 0) await ports.record.noteVisits(task.name, some).catch(() => {});
  };
  try {
    for (const user of page.users) {
      signal.throwIfAborted();
      const visit = yield* visitOf(ports, task, user, sum);
      if (visit) visited.push({ scope: user.scope, visit });
      if (visited.length >= NOTED) await noted();
    }
  } finally {
    await noted();
  }
  yield stepOf(sum);
}

/** Visits a user, where that is due. What is wrong with one user holds up none of the others. */
async function* visitOf(
  ports: Ports,
  task: Task,
  { scope, revision, visit }: VisitPage["users"][number],
  sum: Sum,
): AsyncGenerator<JobStep, Visit | undefined, void> {
  const at = ports.clock().toISOString();
  if (!isDue(revision, visit, at)) {
    sum.found += visit?.found ?? 0;
    return undefined;
  }
  try {
    const memories = yield* allCurrent(ports, scope, sum);
    if (!memories) return undefined;
    const seen = await look(ports, task, { scope, at, ...memories });
    sum.done += seen.done;
    sum.found += seen.visit.found ?? 0;
    yield stepOf(sum);
    return seen.visit;
  } catch (error) {
    if (isMemoryError(error) && error.code === "unavailable") throw error;
    const failed = isEverybodys(error) ? undefined : brokenOff(error, { before: visit, revision, at });
    if (!failed || !isSetAside(failed)) sum.failures.push(error);
    return failed;
  }
}

function isDue(revision: number, visit: Visit | undefined, at: string): boolean {
  if (!visit || visit.revision !== revision) return true;
  if (visit.failed) return !isLeftAlone(visit, revision, at);
  return visit.due !== undefined && visit.due <= at;
}

/** The user's current memories, some at a time; nothing where somebody wrote in between: the next round comes by again. */
async function* allCurrent(
  { record }: Pick<Ports, "record">,
  scope: Scope,
  sum: Sum,
): AsyncGenerator<JobStep, { memories: Memory[]; revision: number } | undefined, void> {
  const memories: Memory[] = [];
  let first: number | undefined;
  for (;;) {
    const last = memories.at(-1)?.id;
    const page = await record.currentMemories(scope, {
      limit: MEMORIES,
      ...(last === undefined ? {} : { after: last }),
    });
    first ??= page.revision;
    if (page.revision !== first) return undefined;
    for (const memory of page.memories) memories.push(memory);
    if (!page.more) return { memories, revision: first };
    yield stepOf(sum);
  }
}

interface Seen {
  /** Edits carried out. */
  readonly done: number;
  readonly visit: Visit;
}

async function look(
  ports: Ports,
  task: Task,
  looking: { scope: Scope; memories: readonly Memory[]; revision: number; at: string },
): Promise<Seen> {
  const { edits, due } = await task.think(ports, looking);
  const more = due === undefined ? {} : { due };
  if (!task.isCarriedOut(ports) || edits.length === 0) {
    const found = edits.length === 0 ? {} : { found: edits.length };
    return { done: 0, visit: { revision: looking.revision, ...more, ...found } };
  }
  const { edits: done, revision } = await carryOut(ports, looking.scope, edits);
  // Only its own change lies between the revision that was looked at and this one; else it comes by again. The same where
  // there was more to do than goes into one change-set.
  const isAll = done.length === edits.length && revision === looking.revision + 1;
  return { done: done.length, visit: { revision: isAll ? revision : looking.revision, ...more } };
}
