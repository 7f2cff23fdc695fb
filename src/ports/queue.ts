import type { JobName } from "../domain/job.ts";

/**
 * Who does the work that nobody waits for. What is to be done stands in the record (messages that wait, units without a
 * vector, visits that are due), and is found there again: what is offered here is a hint that there is some, so a hint that
 * is lost or comes twice does no harm.
 */
export interface Queue {
  /** Shown in messages: "memory", "bullmq". */
  readonly name: string;

  /** There is something to do for a job. Offers of one that waits already are one. Never throws; a lost hint is found later. */
  offer(job: JobName): void;

  /**
   * Has a job carried out, one run at a time over all servers and workers, when it is offered and once in each period
   * (`everyMs`), however many take part. A run that throws is tried again, longer apart each time; after `MOST_ATTEMPTS` it is
   * set aside, and the job goes on with the next offer. Gives a function that ends it: what runs is waited for.
   */
  work(
    job: JobName,
    run: (signal: AbortSignal) => Promise<void>,
    options?: { readonly everyMs?: number },
  ): Promise<() => Promise<void>>;

  /** Runs that were set aside, newest first, at most `limit`. No user's text. */
  setAside(limit: number): Promise<SetAside[]>;

  /** Lets one that was set aside run again; false where there is none of this id. */
  again(id: string): Promise<boolean>;

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

export const MOST_ATTEMPTS = 5;
