import type { JobName } from "../../domain/job.ts";
import { MemoryError } from "../../errors.ts";
import { alarm } from "./alarm.ts";
import { attempt, leaseOf } from "./attempt.ts";
import { hold, isHeld } from "./hold.ts";
import type { Job } from "./job.ts";
import { type Asked, untilDone } from "./until-done.ts";
import { type Watch, type WatchPorts, watch } from "./watch.ts";

/** A job and its owner: it runs one at a time, is seen while it does, and ends when its owner does. */
export interface Runner extends Pick<Watch, "problem"> {
  readonly name: JobName;
  /** There is something to do: it runs as soon as it can, and again if it was asked while it ran. */
  later(): void;
  /** Runs after so long (milliseconds), and from then on in its interval, where it has one. */
  start(afterMs: number): void;
  /**
   * One run that somebody else asked for, who tries again by himself. Throws what hindered it; `unavailable` where another
   * process is at it, or the signal ended it.
   */
  offered(signal: AbortSignal): Promise<void>;
  /**
   * The same work in the caller's own time, with its errors; what runs in the background makes room for it, and starts in no
   * other process.
   */
  now<Step>(
    work: (signal: AbortSignal) => AsyncGenerator<Step, void, void>,
    signal?: AbortSignal,
  ): AsyncGenerator<Step, void, void>;
  isRunning(): boolean;
  state(): ReturnType<Watch["state"]>;
  /** Resolves when nothing runs any more; the signal given to `runner` must be aborted before. */
  end(): Promise<void>;
}

/** After a failure it pauses, longer each time, and goes on: a failure here is nobody's to catch. */
export function runner(ports: WatchPorts, job: Job, stopped: AbortSignal): Runner {
  const seen = watch(ports, job);
  const asked: Asked = { isAsked: false };
  let run: { readonly ended: Promise<unknown>; readonly makeRoom: AbortController } | undefined;
  let inForeground = 0;
  const next = alarm(ports.clock);
  /** When it is due, where another process has run it. */
  let dueMs: number | undefined;

  /** Has `work` be the one run of this process. */
  const running = <Result>(work: (signal: AbortSignal) => Promise<Result>): Promise<Result> => {
    next.clear();
    dueMs = undefined;
    const makeRoom = new AbortController();
    const ended = work(AbortSignal.any([stopped, makeRoom.signal])).finally(() => {
      run = undefined;
      next.tell();
      if (makeRoom.signal.aborted) return;
      const againMs = dueMs ?? job.everyMs;
      // Asked in the moment between the last look and now.
      if (asked.isAsked) begin();
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
      dueMs = await untilDone(ports, job, seen, asked, { signal, tell: next.tell });
    });
  }
  function later(): void {
    asked.isAsked = true;
    begin();
  }
  async function offered(signal: AbortSignal): Promise<void> {
    while (run) await run.ended;
    if (inForeground > 0 || stopped.aborted) throw busy();
    const outcome = await running((own) => {
      asked.isAsked = false;
      const both = AbortSignal.any([own, signal]);
      return attempt(ports, job, seen, { signal: both, isUrgent: true, pauseMs: 0 });
    });
    if (outcome.kind === "failed") throw outcome.error;
    if (outcome.kind !== "done") throw busy();
  }

  return {
    name: job.name,
    later,
    start,
    offered,
    async *now(work, signal) {
      inForeground += 1;
      try {
        run?.makeRoom.abort();
        await run?.ended;
        const both = AbortSignal.any([stopped, ...(signal ? [signal] : [])]);
        yield* alone(ports, job, stopped, () => work(both));
        seen.cleared();
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

function busy(): MemoryError {
  return new MemoryError("unavailable", "this job is run elsewhere just now, or was told to stop.");
}

/** Keeps other processes from starting the job, where none is at it. Somebody who waits for the work does not wait for the lease. */
async function* alone<Step>(
  { record }: WatchPorts,
  job: Job,
  signal: AbortSignal,
  work: () => AsyncGenerator<Step, void, void>,
): AsyncGenerator<Step, void, void> {
  const held = await hold(record, leaseOf(job), { isUrgent: true, signal }).catch(() => undefined);
  try {
    yield* work();
  } finally {
    if (held && isHeld(held)) await held.giveBack();
  }
}
