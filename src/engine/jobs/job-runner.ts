import type { JobName } from "../../domain/job.ts";
import { MemoryError } from "../../errors.ts";
import type { LeaseResult, Leases } from "../../ports/job-store.ts";
import { computeRetryDelay } from "../../ports/queue.ts";
import type { Clock } from "../../ports/system.ts";
import { type Job, pauseFor } from "./job.ts";
import { createJobMonitor, type JobMonitor, type JobMonitorPorts } from "./job-monitor.ts";

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

/** Whether somebody wants the job run now: not only when it is due. Set from outside while it runs. */
interface RunRequest {
  isRequested: boolean;
}

/** Where another process is at what was asked for here, it is looked again so soon: it may have passed by that already. */
const LOOK_AGAIN_MS = 5000;

/**
 * Runs a job until it came to its end and nobody asked for more, with longer pauses after each failure. Gives in how many ms it
 * is due, where another process has run it or is at it and nobody here asked.
 */
async function runUntilDone(
  ports: JobMonitorPorts,
  job: Job,
  seen: JobMonitor,
  asked: RunRequest,
  { signal, tell }: { readonly signal: AbortSignal; readonly tell: (ms?: number) => void },
): Promise<number | undefined> {
  let isUrgent = asked.isRequested;
  let failures = 0;
  while (!signal.aborted) {
    asked.isRequested = false;
    tell();
    const pauseMs = computeRetryDelay(failures + 1);
    const outcome = await attemptRun(ports, job, seen, { signal, isUrgent, pauseMs });
    isUrgent ||= asked.isRequested;
    if (outcome.kind === "done" && !asked.isRequested) return undefined;
    if (outcome.kind === "refused" && !isUrgent) return outcome.waitMs;
    failures = outcome.kind === "failed" ? failures + 1 : 0;
    const pause = computePause(outcome, pauseMs);
    if (pause === 0) continue;
    tell(pause);
    await pauseFor(pause, signal);
  }
  return undefined;
}

function computePause(outcome: JobOutcome, pauseMs: number): number {
  if (outcome.kind === "failed") return pauseMs;
  return outcome.kind === "refused" ? Math.min(LOOK_AGAIN_MS, outcome.waitMs) : 0;
}

/** How one run of a job went. */
type JobOutcome =
  | { readonly kind: "done" }
  | { readonly kind: "failed"; readonly error: unknown }
  /** Its signal was aborted, or its lease lost: it goes on where it was, here or elsewhere. */
  | { readonly kind: "broken off" }
  /** Another process is at it, or has been in this period. */
  | ({ readonly kind: "refused" } & LeaseRefusal);

/** Where a step was a wait for a server, it rests as after one of this length. */
const LONGEST_REST_MS = 50;

/**
 * One run, under a lease, so that of all processes on this record one alone runs the job: what comes to its end is not due again
 * anywhere for its interval, and what fails not for the pause.
 */
async function attemptRun(
  ports: JobMonitorPorts,
  job: Job,
  seen: JobMonitor,
  run: { readonly signal: AbortSignal; readonly isUrgent: boolean; readonly pauseMs: number },
): Promise<JobOutcome> {
  try {
    await job.waitUntilReady?.(run.signal);
    // What has nothing to do needs nobody's leave.
    if (job.isShared || (await job.countLeft?.()) === 0) return await runOnce(job, seen, run.signal);
    const held = await acquireLease(ports.record, toLeaseName(job), run);
    if (!isHeldLease(held)) return { kind: "refused", ...held };
    const outcome = await runOnce(job, seen, held.signal);
    await held.giveBack(computeLeaseRest(outcome, job, run.pauseMs));
    return outcome;
  } catch (error) {
    if (run.signal.aborted) return { kind: "broken off" };
    seen.begin();
    await seen.finish(error);
    return { kind: "failed", error };
  }
}

/** Under which name a job is leased. */
function toLeaseName({ name }: Pick<Job, "name">): string {
  return `job ${name}`;
}

