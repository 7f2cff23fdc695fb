import type { JobName } from "../../domain/job.ts";
import { getErrorCode, isRetryable } from "../../errors.ts";
import { computeRetryDelay, MAX_ATTEMPTS_PER_RUN } from "../../ports/queue.ts";
import { withTimeout } from "../shared/remote-call.ts";

/** So many that failed are kept for each job: they are looked at, not collected. */
const MAX_KEPT_FAILURES = 100;

/** Puts a job into its queue: one that waits already is this one, and one that runs is run once more. */
export async function addJob(
  queue: BullmqQueue,
  job: JobName,
  { afterMs, firstPauseMs }: { readonly afterMs: number; readonly firstPauseMs: number },
): Promise<void> {
  const options: BullmqJobOptions = {
    ...(afterMs > 0 ? { delay: afterMs } : {}),
    attempts: MAX_ATTEMPTS_PER_RUN,
    backoff: { type: "exponential", delay: firstPauseMs },
    deduplication: { id: job, keepLastIfActive: true },
    removeOnComplete: true,
    removeOnFail: { count: MAX_KEPT_FAILURES },
    stackTraceLimit: 1,
  };
  await queue.add(job, {}, options);
}

/**
 * Offers that never wait for Redis: one at a time for each job is on its way, and what comes meanwhile is one more after it. So no
 * line grows while Redis is gone.
 */
export function createOfferer(
  send: (job: JobName, afterMs: number) => Promise<void>,
): (job: JobName, afterMs: number) => void {
  /** What comes after the one on its way: the soonest. */
  const underWay = new Map<JobName, number | undefined>();
  const go = (job: JobName, afterMs: number): void => {
    underWay.set(job, undefined);
    const done = (): void => {
      const next = underWay.get(job);
      underWay.delete(job);
      if (next !== undefined) go(job, next);
    };
    // A hint that is lost is found in the record.
    send(job, afterMs).then(done, done);
  };
  return (job, afterMs) => {
    if (!underWay.has(job)) return go(job, afterMs);
    underWay.set(job, Math.min(afterMs, underWay.get(job) ?? afterMs));
  };
}

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

/** The part of BullMQ (6) that is used. `bullmqQueue({ library: await import("bullmq"), … })` fits it. */
export interface BullmqLibrary<Connection> {
  readonly Queue: new (
    name: string,
    options: { readonly connection: Connection; readonly prefix: string },
  ) => BullmqQueue;
  readonly Worker: new (
    name: string,
    processor: (job: BullmqJob, token?: string) => Promise<void>,
    options: BullmqWorkerOptions<Connection>,
  ) => BullmqWorker;
  /** Thrown by a processor whose job it has moved to a later time itself. */
  readonly DelayedError: new (
    message?: string,
  ) => Error;
}

/** The part of an ioredis client that is used here; BullMQ itself uses all of it. */
export interface BullmqConnection {
  readonly status: string;
  ping(): Promise<unknown>;
}

export interface BullmqQueue {
  add(name: string, data: object, options: BullmqJobOptions): Promise<unknown>;
  /** The newest first. */
  getFailed(start?: number, end?: number): Promise<(BullmqJob | undefined)[]>;
  getJob(id: string): Promise<BullmqJob | undefined>;
  on(event: "error", listener: (error: Error) => void): unknown;
  close(): Promise<void>;
}

export interface BullmqWorker {
  on(event: "error", listener: (error: Error) => void): unknown;
  close(force?: boolean): Promise<void>;
}

export interface BullmqJob {
  id?: string;
  failedReason: string;
  finishedOn?: number;
  timestamp: number;
  attemptsMade: number;
  attemptsStarted: number;
  isFailed(): Promise<boolean>;
  remove(): Promise<void>;
  moveToDelayed(timestamp: number, token?: string): Promise<void>;
}

interface BullmqJobOptions {
  delay?: number;
  attempts: number;
  backoff: { type: "exponential"; delay: number };
  deduplication: { id: string; keepLastIfActive: boolean };
  removeOnComplete: boolean;
  removeOnFail: { count: number };
  stackTraceLimit: number;
}

interface BullmqWorkerOptions<Connection> {
  readonly connection: Connection;
  readonly prefix: string;
  readonly concurrency: number;
  readonly maxStalledCount: number;
  readonly lockDuration: number;
  readonly stalledInterval: number;
}
