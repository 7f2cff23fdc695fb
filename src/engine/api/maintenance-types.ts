import type { Kind } from "../../domain/memory.ts";
import type { UsageBy } from "../../domain/model-usage.ts";
import type { JobName } from "../../domain/operations/job.ts";
import type { CallOptions } from "../../ports/call-options.ts";

/** The period of statistics, and their grouping. */
export interface StatsOptions {
  /**
   * From (inclusive) and to (exclusive); everything stored if absent. Turns are counted by whole days, in
   * UTC.
   */
  readonly since?: Date | string;
  /** The end of the period, exclusive. */
  readonly until?: Date | string;
  /** How to group the rows of `usage.rows`; by purpose and model if absent. */
  readonly by?: UsageBy;
}

export interface EmbeddingState {
  /** The embedder's space (its fingerprint). */
  readonly space: string;
  /** Search units without a vector in this space; they are found by their words. */
  readonly left: number;
  /** Whether embedding runs now. */
  readonly running: boolean;
  /** Why the last try failed; it will be repeated. */
  readonly problem?: string;
}

/** A background job. */
export interface JobState {
  /** The job's name. */
  readonly name: JobName;
  /** What it does, in a few words. */
  readonly about: string;
  /**
   * `failing`: it failed and retries; `scheduled`: it runs again at its interval; `idle`: it runs when there
   * is work.
   */
  readonly state: "running" | "failing" | "scheduled" | "idle";
  /** Start of the last run, in any process (ISO 8601), and its duration. */
  readonly lastRun?: string;
  /** The duration of the last run, in ms. */
  readonly tookMs?: number;
  /** When it runs next (ISO 8601). */
  readonly nextRun?: string;
  /** Pieces of work in this run, or in the last one. */
  readonly done: number;
  /** Pending pieces of work, if known. */
  readonly left?: number;
  /** Findings left for people to decide. */
  readonly found?: number;
  /** Why it failed last. */
  readonly problem?: string;
  /** Consecutive failed runs. */
  readonly attempts: number;
  /**
   * Users with whom it failed too often. They are left out until their memory changes or `again` is called;
   * absent if there are none.
   */
  readonly setAside?: number;
}

/** Work that failed five times in a row. */
export interface WorkSetAside {
  /** The id, for `again`. */
  readonly id: string;
  /** The job's name. */
  readonly job: JobName;
  /** The user; absent for a whole run that a queue has given up. */
  readonly project?: string;
  /** The user's name within the project. */
  readonly user?: string;
  /** Time of the last failure (ISO 8601). */
  readonly at: string;
  /** How often it failed. */
  readonly attempts: number;
  /** The code of the error, or "internal". */
  readonly problem: string;
}

/** Options of `optimize`. */
export interface OptimizeOptions extends CallOptions {
  /** True: reports what it would do, without doing it. */
  readonly dryRun?: boolean;
  /**
   * The current turn of the conversation; statements from the hundred turns before it, and since, are left
   * alone.
   */
  readonly currentTurn?: number;
  /**
   * Has the clean-up archive memories last said longer ago than this, in days, instead of those that have faded.
   * Memories that were said twice, recalled, edited, associated or are sensitive stay.
   */
  readonly maxAgeDays?: number;
  /** Has the clean-up archive memories less important than this (0 to 1), instead of up to 0.4. */
  readonly minImportance?: number;
  /** Has the clean-up archive memories of these kinds, instead of facts, events and reflections. */
  readonly kinds?: readonly Kind[];
}

/** What maintenance of a user's memories did, or would do. */
export interface Optimized {
  /** Whether it only reports. */
  readonly dryRun: boolean;
  /** The user's revision afterwards. */
  readonly revision: number;
  /** One entry each for expiry, consolidation, decay and clean-up, in this order. */
  readonly jobs: readonly {
    readonly name: JobName;
    /** The revisions that it made; `undo` reverts each of them. Absent if it made none. */
    readonly revisions?: readonly number[];
    /** The memories it found; `faded` ones stay as they are and rank lower only by age. */
    readonly memories: readonly {
      readonly id: string;
      readonly action: "expired" | "merged" | "archived" | "faded";
      readonly text: string;
      /** The memory that it was merged into, and what that says. */
      readonly by?: string;
      readonly byText?: string;
      readonly why: string;
    }[];
  }[];
}
