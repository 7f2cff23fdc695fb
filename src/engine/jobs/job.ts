import type { JobName } from "../../domain/operations/job.ts";

/** Work that no caller waits for. Its progress is stored only in the store. */
export interface Job {
  readonly name: JobName;
  /** What the job does, in a few words for a person. */
  readonly about: string;
  /** Milliseconds from the end of a run to the next; absent if it runs when there is work. */
  readonly everyMs?: number;
  /**
   * Whether several processes may run it at once, because it takes a lease for each piece of work. Otherwise
   * one process at a time does.
   */
  readonly isShared?: boolean;
  /**
   * Resolves when this process has time for the job. Called before the lease is taken, because another
   * process may have time earlier.
   */
  waitUntilReady?(signal: AbortSignal): Promise<void>;
  /**
   * Length of the pause after each step, as a multiple of the step's duration, so that other work comes
   * first.
   */
  readonly restFactor: number;
  /**
   * Does all available work in small commits and yields after each. It may be interrupted at any moment and
   * resumes from there. Throws what stops it, or the signal's reason.
   */
  run(signal: AbortSignal): AsyncGenerator<JobStep, void, void>;
  /** Number of pending pieces of work, if that is known without a scan. */
  countLeft?(): Promise<number>;
}

export interface JobStep {
  /** Pieces of work done since the run began. */
  readonly done: number;
  /** Findings left for people to decide. */
  readonly found?: number;
}

/** Makes several jobs run one after the other, so that together they take the time that one would. */
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

/** Above this share of working time, the process is busy with requests. */
const BUSY_SHARE = 0.6;
const LOOK_AGAIN_MS = 1000;
/**
 * Total wait of one run in milliseconds. After that it runs anyway; otherwise it would never run on a busy
 * server.
 */
const LONGEST_WAIT_MS = 15 * 60_000;
/** A shorter measurement is not reliable. */
const SHORTEST_MS = 200;

/** The same job, but it waits before it begins and before each step while the process is busy. */
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

/** The share of time, 0 to 1, that this process worked since the last call. */
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

/** A pause that ends early with the signal and does not delay the end of the program. */
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
