import type { JobProgress } from "../../domain/job.ts";
import type { Message } from "../../domain/message.ts";
import { type Scope, toScopeKey } from "../../domain/scope.ts";
import { isMemoryError } from "../../errors.ts";
import { extractPending } from "../ingest/extract-pending.ts";
import type { Ports } from "../ports.ts";
import type { Job, JobStep } from "./job.ts";
import { acquireLease, isHeldLease } from "./job-runner.ts";
import { isGlobalFailure, isOnHold, isQuarantined, toFailedProgress } from "./quarantine.ts";

/** Understanding, which can be told of a user whose messages have just been stored. */
interface UnderstandingJob extends Job {
  /** This user's messages are read first, and however new they are. */
  prioritize(scope: Scope): void;
}

/** So many users are looked up at once; those who failed are left out for this run. */
const AT_ONCE = 20;
/**
 * Of those who wait, users whom this process knows already come first, for it reads them for less, and other processes know the
 * others; but so often whoever stands first in line has a turn, known or not.
 */
const FIRST_EVERY = 10;
/**
 * What was stored so lately may be in the hands of the call that stored it: a request to forget waits as pending work
 * until it has been carried out.
 */
export const MIN_AGE_MS = 30_000;
/** How often it is looked for what other processes, or a crash, left behind. */
const EVERY_MS = 60_000;
/** More users than that who cannot be read are no poison, but something that is wrong with the whole. */
const MAX_FAILED = 1000;
const JOB_NAME = "understanding";

/** Users who are passed over for now: with what failed, or with nothing, where there was nothing to be done. */
type SkippedUsers = Map<string, unknown>;

/**
 * Reads messages that wait for the extractor, a user at a time; those that are still being gathered are left alone. Each user is
 * read under a lease: many processes read many users at once, and none is read, or paid for, twice.
 */
export function createUnderstandingJob(ports: Ports, gathered: MessageBatcher): UnderstandingJob {
  const asked = new Map<string, Scope>();
  /** Somebody may have started the program again to have another model read what the last one could not. */
  let isFirst = true;
  return {
    name: JOB_NAME,
    about: "reads the messages that wait for it, and stores what they say",
    everyMs: EVERY_MS,
    isShared: true,
    restFactor: 3,
    prioritize(scope) {
      asked.set(toScopeKey(scope), scope);
    },
    async *run(signal) {
      let done = 0;
      let turn = 0;
      const { before, passed } = await readFailures(ports, isFirst);
      isFirst = false;
      for (;;) {
        turn += 1;
        const scope = await pickNextUser(ports, gathered, asked, {
          passed,
          isInLine: turn % FIRST_EVERY === 0,
        });
        if (!scope) break;
        const key = toScopeKey(scope);
        const { read, failed } = await readUnderLease(ports, scope, { before: before.get(key), signal });
        done += read;
        if (failed === undefined) asked.delete(key);
        // What waits and was not read waits for another program's model, or is being read by another process.
        if (read === 0) passed.set(key, failed);
        yield { done } satisfies JobStep;
      }
      const failure = [...passed.values()].find((failed) => failed !== undefined);
      if (failure !== undefined) throw failure;
    },
    async countLeft() {
      const waiting = await ports.record.usersWithPendingMessages(END_OF_TIME, Number.MAX_SAFE_INTEGER);
      return waiting.reduce((sum, { messages }) => sum + messages, 0);
    },
  };
}

