import type { Message } from "../../domain/message.ts";
import type { JobProgress } from "../../domain/operations/job.ts";
import { type Scope, toScopeKey } from "../../domain/scope.ts";
import { isMemoryError } from "../../errors.ts";
import { portsOfUser } from "../embedders.ts";
import { extractPending } from "../ingest/extract-pending.ts";
import type { Ports } from "../ports.ts";
import type { Job, JobStep } from "./job.ts";
import { acquireLease, isHeldLease } from "./job-runner.ts";
import { isGlobalFailure, isOnHold, isQuarantined, toFailedProgress } from "./quarantine.ts";

/** Extraction from pending messages. It can be told that a user's messages were just stored. */
interface UnderstandingJob extends Job {
  /** Reads this user's messages first, however new they are. */
  prioritize(scope: Scope): void;
}

/** Users looked up at once; failed users are left out for this run. */
const AT_ONCE = 20;
/**
 * Users that this process has cached come first, because they cost less to read here. One turn in this many
 * goes to the first user in the queue, cached or not.
 */
const FIRST_EVERY = 10;
/**
 * A newer message may still be in the hands of the call that stored it: a request to forget is pending until
 * it has been executed.
 */
export const MIN_AGE_MS = 30_000;
/** How often to look for work that other processes, or a crash, left behind. */
const EVERY_MS = 60_000;
/** If more users than this fail, the fault is not with single users. */
const MAX_FAILED = 1000;
const JOB_NAME = "understanding";

/** Users skipped in this run, each with its error, or without one if there was nothing to do. */
type SkippedUsers = Map<string, unknown>;

/**
 * Runs the extractor on pending messages, one user at a time; messages that are still gathering are left
 * alone. A lease per user lets many processes work at once, and none is read, or paid for, twice.
 */
export function createUnderstandingJob(ports: Ports, gathered: MessageBatcher): UnderstandingJob {
  const prioritized = new Map<string, Scope>();
  /** A restart may bring another model, for messages that the last one could not read. */
  let isFirst = true;
  return {
    name: JOB_NAME,
    about: "extracts memories from pending messages",
    everyMs: EVERY_MS,
    isShared: true,
    restFactor: 3,
    prioritize(scope) {
      prioritized.set(toScopeKey(scope), scope);
    },
    async *run(signal) {
      let done = 0;
      let turn = 0;
      const { before, passed } = await readFailures(ports, isFirst);
      isFirst = false;
      for (;;) {
        turn += 1;
        const scope = await pickNextUser(ports, gathered, prioritized, {
          passed,
          isInLine: turn % FIRST_EVERY === 0,
        });
        if (!scope) break;
        const key = toScopeKey(scope);
        const { read, failed } = await readUnderLease(ports, scope, { before: before.get(key), signal });
        done += read;
        if (failed === undefined) prioritized.delete(key);
        // Unread messages wait for another program's model, or another process is reading them.
        if (read === 0) passed.set(key, failed);
        yield { done } satisfies JobStep;
      }
      const failure = [...passed.values()].find((failed) => failed !== undefined);
      if (failure !== undefined) throw failure;
    },
    async countLeft() {
      const waiting = await ports.store.jobs.usersWithPendingMessages(END_OF_TIME, Number.MAX_SAFE_INTEGER);
      return waiting.reduce((sum, { messages }) => sum + messages, 0);
    },
  };
}

/** Earlier failures by user; quarantined ones are skipped. */
async function readFailures(
  { store, clock }: Pick<Ports, "store" | "clock">,
  isFirst: boolean,
): Promise<{ readonly before: ReadonlyMap<string, JobProgress>; readonly passed: SkippedUsers }> {
  const at = clock().toISOString();
  const failed = await store.jobs.failedProgress({ attempts: 1, limit: MAX_FAILED });
  const before = new Map<string, JobProgress>();
  const passed: SkippedUsers = new Map();
  for (const { job, scope, revision, visit } of failed) {
    if (job !== JOB_NAME) continue;
    before.set(toScopeKey(scope), visit);
    if (!isFirst && isOnHold(visit, revision, at)) passed.set(toScopeKey(scope), undefined);
  }
  return { before, passed };
}

interface ReadOutcome {
  readonly read: number;
  readonly failed?: unknown;
}

/** Reads nothing if another process reads this user. */
async function readUnderLease(
  ports: Ports,
  scope: Scope,
  { before, signal }: { readonly before: JobProgress | undefined; readonly signal: AbortSignal },
): Promise<ReadOutcome> {
  // Lease names hold no user name in clear text.
  const lease = await acquireLease(ports.store.jobs, `${JOB_NAME} ${ports.secret.sign(toScopeKey(scope))}`, {
    signal,
  });
  if (!isHeldLease(lease)) return { read: 0 };
  try {
    const reading = await readPending(ports, scope, lease.signal);
    return await saveOutcome(ports, scope, before, reading);
  } catch (error) {
    if (lease.isLost() && !signal.aborted) return { read: 0 };
    throw error;
  } finally {
    await lease.giveBack();
  }
}

/** A server that is down affects everyone; a fault of one user must not delay the others. */
async function readPending(ports: Ports, scope: Scope, signal: AbortSignal): Promise<ReadOutcome> {
  try {
    return { read: await extractPending(await portsOfUser(ports, scope), scope, signal) };
  } catch (failed) {
    if (signal.aborted || isUnavailable(failed)) throw failed;
    return { read: 0, failed };
  }
}

