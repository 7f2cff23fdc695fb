import type { JobName, JobProgress, JobRun } from "../domain/job.ts";
import type { Memory } from "../domain/memory.ts";
import type { Scope } from "../domain/scope.ts";

/**
 * The part of the record that background work goes by. What is noted here is no change: no revision, no log, nothing in
 * `since`.
 */
export interface JobStore extends Leases {
  /**
   * Users who have messages that wait for an extractor and were stored before a time (ISO 8601), of all projects, in the
   * order in which they were first written to, at most `limit`. Costs nothing where there are none.
   */
  usersWithPendingMessages(storedBefore: string, limit: number): Promise<UserWithPendingMessages[]>;

  /**
   * All users of all projects, in the order in which they were first written to, and what a job noted of each: a page
   * of at most `limit`, from `after` (the cursor of the page before) on.
   */
  jobProgress(
    job: JobName,
    options: { readonly after?: string; readonly limit: number },
  ): Promise<JobProgressPage>;

  /** What a job noted of one user: one key look-up. */
  userProgress(job: JobName, scope: Scope): Promise<JobProgress | undefined>;

  /** Notes how far a job is with some users, in place of what was noted before. A user at revision 0 has no notes. */
  saveProgress(job: JobName, visits: readonly NewJobProgress[]): Promise<void>;

  /**
   * Visits of all jobs and users that broke off (their `failed`) at least so often, the one that failed last first, at most `limit`.
   */
  failedProgress(options: {
    readonly attempts: number;
    readonly limit: number;
  }): Promise<FailedJobProgress[]>;

  /**
   * The memories that are current, in the order in which they were first stored: a page of at most `limit`, after the
   * memory named. Where that one is not there any more, nothing follows it.
   */
  currentMemories(
    scope: Scope,
    options: { readonly after?: string; readonly limit: number },
  ): Promise<CurrentMemoryPage>;

  /** Those of some memories that a recall gave whose receipt is still kept, in no order. */
  findRecalled(scope: Scope, memories: readonly string[]): Promise<string[]>;

  /** What was noted of each job, in no order. */
  jobRuns(): Promise<JobRun[]>;

  /** Notes a job's run, in place of the one before. */
  saveJobRun(note: JobRun): Promise<void>;
}

export interface UserWithPendingMessages {
  /** `project` and `user` alone. */
  readonly scope: Scope;
  /** 1 or more. */
  readonly messages: number;
}

export interface NewJobProgress {
  readonly scope: Scope;
  readonly visit: JobProgress;
}

export interface FailedJobProgress extends NewJobProgress {
  readonly job: JobName;
  /** The user's revision now. */
  readonly revision: number;
}

export interface JobProgressPage {
  readonly users: readonly {
    /** `project` and `user` alone. */
    readonly scope: Scope;
    readonly revision: number;
    readonly visit?: JobProgress;
  }[];
  /** Absent on the last page. */
  readonly cursor?: string;
}

export interface CurrentMemoryPage {
  /** The user's revision as of which it is. */
  readonly revision: number;
  readonly memories: readonly Memory[];
  /** Whether there may be more. */
  readonly more: boolean;
}

/**
 * Who may do now what only one of all processes on this record may do at a time. A lease runs out by itself, so that nobody waits
 * for one that was killed; it is counted by the record's own clock (the database server's, where there is one), so that
 * machines need not agree on the time.
 *
 * A process that was stopped for longer than its lease may go on without it for a moment: what it writes then is held by the
 * revision that it was based on, as any other write.
 */
export interface Leases {
  /**
   * Takes a lease for so long (ms). Refused where somebody has it, and while it rests after it was given back; an `isUrgent`
   * one cuts the rest short. Of several who ask at once, one gets it.
   */
  takeLease(
    name: string,
    options: { readonly forMs: number; readonly isUrgent?: boolean },
  ): Promise<LeaseResult>;

  /** Holds it for so long (ms) from now on. False where it is not this token's any more: it ran out, whether or not anybody has it now. */
  renewLease(name: string, token: string, forMs: number): Promise<boolean>;

  /** Gives it back before it runs out; nobody gets it for `restMs` (0) then. False, and nothing is done, where it is not this token's. */
  releaseLease(name: string, token: string, restMs?: number): Promise<boolean>;
}

/** The token that shows whose it is; or why it is refused, and for how long (ms) at the most, if it is not renewed. */
export type LeaseResult =
  | { readonly token: string }
  | { readonly token?: undefined; readonly refused: "held" | "resting"; readonly waitMs: number };
