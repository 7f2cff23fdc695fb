import type { JobName, JobNote, Visit } from "../domain/job.ts";
import type { Memory } from "../domain/memory.ts";
import type { Scope } from "../domain/scope.ts";
import type { Leases } from "./leases.ts";

/**
 * The part of the record that background work goes by. What is noted here is no change: no revision, no log, nothing in
 * `since`.
 */
export interface HouseKeeping extends Leases {
  /**
   * Users who have messages that wait for an extractor and were stored before a time (ISO 8601), of all projects, in the
   * order in which they were first written to, at most `limit`. Costs nothing where there are none.
   */
  usersWaiting(storedBefore: string, limit: number): Promise<WaitingUser[]>;

  /**
   * All users of all projects, in the order in which they were first written to, and what a job noted of each: a page
   * of at most `limit`, from `after` (the cursor of the page before) on.
   */
  visits(job: JobName, options: { readonly after?: string; readonly limit: number }): Promise<VisitPage>;

  /** What a job noted of one user: one key look-up. */
  visit(job: JobName, scope: Scope): Promise<Visit | undefined>;

  /** Notes how far a job is with some users, in place of what was noted before. A user at revision 0 has no notes. */
  noteVisits(job: JobName, visits: readonly NewVisit[]): Promise<void>;

  /**
   * Visits of all jobs and users that broke off (their `failed`) at least so often, the one that failed last first, at most `limit`.
   */
  failedVisits(options: { readonly attempts: number; readonly limit: number }): Promise<FailedVisit[]>;

  /**
   * The memories that are current, in the order in which they were first stored: a page of at most `limit`, after the
   * memory named. Where that one is not there any more, nothing follows it.
   */
  currentMemories(
    scope: Scope,
    options: { readonly after?: string; readonly limit: number },
  ): Promise<CurrentPage>;

  /** Those of some memories that a recall gave whose receipt is still kept, in no order. */
  recalled(scope: Scope, memories: readonly string[]): Promise<string[]>;

  /** What was noted of each job, in no order. */
  jobs(): Promise<JobNote[]>;

  /** Notes a job's run, in place of the one before. */
  noteJob(note: JobNote): Promise<void>;
}

export interface WaitingUser {
  /** `project` and `user` alone. */
  readonly scope: Scope;
  /** 1 or more. */
  readonly messages: number;
}

export interface NewVisit {
  readonly scope: Scope;
  readonly visit: Visit;
}

export interface FailedVisit extends NewVisit {
  readonly job: JobName;
  /** The user's revision now. */
  readonly revision: number;
}

export interface VisitPage {
  readonly users: readonly {
    /** `project` and `user` alone. */
    readonly scope: Scope;
    readonly revision: number;
    readonly visit?: Visit;
  }[];
  /** Absent on the last page. */
  readonly cursor?: string;
}

export interface CurrentPage {
  /** The user's revision as of which it is. */
  readonly revision: number;
  readonly memories: readonly Memory[];
  /** Whether there may be more. */
  readonly more: boolean;
}