/** Notes failures; work that fails too often is quarantined and no longer delays anything. */
async function saveOutcome(
  { store, clock }: Ports,
  scope: Scope,
  before: JobProgress | undefined,
  reading: ReadOutcome,
): Promise<ReadOutcome> {
  const { failed } = reading;
  if (failed === undefined && !before) return reading;
  if (failed !== undefined && isGlobalFailure(failed)) return reading;
  const revision = await store.revision(scope);
  const at = clock().toISOString();
  const visit: JobProgress =
    failed === undefined ? { revision } : toFailedProgress(failed, { before, revision, at });
  await store.jobs.saveProgress(JOB_NAME, [{ scope, visit }]);
  return isQuarantined(visit) ? { read: 0 } : reading;
}

async function pickNextUser(
  ports: Ports,
  gathered: MessageBatcher,
  asked: ReadonlyMap<string, Scope>,
  { passed, isInLine }: { readonly passed: SkippedUsers; readonly isInLine: boolean },
): Promise<Scope | undefined> {
  for (const [key, scope] of asked) if (!passed.has(key)) return scope;
  const before = new Date(ports.clock().getTime() - MIN_AGE_MS).toISOString();
  for (;;) {
    const waiting = await ports.store.jobs.usersWithPendingMessages(before, AT_ONCE + passed.size);
    const left = waiting
      .map((one) => one.scope)
      .filter((one) => !passed.has(toScopeKey(one)) && !gathered.has(one));
    const known = isInLine ? undefined : left.find((one) => ports.states.peekIndex(one));
    const scope = known ?? left[0] ?? (await findStoredAhead(ports, gathered, passed));
    if (!scope || (await isUserReady(ports, scope))) return scope;
    passed.set(toScopeKey(scope), undefined);
  }
}

/** Later than any stored time. */
const END_OF_TIME = "9999-12-31T23:59:59.999Z";
/** Maximum difference between the clocks of two servers. */
const CLOCK_SKEW_MS = 60_000;

/**
 * Finds a user whose messages were stored by a clock ahead of this one. They would wait until this clock
 * catches up.
 */
async function findStoredAhead(
  ports: Ports,
  gathered: MessageBatcher,
  passed: SkippedUsers,
): Promise<Scope | undefined> {
  const waiting = await ports.store.jobs.usersWithPendingMessages(END_OF_TIME, AT_ONCE + passed.size);
  for (const { scope } of waiting) {
    if (passed.has(toScopeKey(scope)) || gathered.has(scope)) continue;
    const { storedUntil } = await ports.states.of(scope);
    if (Date.parse(storedUntil) > ports.clock().getTime() + CLOCK_SKEW_MS) return scope;
  }
  return undefined;
}

/** Whether messages that arrived at another server have waited for a batch long enough. */
async function isUserReady(
  { states, clock, modelExtractor }: Pick<Ports, "states" | "clock" | "modelExtractor">,
  scope: Scope,
): Promise<boolean> {
  const pauseMs = modelExtractor?.lingerMs ?? 0;
  if (pauseMs === 0) return true;
  const { messages } = await states.of(scope);
  const waiting = [...messages.values()].filter(({ digest, undone }) => digest === "pending" && !undone);
  return isBatchReady(waiting, pauseMs, clock().getTime());
}

function isUnavailable(error: unknown): boolean {
  return isMemoryError(error) && error.code === "unavailable";
}

/**
 * Gathers messages of a user, so that a model reads many in one request: each request carries the
 * instructions.
 */
export interface MessageBatcher {
  /** Adds a pending message of this user. */
  add(scope: Scope): void;
  /** Takes the users that have waited long enough out of the batcher. */
  take(): Scope[];
  has(scope: Scope): boolean;
  /** Milliseconds until the next user is ready; undefined if none is waiting. */
  next(): number | undefined;
}

/** Number of messages worth a request: with twelve, the instructions are no longer the larger part. */
const BATCH_SIZE = 12;
/** The first message waits at most this many pauses, however long a conversation goes on without one. */
const MAX_PAUSES = 5;

/**
 * The same for messages from other processes: whether the pending ones have waited long enough, by their
 * storage times (ISO 8601). Messages that were never offered to an extractor do not wait for others.
 */
export function isBatchReady(
  waiting: readonly Pick<Message, "heard" | "storedAt">[],
  pauseMs: number,
  now: number,
): boolean {
  if (waiting.length >= BATCH_SIZE || waiting.some(({ heard }) => !heard)) return true;
  const stored = waiting.map(({ storedAt }) => Date.parse(storedAt));
  // Messages stored ahead of this clock wait no longer: one of the clocks was wrong.
  const newest = Math.max(...stored);
  return newest > now || now - newest >= pauseMs || now - Math.min(...stored) >= pauseMs * MAX_PAUSES;
}

/**
 * Messages wait until their user has paused for this many milliseconds, there are a dozen, or the first has
 * waited five times as long.
 */
export function createMessageBatcher(
  pauseMs: number,
  now: () => number = () => performance.now(),
): MessageBatcher {
  const waiting = new Map<string, { scope: Scope; first: number; last: number; count: number }>();
  const due = ({ first, last, count }: { first: number; last: number; count: number }): number =>
    count >= BATCH_SIZE ? last : Math.min(last + pauseMs, first + pauseMs * MAX_PAUSES);
  return {
    add(scope) {
      const key = toScopeKey(scope);
      const { first, count } = waiting.get(key) ?? { first: now(), count: 0 };
      waiting.set(key, { scope, first, last: now(), count: count + 1 });
    },
    take() {
      const ripe = [...waiting].filter(([, one]) => due(one) <= now());
      for (const [key] of ripe) waiting.delete(key);
      return ripe.map(([, { scope }]) => scope);
    },
    has: (scope) => waiting.has(toScopeKey(scope)),
    next() {
      if (waiting.size === 0) return undefined;
      return Math.max(0, Math.min(...[...waiting.values()].map(due)) - now());
    },
  };
}
