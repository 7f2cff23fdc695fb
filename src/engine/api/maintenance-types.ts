import type { Kind, KindGroup } from "../../domain/memory.ts";
import type { UsageBy } from "../../domain/model-usage.ts";
import type { JobName } from "../../domain/operations/job.ts";
import type { CallOptions } from "../../ports/call-options.ts";
import type { EmbedderChoice } from "../../ports/stores/embedder-choices.ts";

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

/** A user or a project. `project` is "default" if not given; without `user`, the whole project is meant. */
export interface EmbedderOwner {
  /** The project's name. */
  readonly project?: string | undefined;
  /** The user's name. */
  readonly user?: string | undefined;
}

/** The embedder of a user or a project, and whose choice it is. */
export interface ChosenEmbedder extends EmbedderChoice {
  /** The user's own choice, that of the project, or neither: then it is the default embedder. */
  readonly from: "user" | "project" | "default";
}

/** How many search units of a user or a project have vectors of the embedder that was chosen. */
export interface EmbedderProgress {
  /** Search units that wait for a vector; until then, they are found by their words. */
  readonly left: number;
  /** All search units of the user; absent for a project. */
  readonly total?: number;
  /** Whether this process embeds now. */
  readonly running: boolean;
  /** Why the last try of this process failed; it will be repeated. */
  readonly problem?: string;
}

/**
 * Chooses which embedder users and projects read with. A choice is stored in the memory store and applies at once, in every
 * process that was given the same `embedders`. Stored texts are then embedded again in the background. Meanwhile a search
 * finds those that are done by the new vectors, and the others by their words: vectors of two embedders are never compared.
 */
export interface EmbedderManagement {
  /** The names to choose from: "default", and those of the option `embedders`. */
  readonly names: readonly string[];
  /** The choices of a project: its own first, then those of its users, by name. */
  list(project?: string): Promise<EmbedderChoice[]>;
  /** The embedder of a user: the user's own choice, otherwise the project's, otherwise "default". */
  get(of?: EmbedderOwner): Promise<ChosenEmbedder>;
  /**
   * Chooses an embedder for a user, or for a project without one. With null, the project's choice or the default applies
   * again. Throws `invalid_input` for an unknown name, and `unsupported` for an embedder that could not be opened here, or if
   * the store keeps no choices.
   *
   * @example
   * ```ts
   * import { createMemory } from "keepsake";
   * import { staticEmbedder } from "keepsake/adapters/static";
   *
   * const embedders = { second: { ...staticEmbedder(), fingerprint: "second/256" } };
   * await using memory = await createMemory({ path: ":memory:", embedders });
   * await memory.embedders.choose("second", { user: "ana" });
   * console.log((await memory.embedders.get({ user: "ana" })).embedder, memory.embedders.names);
   * console.log(await memory.embedders.list());
   * ```
   *
   * ```text
   * second [ 'default', 'second' ]
   * [ { project: 'default', user: 'ana', embedder: 'second' } ]
   * ```
   */
  choose(embedder: string | null, of?: EmbedderOwner): Promise<ChosenEmbedder>;
  /**
   * How far embedding is, for a user, or for a project without one. Texts of users whose embedder is missing in this process wait
   * for another process; a project's number does not contain them.
   */
  progress(of?: EmbedderOwner): Promise<EmbedderProgress>;
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
  /** Has the clean-up archive memories of these kinds or groups of kinds, instead of facts, events and reflections. */
  readonly kinds?: readonly (Kind | KindGroup)[];
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
