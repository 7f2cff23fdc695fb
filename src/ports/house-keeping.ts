import type { JobName, JobProgress, JobRun } from "../domain/job.ts";
import type { Memory } from "../domain/memory.ts";
import type { Scope } from "../domain/scope.ts";
import type { Leases } from "./leases.ts";

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
