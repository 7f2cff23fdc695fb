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

/** Lets several jobs run one after the other: what each takes of the time, all of them take together. */
export function createSerializer(): (job: Job) => Job {
  let last: Promise<void> = Promise.resolve();
  return (job) => ({
    ...job,
    async *run(signal) {
      const before = last;
      let leave = (): void => {};
      last = new Promise((resolve) => {
        leave = resolve;
      });
      try {
        await before;
        signal.throwIfAborted();
        yield* job.run(signal);
      } finally {
        leave();
      }
    },
  });
}

/** At work for more than this share of its time, the process has requests to answer. */
const BUSY_SHARE = 0.6;
const LOOK_AGAIN_MS = 1000;
/** So long a run waits in all; then it goes on beside the requests, or on a server that is never calm nothing would be done. */
const LONGEST_WAIT_MS = 15 * 60_000;
/** A share of less than this says nothing. */
const SHORTEST_MS = 200;

/** The same job, which waits before it begins and before each step while the process has its hands full. */
export function deferWhileBusy(job: Job, workload: () => number = measureWorkload()): Job {
  let waited = 0;
  const calm = async (signal: AbortSignal): Promise<void> => {
    while (workload() > BUSY_SHARE && waited < LONGEST_WAIT_MS) {
      await pauseFor(LOOK_AGAIN_MS, signal);
      signal.throwIfAborted();
      waited += LOOK_AGAIN_MS;
    }
  };
  return {
    ...job,
    async waitUntilReady(signal) {
      waited = 0;
      await calm(signal);
    },
    async *run(signal) {
      try {
        await calm(signal);
        for await (const step of job.run(signal)) {
          yield step;
          await calm(signal);
        }
      } finally {
        waited = 0;
      }
    },
  };
}

/** The share of its time, 0 to 1, that this process was at work since it was last asked. */
function measureWorkload(): () => number {
  let before = performance.eventLoopUtilization();
  let share = 0;
  return () => {
    const now = performance.eventLoopUtilization();
    const since = performance.eventLoopUtilization(now, before);
    if (since.active + since.idle >= SHORTEST_MS) {
      share = since.utilization;
      before = now;
    }
    return share;
  };
}

/** A pause that ends early with the signal, and holds up no end of the program. */
export function pauseFor(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      signal.removeEventListener("abort", done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    timer.unref();
    signal.addEventListener("abort", done, { once: true });
    if (signal.aborted) done();
  });
}