function computeLeaseRest({ kind }: JobOutcome, job: Job, pauseMs: number): number {
  if (kind === "done") return job.everyMs ?? 0;
  return kind === "failed" ? pauseMs : 0;
}

async function runOnce(job: Job, seen: JobMonitor, signal: AbortSignal): Promise<JobOutcome> {
  seen.begin();
  try {
    let from = performance.now();
    for await (const step of job.run(signal)) {
      seen.step(step);
      const took = performance.now() - from;
      if (job.restFactor > 0) await pauseFor(job.restFactor * Math.min(LONGEST_REST_MS, took), signal);
      from = performance.now();
    }
    await seen.finish();
    return { kind: "done" };
  } catch (error) {
    if (signal.aborted) return { kind: "broken off" };
    await seen.finish(error);
    return { kind: "failed", error };
  }
}

/** A lease that is renewed for as long as it is held. */
interface HeldLease {
  /** Aborted with the caller's own signal, and where the lease was lost: somebody else may be at it then. */
  readonly signal: AbortSignal;
  isLost(): boolean;
  /** Gives it back, to rest for so long (ms). Never throws: what cannot be given back runs out. */
  giveBack(restMs?: number): Promise<void>;
}

type LeaseRefusal = Exclude<LeaseResult, { readonly token: string }>;

/** After a kill, somebody else goes on so much later at most. */
const LEASE_MS = 30_000;
const RENEW_MS = LEASE_MS / 3;

/** Takes a lease and holds it; or says why it is not to be had. Throws what the record throws. */
export async function acquireLease(
  record: Leases,
  name: string,
  { isUrgent = false, signal }: { readonly isUrgent?: boolean; readonly signal: AbortSignal },
): Promise<HeldLease | LeaseRefusal> {
  const answer = await record.takeLease(name, { forMs: LEASE_MS, isUrgent });
  if (answer.token === undefined) return answer;
  const { token } = answer;
  const lost = new AbortController();
  let heldUntil = performance.now() + LEASE_MS;
  const lose = (): void => {
    clearInterval(timer);
    lost.abort(new MemoryError("unavailable", "another process took this over."));
  };
  const renew = async (): Promise<void> => {
    const until = performance.now() + LEASE_MS;
    const isOurs = await record.renewLease(name, token, LEASE_MS).catch(() => undefined);
    if (isOurs) heldUntil = until;
    // A record that cannot be asked may be asked again, as long as the lease lasts.
    else if (isOurs === false || performance.now() >= heldUntil) lose();
  };
  const timer = setInterval(() => void renew(), RENEW_MS);
  timer.unref();
  return {
    signal: AbortSignal.any([signal, lost.signal]),
    isLost: () => lost.signal.aborted,
    async giveBack(restMs = 0) {
      clearInterval(timer);
      if (!lost.signal.aborted) await record.releaseLease(name, token, restMs).catch(() => false);
    },
  };
}

export function isHeldLease(one: HeldLease | LeaseRefusal): one is HeldLease {
  return "giveBack" in one;
}

/** When something happens next, and what rings then. It holds up no end of the program. */
interface Alarm {
  /** In so many ms; nothing where absent. It is told, and rings by other means. */
  announce(ms?: number): void;
  /** Rings once after so many ms, in place of what was set before. */
  set(ms: number, ring: () => void): void;
  clear(): void;
  /** ms since 1970. */
  at(): number | undefined;
}

function createAlarm(clock: Clock): Alarm {
  let timer: NodeJS.Timeout | undefined;
  let at: number | undefined;
  const tell = (ms?: number): void => {
    at = ms === undefined ? undefined : clock().getTime() + ms;
  };
  return {
    announce: tell,
    set(ms, ring) {
      clearTimeout(timer);
      tell(ms);
      timer = setTimeout(ring, ms);
      timer.unref();
    },
    clear: () => clearTimeout(timer),
    at: () => at,
  };
}
