import type { Job } from "./job.ts";
import { rest } from "./rest.ts";
import { type Watch, type WatchPorts, watch } from "./watch.ts";

/** A job and its owner: it runs one at a time, is seen while it does, and ends when its owner does. */
export interface Runner extends Pick<Watch, "problem"> {
  /** There is something to do: it runs as soon as it can, and again if it was asked while it ran. */
  later(): void;
  /** Runs after so long (milliseconds), and from then on in its interval, where it has one. */
  start(afterMs: number): void;
  /** The same work in the caller's own time, with its errors; what runs in the background makes room for it. */
  now<Step>(
    work: (signal: AbortSignal) => AsyncGenerator<Step, void, void>,
    signal?: AbortSignal,
  ): AsyncGenerator<Step, void, void>;
  isRunning(): boolean;
  state(): ReturnType<Watch["state"]>;
  /** Resolves when nothing runs any more; the signal given to `runner` must be aborted before. */
  end(): Promise<void>;
}

const FIRST_PAUSE_MS = 1000;
const LONGEST_PAUSE_MS = 60_000;
/** Where a step was a wait for a server, it rests as after one of this length. */
const LONGEST_REST_MS = 50;

/** After a failure it pauses, longer each time, and goes on: a failure here is nobody's to catch. */
export function runner(ports: WatchPorts, job: Job, stopped: AbortSignal): Runner {
  const seen = watch(ports, job);
  let run: { readonly ended: Promise<void>; readonly makeRoom: AbortController } | undefined;
  let isAskedAgain = false;
  let inForeground = 0;
  let timer: NodeJS.Timeout | undefined;
  let nextAt: number | undefined;

  const scheduled = (ms: number): void => {
    nextAt = ports.clock().getTime() + ms;
  };
  const untilDone = async (signal: AbortSignal): Promise<void> => {
    for (let failures = 0; !signal.aborted; failures += 1) {
      isAskedAgain = false;
      nextAt = undefined;
      if (await once(job, seen, signal)) {
        if (!isAskedAgain) return;
        failures = -1;
      } else {
        const pause = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** failures);
        scheduled(pause);
        await rest(pause, signal);
      }
    }
  };
  const start = (afterMs: number): void => {
    clearTimeout(timer);
    if (stopped.aborted) return;
    scheduled(afterMs);
    timer = setTimeout(later, afterMs);
    timer.unref();
  };
  function later(): void {
    isAskedAgain = true;
    if (run || inForeground > 0 || stopped.aborted) return;
    clearTimeout(timer);
    const makeRoom = new AbortController();
    const ended = untilDone(AbortSignal.any([stopped, makeRoom.signal])).finally(() => {
      run = undefined;
      nextAt = undefined;
      if (makeRoom.signal.aborted) return;
      // Asked in the moment between the last look and now.
      if (isAskedAgain) later();
      else if (job.everyMs !== undefined) start(job.everyMs);
    });
    run = { ended, makeRoom };
  }

  return {
    later,
    start,
    async *now(work, signal) {
      inForeground += 1;
      try {
        run?.makeRoom.abort();
        await run?.ended;
        yield* work(AbortSignal.any([stopped, ...(signal ? [signal] : [])]));
        seen.cleared();
      } finally {
        inForeground -= 1;
        // What came since, or is left of it.
        later();
      }
    },
    isRunning: () => run !== undefined,
    problem: seen.problem,
    state: () => seen.state({ isRunning: run !== undefined, nextAt }),
    async end() {
      clearTimeout(timer);
      await run?.ended;
    },
  };
}

/** One run. Whether it came to its end. */
async function once(job: Job, seen: Watch, signal: AbortSignal): Promise<boolean> {
  seen.begin();
  try {
    let from = performance.now();
    for await (const step of job.run(signal)) {
      seen.step(step);
      const took = performance.now() - from;
      if (job.rest > 0) await rest(job.rest * Math.min(LONGEST_REST_MS, took), signal);
      from = performance.now();
    }
    await seen.ended();
    return true;
  } catch (error) {
    if (!signal.aborted) await seen.ended(error);
    return false;
  }
}
