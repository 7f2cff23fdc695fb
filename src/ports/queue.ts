import type { JobName } from "../domain/operations/job.ts";

/**
 * A job queue. The work itself is listed in the memory store: pending messages, units without a vector, due
 * jobs. A queue entry is only a hint that there is work, so a lost or repeated hint does no harm. Entries
 * contain no user data. Leases of the memory store decide which process does a job in a period, whatever the
 * queue.
 */
export interface Queue {
  /** Shown in messages: "memory", "bullmq". */
  readonly name: string;

  /**
   * Announces work for a job, now or after `afterMs` milliseconds. Several offers of a waiting job count as
   * one. An offer during a run causes one more run. Never throws; a lost offer is found in the memory store
   * later.
   */
  offer(job: JobName, options?: { readonly afterMs?: number }): void;

  /**
   * Runs a job's offers, one run at a time across all workers, including offers made before there was a
   * worker.
   *
   * A run that throws is tried again by any worker, with growing delays. A temporary error (`retryable` in
   * `ERROR_CODES`) is retried without limit, any other `MAX_ATTEMPTS_PER_RUN` times. Then the run is quarantined and
   * the job continues with the next offer.
   *
   * Returns a function that stops the worker: it aborts the signal and waits for the run. An interrupted run
   * passes to another worker.
   */
  work(job: JobName, run: (signal: AbortSignal) => Promise<void>): Promise<() => Promise<void>>;

  /**
   * Quarantined runs, newest first, at most `limit`. They contain no user text. Throws `unavailable` if the
   * queue is unreachable.
   */
  setAside(limit: number): Promise<SetAside[]>;

  /** Releases a quarantined run so that it runs again. Returns false if there is none with this id. */
  again(id: string): Promise<boolean>;

  /** Whether the queue's server responds, if it has one. */
  isUp(): Promise<boolean>;

  /** Stops all workers and releases what opening took. A client that the caller passed in stays open. */
  close(): Promise<void>;
}

/** A run that failed too often. */
export interface SetAside {
  /** The id, for `again`. */
  readonly id: string;
  /** The job's name. */
  readonly job: JobName;
  /** ISO 8601. */
  readonly at: string;
  /** How often it failed. */
  readonly attempts: number;
  /** The stable code of the error, or "internal". */
  readonly problem: string;
}

export const MAX_ATTEMPTS_PER_RUN = 5;

/** The delay before a retry in ms. It grows with each failure, up to one minute. */
export function computeRetryDelay(failures: number, firstMs = 1000): number {
  return Math.min(60_000, firstMs * 2 ** Math.max(0, failures - 1));
}
