import type { Memory } from "../../domain/memory.ts";
import type { JobName, JobProgress, JobRun } from "../../domain/operations/job.ts";
import type { Scope } from "../../domain/scope.ts";

/**
 * The part of the memory store that background jobs use. Notes written here are not changes: no revision, no
 * log entry, nothing in `since`.
 */
export interface JobStore extends Leases {
  /**
   * Users of all projects with messages that wait for an extractor and were stored before a time (ISO 8601).
   * Ordered by the user's first write; at most `limit`. Cheap if there are none.
   */
  usersWithPendingMessages(storedBefore: string, limit: number): Promise<UserWithPendingMessages[]>;

  /**
   * A page of all users of all projects, with a job's progress for each. Ordered by the user's first write;
   * at most `limit`, starting after `after` (the cursor of the previous page).
   */
  jobProgress(
    job: JobName,
    options: { readonly after?: string; readonly limit: number },
  ): Promise<JobProgressPage>;

  /** A job's progress for one user. One key lookup. */
  userProgress(job: JobName, scope: Scope): Promise<JobProgress | undefined>;

  /**
   * Saves a job's progress for some users, replacing earlier progress. A user at revision 0 keeps no
   * progress.
   */
  saveProgress(job: JobName, visits: readonly NewJobProgress[]): Promise<void>;

  /**
   * Progress of all jobs and users that failed at least `attempts` times in a row (see `failed`). The latest
   * failure comes first; at most `limit`.
   */
  failedProgress(options: {
    readonly attempts: number;
    readonly limit: number;
  }): Promise<FailedJobProgress[]>;

  /**
   * A page of current memories in the order in which they were first stored. At most `limit`, after the
   * memory `after`. If that memory no longer exists, the page is empty.
   */
  currentMemories(
    scope: Scope,
    options: { readonly after?: string; readonly limit: number },
  ): Promise<CurrentMemoryPage>;

  /** Those of the given memories that a recall returned whose receipt is still kept. Unordered. */
  findRecalled(scope: Scope, memories: readonly string[]): Promise<string[]>;

  /** The last run of each job. Unordered. */
  jobRuns(): Promise<JobRun[]>;

  /** Saves a job's run, replacing the one before. */
  saveJobRun(note: JobRun): Promise<void>;
}

export interface UserWithPendingMessages {
  /** Only `project` and `user`. */
  readonly scope: Scope;
  /** At least 1. */
  readonly messages: number;
}

export interface NewJobProgress {
  readonly scope: Scope;
  readonly visit: JobProgress;
}

export interface FailedJobProgress extends NewJobProgress {
  readonly job: JobName;
  /** The user's current revision. */
  readonly revision: number;
}

export interface JobProgressPage {
  readonly users: readonly {
    /** Only `project` and `user`. */
    readonly scope: Scope;
    readonly revision: number;
    readonly visit?: JobProgress;
  }[];
  /** Absent on the last page. */
  readonly cursor?: string;
}

export interface CurrentMemoryPage {
  /** The user's revision at the time of the page. */
  readonly revision: number;
  readonly memories: readonly Memory[];
  /** Whether more memories may follow. */
  readonly more: boolean;
}

/**
 * Leases: rights that one process at a time holds among all processes on this memory store. A lease expires
 * by itself, so a killed process blocks no one. The store's own clock counts it (the database server's, if
 * there is one), so machines need not agree on the time.
 *
 * A process that was suspended longer than its lease may continue for a moment without it. Its writes are
 * then checked against the revision they are based on, like any other write.
 */
export interface Leases {
  /**
   * Takes a lease for `forMs` milliseconds. Refused while another process holds it, and during its rest
   * period after a release. `isUrgent` skips the rest period. If several processes ask at once, one gets it.
   */
  takeLease(
    name: string,
    options: { readonly forMs: number; readonly isUrgent?: boolean },
  ): Promise<LeaseResult>;

  /**
   * Extends a lease to `forMs` milliseconds from now. Returns false if the token no longer holds it because
   * it expired, whether or not another process holds it now.
   */
  renewLease(name: string, token: string, forMs: number): Promise<boolean>;

  /**
   * Releases a lease before it expires. No process gets it for the next `restMs` milliseconds (default 0).
   * Returns false and does nothing if the token does not hold it.
   */
  releaseLease(name: string, token: string, restMs?: number): Promise<boolean>;
}

/**
 * The token that proves ownership; or why the lease is refused, and how long it lasts at most in ms if it is
 * not renewed.
 */
export type LeaseResult =
  | { readonly token: string }
  | { readonly token?: undefined; readonly refused: "held" | "resting"; readonly waitMs: number };
