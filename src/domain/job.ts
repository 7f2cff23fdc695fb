/** Work that nobody waits for, by name. */
export const JOB_NAMES = [
  "understanding",
  "embedding",
  "expiry",
  "consolidation",
  "decay",
  "clean-up",
  "tidying",
] as const;
/** What feeds an index beside the record goes by the index's name: "following chroma". */
export type JobName = (typeof JOB_NAMES)[number] | `following ${string}`;

/** What came of a job's last run, kept beside the record. Numbers, times and fixed words alone. */
export interface JobRun {
  readonly name: JobName;
  /** When it began (ISO 8601), and how long it took. */
  readonly at: string;
  readonly tookMs: number;
  /** Pieces of work it did. */
  readonly done: number;
  /** What it found and left to people to decide. */
  readonly found?: number;
  /** Why it broke off; absent where it came to its end. */
  readonly problem?: string;
  /** Runs that broke off one after the other, up to this one. */
  readonly attempts: number;
}

/** How far a job is with a user. */
export interface JobProgress {
  /** The user's revision that it has seen. */
  readonly revision: number;
  /** When it is to come again (ISO 8601), even if nothing has changed until then. */
  readonly due?: string;
  /** What it found and left to people to decide. */
  readonly found?: number;
  /** Set where it broke off there: then `revision` is the one that it did not get past. */
  readonly failed?: JobFailure;
}

/** Why a job broke off with a user. */
export interface JobFailure {
  /** How often, one after the other: 1 or more. */
  readonly attempts: number;
  /** The stable code of the last error, or "internal". */
  readonly problem: string;
  /** When it was last (ISO 8601). */
  readonly at: string;
}