/** What could not be read before, by user; what was set aside is passed over. */
async function readFailures(
  { record, clock }: Pick<Ports, "record" | "clock">,
  isFirst: boolean,
): Promise<{ readonly before: ReadonlyMap<string, JobProgress>; readonly passed: SkippedUsers }> {
  const at = clock().toISOString();
  const failed = await record.failedProgress({ attempts: 1, limit: MAX_FAILED });
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

/** Where another process reads this user, nothing is read here. */
async function readUnderLease(
  ports: Ports,
  scope: Scope,
  { before, signal }: { readonly before: JobProgress | undefined; readonly signal: AbortSignal },
): Promise<ReadOutcome> {
  // No name stands in the record beside the user's own rows.
  const held = await acquireLease(ports.record, `${JOB_NAME} ${ports.secret.sign(toScopeKey(scope))}`, {
    signal,
  });
  if (!isHeldLease(held)) return { read: 0 };
  try {
    const reading = await readPending(ports, scope, held.signal);
    return await saveOutcome(ports, scope, before, reading);
  } catch (error) {
    if (held.isLost() && !signal.aborted) return { read: 0 };
    throw error;
  } finally {
    await held.giveBack();
  }
}

/** A server that is down is down for everybody; what is wrong with one user holds up none of the others. */
async function readPending(ports: Ports, scope: Scope, signal: AbortSignal): Promise<ReadOutcome> {
  try {
    return { read: await extractPending(ports, scope, signal) };
  } catch (failed) {
    if (signal.aborted || isUnavailable(failed)) throw failed;
    return { read: 0, failed };
  }
}

/** Notes what could not be read; what fails too often is set aside, and hinders nobody any more. */
async function saveOutcome(
  { record, clock }: Ports,
  scope: Scope,
  before: JobProgress | undefined,
  reading: ReadOutcome,
): Promise<ReadOutcome> {
  const { failed } = reading;
  if (failed === undefined && !before) return reading;
  if (failed !== undefined && isGlobalFailure(failed)) return reading;
  const revision = await record.revision(scope);
  const at = clock().toISOString();
  const visit: JobProgress =
    failed === undefined ? { revision } : toFailedProgress(failed, { before, revision, at });
  await record.saveProgress(JOB_NAME, [{ scope, visit }]);
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
    const waiting = await ports.record.usersWithPendingMessages(before, AT_ONCE + passed.size);
    const left = waiting
      .map((one) => one.scope)
      .filter((one) => !passed.has(toScopeKey(one)) && !gathered.has(one));
    const known = isInLine ? undefined : left.find((one) => ports.states.peekIndex(one));
    const scope = known ?? left[0] ?? (await findStoredAhead(ports, gathered, passed));
    if (!scope || (await isUserReady(ports, scope))) return scope;
    passed.set(toScopeKey(scope), undefined);
  }
}

/** After every time that is stored. */
const END_OF_TIME = "9999-12-31T23:59:59.999Z";
/** So far may the clocks of two servers differ. */
const CLOCK_SKEW_MS = 60_000;

/** A user whose messages were stored by a clock that was ahead of this one: they would wait until this one is there. */
async function findStoredAhead(
  ports: Ports,
  gathered: MessageBatcher,
  passed: SkippedUsers,
): Promise<Scope | undefined> {
  const waiting = await ports.record.usersWithPendingMessages(END_OF_TIME, AT_ONCE + passed.size);
  for (const { scope } of waiting) {
    if (passed.has(toScopeKey(scope)) || gathered.has(scope)) continue;
    const { storedUntil } = await ports.states.of(scope);
    if (Date.parse(storedUntil) > ports.clock().getTime() + CLOCK_SKEW_MS) return scope;
  }
  return undefined;
}

/** Whether a user's messages, which came in elsewhere, have waited for others long enough. */
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

/** Users whose messages wait for others, so that a model reads many in one request: each request has its instructions to carry. */
export interface MessageBatcher {
  /** Another message of this user's waits. */
  add(scope: Scope): void;
  /** The users who have waited long enough; they gather no longer. */
  take(): Scope[];
  has(scope: Scope): boolean;
  /** Milliseconds until somebody has; undefined where nobody waits. */
  next(): number | undefined;
}

/** So many messages are worth a request: with twelve the instructions are no longer the most of it. */
const BATCH_SIZE = 12;
/** However long a conversation goes on without a pause, its first message waits no longer than so many pauses. */
const MAX_PAUSES = 5;

/**
 * The same of messages that this process has not seen coming: whether those that wait have waited long enough, by when they
 * were stored (ISO 8601). What nobody has heard yet waits for no others.
 */
export function isBatchReady(
  waiting: readonly Pick<Message, "heard" | "storedAt">[],
  pauseMs: number,
  now: number,
): boolean {
  if (waiting.length >= BATCH_SIZE || waiting.some(({ heard }) => !heard)) return true;
  const stored = waiting.map(({ storedAt }) => Date.parse(storedAt));
  // What was stored ahead of this clock waits for nothing: one of the clocks was wrong.
  const newest = Math.max(...stored);
  return newest > now || now - newest >= pauseMs || now - Math.min(...stored) >= pauseMs * MAX_PAUSES;
}

/** They wait until their user has paused for so long (milliseconds), there are a dozen, or the first has waited five times as long. */
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
