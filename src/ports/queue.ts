import type { JobName } from "../domain/job.ts";

/**
 * Has work that nobody waits for done by whoever has time. What is to be done stands in the record (messages that wait, units
 * without a vector, visits that are due), and is found there again: what is offered here is a hint that there is some, so a
 * hint that is lost or comes twice does no harm. Nothing of a user is in it. Who does what in which period is held by leases of the
 * record, whatever the queue.
 */
export interface Queue {
  /** Shown in messages: "memory", "bullmq". */
  readonly name: string;

  /**
   * There is something to do for a job, now or after so long (ms). Offers of one that waits already are one; one that comes
   * while it runs has it run once more. Never throws; a hint that is lost is found in the record later.
   */
  offer(job: JobName, options?: { readonly afterMs?: number }): void;

  /**
   * Carries out what is offered of a job, one run at a time over all who do, and what was offered before anybody did. A run that
   * throws is tried again, by anybody, longer apart each time: as long as it takes where it was something that passes
   * (`retryable` in `ERROR_CODES`), else `MOST_ATTEMPTS` times; then it is set aside, and the job goes on with the next offer.
   * Gives a function that ends it: the signal is aborted, what runs is waited for, and what was broken off is somebody else's.
   */
  work(job: JobName, run: (signal: AbortSignal) => Promise<void>): Promise<() => Promise<void>>;

  /** Runs that were set aside, newest first, at most `limit`. No user's text. `unavailable` where the queue cannot be asked. */
  setAside(limit: number): Promise<SetAside[]>;

  /** Lets one that was set aside run again, and forgets that it was; false where there is none of this id. */
  again(id: string): Promise<boolean>;

  /** Whether its server answers, where it has one. */
  isUp(): Promise<boolean>;

  close(): Promise<void>;
}

export interface SetAside {
  readonly id: string;
  readonly job: JobName;
  /** ISO 8601. */
  readonly at: string;
  readonly attempts: number;
  /** The stable code of the error, or "internal". */
  readonly problem: string;
}

export const MAX_ATTEMPTS_PER_RUN = 5;

/** Before a run is tried again: longer after each failure (ms), a minute at most. */
export function computeRetryDelay(failures: number, firstMs = 1000): number {
  return Math.min(60_000, firstMs * 2 ** Math.max(0, failures - 1));
}
