import type { JobName } from "../../domain/job.ts";

/** Work that no caller waits for. What is done of it stands in the record and nowhere else. */
export interface Job {
  readonly name: JobName;
  /** What it does, in a few words for a person. */
  readonly about: string;
  /** Milliseconds from the end of a run to the next one; absent where it runs when there is something to do. */
  readonly everyMs?: number;
  /** Whether several processes may run it at once: it holds a lease of its own for each piece of work. Else one at a time does. */
  readonly isShared?: boolean;
  /** Resolves when this process has time for it: before it takes the lease, which another one may have time for. */
  waitUntilReady?(signal: AbortSignal): Promise<void>;
  /** How long it rests after each step, so that others come first: so many times as long as the step took. */
  readonly restFactor: number;
  /**
   * Does all there is to do, a small commit at a time, and yields after each. It may be broken off at any moment, and
   * goes on where it was. Throws what hinders it, and the signal's reason.
   */
  run(signal: AbortSignal): AsyncGenerator<JobStep, void, void>;
  /** How much waits, where that can be told without work. */
  countLeft?(): Promise<number>;
}

export interface JobStep {
  /** Pieces of work done since the run began. */
  readonly done: number;
  /** What it found and leaves to people to decide. */
  readonly found?: number;
}
