/** The background jobs by name. */
export const JOB_NAMES = [
  "understanding",
  "embedding",
  "expiry",
  "consolidation",
  "decay",
  "clean-up",
  "delayed-erasures",
  "tidying",
  "backup",
  "describing",
] as const;
/** A job that feeds a vector index contains the index's name: "following chroma". */
export type JobName = (typeof JOB_NAMES)[number] | `following ${string}`;

/**
 * The outcome of a job's last run, kept in the memory store. It holds only numbers, times and fixed words.
 */
export interface JobRun {
  readonly name: JobName;
  /** When it began (ISO 8601), and its duration in ms. */
  readonly at: string;
  readonly tookMs: number;
  /** Number of items processed. */
  readonly done: number;
  /** Number of findings left for a person to decide. */
  readonly found?: number;
  /** Why it failed; absent if it completed. */
  readonly problem?: string;
  /** Consecutive failed runs, including this one. */
  readonly attempts: number;
}

/** A job's progress for one user. */
export interface JobProgress {
  /** The user's revision that the job has processed. */
  readonly revision: number;
  /** When the job runs again (ISO 8601), even if nothing has changed. */
  readonly due?: string;
  /** Number of findings left for a person to decide. */
  readonly found?: number;
  /** Set if the job failed for this user; `revision` is then the one where it failed. */
  readonly failed?: JobFailure;
}

/** A job's failure for one user. */
export interface JobFailure {
  /** Consecutive failures, at least 1. */
  readonly attempts: number;
  /** The stable code of the last error, or "internal". */
  readonly problem: string;
  /** Time of the last failure (ISO 8601). */
  readonly at: string;
}
