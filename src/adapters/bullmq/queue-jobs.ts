import type { JobName } from "../../domain/operations/job.ts";
import { getErrorCode, isRetryable } from "../../errors.ts";
import { computeRetryDelay, MAX_ATTEMPTS_PER_RUN } from "../../ports/queue.ts";
import { withTimeout } from "../shared/model-calls/remote-call.ts";

/** The number of failed jobs kept for each name, for inspection. */
const MAX_KEPT_FAILURES = 100;

/** Adds a job to its queue. A waiting job is not added twice, and a running one runs once more. */
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
 * Offers jobs without waiting for Redis. Each job has at most one request in progress; further offers are merged into one after it. So
 * no backlog grows while Redis is down.
 */
export function createOfferer(
  send: (job: JobName, afterMs: number) => Promise<void>,
): (job: JobName, afterMs: number) => void {
  /** The soonest offer that follows the request in progress. */
  const pending = new Map<JobName, number | undefined>();
  const sendNext = (job: JobName, afterMs: number): void => {
    pending.set(job, undefined);
    const done = (): void => {
      const next = pending.get(job);
      pending.delete(job);
      if (next !== undefined) sendNext(job, next);
    };
    // A lost offer does no harm: the database still has the pending work.
    send(job, afterMs).then(done, done);
  };
  return (job, afterMs) => {
    if (!pending.has(job)) return sendNext(job, afterMs);
    pending.set(job, Math.min(afterMs, pending.get(job) ?? afterMs));
  };
}

/** How long a Redis that does not answer may delay the end of the program, in ms. */
const LEAVE_MS = 2000;

/** Runs the jobs of BullMQ. A job that must wait, or was aborted, goes back without counting as a failure. */
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
        // Another worker takes the job at once, or, if Redis cannot be reached, when its lock expires.
        const moved = job.moveToDelayed(Date.now(), token);
        await withTimeout(moved, LEAVE_MS, () => new Error("late")).catch(() => {});
        throw new DelayedError();
      }
      if (isRetryable(error)) {
        await job.moveToDelayed(Date.now() + computeRetryDelay(job.attemptsStarted, firstPauseMs), token);
        throw new DelayedError();
      }
      // Redis stores the message, so it only contains the code: other messages may contain private data.
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
  /** Thrown by a processor that has postponed its job itself. */
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
  /** Newest first. */
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
