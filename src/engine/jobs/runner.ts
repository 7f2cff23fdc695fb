import type { JobName } from "../../domain/job.ts";
import { MemoryError } from "../../errors.ts";
import { createAlarm } from "./alarm.ts";
import { attemptRun, toLeaseName } from "./attempt.ts";
import { acquireLease, isHeldLease } from "./hold.ts";
import type { Job } from "./job.ts";
import { type RunRequest, runUntilDone } from "./until-done.ts";
import { createJobMonitor, type JobMonitor, type JobMonitorPorts } from "./watch.ts";

/** A job and its owner: it runs one at a time, is seen while it does, and ends when its owner does. */
export interface JobRunner extends Pick<JobMonitor, "problem"> {
  readonly name: JobName;
  /** There is something to do: it runs as soon as it can, and again if it was asked while it ran. */
  requestRun(): void;
  /** Runs after so long (milliseconds), and from then on in its interval, where it has one. */
  start(afterMs: number): void;
  /**
   * One run that somebody else asked for, who tries again by himself. Throws what hindered it; `unavailable` where another
   * process is at it, or the signal ended it.
   */
  runOffered(signal: AbortSignal): Promise<void>;
  /**
   * The same work in the caller's own time, with its errors; what runs in the background makes room for it, and starts in no
   * other process.
   */
  runNow<Step>(
    work: (signal: AbortSignal) => AsyncGenerator<Step, void, void>,
    signal?: AbortSignal,
  ): AsyncGenerator<Step, void, void>;
  isRunning(): boolean;
  state(): ReturnType<JobMonitor["state"]>;
  /** Resolves when nothing runs any more; the signal given to `runner` must be aborted before. */
  end(): Promise<void>;
}

/** After a failure it pauses, longer each time, and goes on: a failure here is nobody's to catch. */
export function createJobRunner(ports: JobMonitorPorts, job: Job, stopped: AbortSignal): JobRunner {
  const seen = createJobMonitor(ports, job);
  const asked: RunRequest = { isRequested: false };
  let run: { readonly ended: Promise<unknown>; readonly makeRoom: AbortController } | undefined;
  let inForeground = 0;
  const next = createAlarm(ports.clock);
  /** When it is due, where another process has run it. */
  let dueMs: number | undefined;

  /** Has `work` be the one run of this process. */
  const running = <Result>(work: (signal: AbortSignal) => Promise<Result>): Promise<Result> => {
    next.clear();
    dueMs = undefined;
    const makeRoom = new AbortController();
    const ended = work(AbortSignal.any([stopped, makeRoom.signal])).finally(() => {
      run = undefined;
      next.announce();
      if (makeRoom.signal.aborted) return;
      const againMs = dueMs ?? job.everyMs;
      // Asked in the moment between the last look and now.
      if (asked.isRequested) begin();
      else if (againMs !== undefined) start(againMs);
    });
    run = { ended, makeRoom };
    return ended;
  };
  function start(afterMs: number): void {
    if (!stopped.aborted) next.set(afterMs, begin);
  }
  function begin(): void {
    if (run || inForeground > 0 || stopped.aborted) return;
    void running(async (signal) => {
      dueMs = await runUntilDone(ports, job, seen, asked, { signal, tell: next.announce });
    });
  }
  function later(): void {
    asked.isRequested = true;
    begin();
  }
  async function offered(signal: AbortSignal): Promise<void> {
    while (run) await run.ended;
    if (inForeground > 0 || stopped.aborted) throw createBusyError();
    const outcome = await running((own) => {
      asked.isRequested = false;
      const both = AbortSignal.any([own, signal]);
      return attemptRun(ports, job, seen, { signal: both, isUrgent: true, pauseMs: 0 });
    });
    if (outcome.kind === "failed") throw outcome.error;
    if (outcome.kind !== "done") throw createBusyError();
  }

  return {
    name: job.name,
    requestRun: later,
    start,
    runOffered: offered,
    async *runNow(work, signal) {
      inForeground += 1;
      try {
        run?.makeRoom.abort();
        await run?.ended;
        const both = AbortSignal.any([stopped, ...(signal ? [signal] : [])]);
        yield* runExclusively(ports, job, stopped, () => work(both));
        seen.clearProblem();
      } finally {
        inForeground -= 1;
        // What came since, or is left of it.
        later();
      }
    },
    isRunning: () => run !== undefined,
    problem: seen.problem,
    state: () => seen.state({ isRunning: run !== undefined, nextAt: next.at() }),
    async end() {
      next.clear();
      await run?.ended;
    },
  };
}

function createBusyError(): MemoryError {
  return new MemoryError("unavailable", "this job is run elsewhere just now, or was told to stop.");
}

/** Keeps other processes from starting the job, where none is at it. Somebody who waits for the work does not wait for the lease. */
async function* runExclusively<Step>(
  { record }: JobMonitorPorts,
  job: Job,
  signal: AbortSignal,
  work: () => AsyncGenerator<Step, void, void>,
): AsyncGenerator<Step, void, void> {
  const held = await acquireLease(record, toLeaseName(job), { isUrgent: true, signal }).catch(
    () => undefined,
  );
  try {
    yield* work();
  } finally {
    if (held && isHeldLease(held)) await held.giveBack();
  }
}
