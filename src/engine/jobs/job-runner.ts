import type { JobName } from "../../domain/operations/job.ts";
import { MemoryError } from "../../errors.ts";
import { computeRetryDelay } from "../../ports/queue.ts";
import type { LeaseResult, Leases } from "../../ports/stores/job-store.ts";
import type { Clock } from "../../ports/system.ts";
import { type Job, pauseFor } from "./job.ts";
import { createJobMonitor, type JobMonitor, type JobMonitorPorts } from "./job-monitor.ts";

/** Runs one job, one run at a time, observes it, and ends with its owner. */
export interface JobRunner extends Pick<JobMonitor, "problem"> {
  readonly name: JobName;
  /** Reports pending work: the job runs as soon as it can, and once more if it is running. */
  requestRun(): void;
  /** Runs after this many milliseconds, and then at the job's interval, if it has one. */
  start(afterMs: number): void;
  /**
   * One run for a queue that retries by itself. Throws the error of the run; throws `unavailable` if another
   * process runs the job or the signal ended it.
   */
  runOffered(signal: AbortSignal): Promise<void>;
  /**
   * The same work in the caller's own time; errors go to the caller. A background run makes room for it, and
   * none starts in another process.
   */
  runNow<Step>(
    work: (signal: AbortSignal) => AsyncGenerator<Step, void, void>,
    signal?: AbortSignal,
  ): AsyncGenerator<Step, void, void>;
  isRunning(): boolean;
  state(): ReturnType<JobMonitor["state"]>;
  /** Resolves when nothing runs any more. Abort the signal given to `createJobRunner` first. */
  end(): Promise<void>;
}

/** After a failure it pauses, longer each time, and continues: no caller could catch the error. */
export function createJobRunner(ports: JobMonitorPorts, job: Job, stopped: AbortSignal): JobRunner {
  const monitor = createJobMonitor(ports, job);
  const request: RunRequest = { isRequested: false };
  let run: { readonly ended: Promise<unknown>; readonly makeRoom: AbortController } | undefined;
  let inForeground = 0;
  const next = createAlarm(ports.clock);
  /** When the job is due, if another process has run it. */
  let dueMs: number | undefined;

  /** Makes `work` the only run of this process. */
  const running = <Result>(work: (signal: AbortSignal) => Promise<Result>): Promise<Result> => {
    next.clear();
    dueMs = undefined;
    const makeRoom = new AbortController();
    const ended = work(AbortSignal.any([stopped, makeRoom.signal])).finally(() => {
      run = undefined;
      next.announce();
      if (makeRoom.signal.aborted) return;
      const againMs = dueMs ?? job.everyMs;
      // Requested between the last check and now.
      if (request.isRequested) begin();
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
      dueMs = await runUntilDone(ports, job, monitor, request, { signal, tell: next.announce });
    });
  }
  function later(): void {
    request.isRequested = true;
    begin();
  }
  async function offered(signal: AbortSignal): Promise<void> {
    while (run) await run.ended;
    if (inForeground > 0 || stopped.aborted) throw createBusyError();
    const outcome = await running((runSignal) => {
      request.isRequested = false;
      const both = AbortSignal.any([runSignal, signal]);
      return attemptRun(ports, job, monitor, { signal: both, isUrgent: true, pauseMs: 0 });
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
        monitor.clearProblem();
      } finally {
        inForeground -= 1;
        // Work that came since, or is left over.
        later();
      }
    },
    isRunning: () => run !== undefined,
    problem: monitor.problem,
    state: () => monitor.state({ isRunning: run !== undefined, nextAt: next.at() }),
    async end() {
      next.clear();
      await run?.ended;
    },
  };
}

function createBusyError(): MemoryError {
  return new MemoryError("unavailable", "another process is running this job, or it was stopped.");
}

/**
 * Keeps other processes from starting the job unless one already runs it. A caller who waits for the work
 * does not wait for the lease.
 */
async function* runExclusively<Step>(
  { store }: JobMonitorPorts,
  job: Job,
  signal: AbortSignal,
  work: () => AsyncGenerator<Step, void, void>,
): AsyncGenerator<Step, void, void> {
  const lease = await acquireLease(store.jobs, toLeaseName(job), { isUrgent: true, signal }).catch(
    () => undefined,
  );
  try {
    yield* work();
  } finally {
    if (lease && isHeldLease(lease)) await lease.giveBack();
  }
}

/** Whether a run is wanted now, not only when it is due. Set from outside during the run. */
interface RunRequest {
  isRequested: boolean;
}

/**
 * Delay before a requested job is tried again while another process runs it; that process may have passed the
 * new work already.
 */
const LOOK_AGAIN_MS = 5000;

/**
 * Runs a job until it ends with no further request, with longer pauses after each failure. Gives the
 * milliseconds until it is due, if another process has run it or runs it and no request is pending.
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

/** The outcome of one run of a job. */
type JobOutcome =
  | { readonly kind: "done" }
  | { readonly kind: "failed"; readonly error: unknown }
  /** Its signal was aborted, or its lease was lost; it resumes here or in another process. */
  | { readonly kind: "broken off" }
  /** Another process runs it, or has run it in this period. */
  | ({ readonly kind: "refused" } & LeaseRefusal);

/** After a step that waited for a server, the pause is as after a step of this length. */
const LONGEST_REST_MS = 50;

/**
 * One run under a lease, so that only one process of this store runs the job. After success it is not due
 * anywhere for its interval; after a failure not for the pause.
 */
async function attemptRun(
  ports: JobMonitorPorts,
  job: Job,
  seen: JobMonitor,
  run: { readonly signal: AbortSignal; readonly isUrgent: boolean; readonly pauseMs: number },
): Promise<JobOutcome> {
  try {
    await job.waitUntilReady?.(run.signal);
    // A job with nothing to do needs no lease.
    if (job.isShared || (await job.countLeft?.()) === 0) return await runOnce(job, seen, run.signal);
    const lease = await acquireLease(ports.store.jobs, toLeaseName(job), run);
    if (!isHeldLease(lease)) return { kind: "refused", ...lease };
    const outcome = await runOnce(job, seen, lease.signal);
    await lease.giveBack(computeLeaseRest(outcome, job, run.pauseMs));
    return outcome;
  } catch (error) {
    if (run.signal.aborted) return { kind: "broken off" };
    seen.begin();
    await seen.finish(error);
    return { kind: "failed", error };
  }
}

/** The name of the job's lease. */
function toLeaseName({ name }: Pick<Job, "name">): string {
  return `job ${name}`;
}

function computeLeaseRest({ kind }: JobOutcome, job: Job, pauseMs: number): number {
  if (kind === "done") return job.everyMs ?? 0;
  return kind === "failed" ? pauseMs : 0;
}

async function runOnce(job: Job, monitor: JobMonitor, signal: AbortSignal): Promise<JobOutcome> {
  monitor.begin();
  try {
    let from = performance.now();
    for await (const step of job.run(signal)) {
      monitor.step(step);
      const took = performance.now() - from;
      if (job.restFactor > 0) await pauseFor(job.restFactor * Math.min(LONGEST_REST_MS, took), signal);
      from = performance.now();
    }
    await monitor.finish();
    return { kind: "done" };
  } catch (error) {
    if (signal.aborted) return { kind: "broken off" };
    await monitor.finish(error);
    return { kind: "failed", error };
  }
}

/** A lease that is renewed while it is held. */
interface HeldLease {
  /**
   * Aborted with the caller's own signal, and when the lease is lost: another process may then run the job.
   */
  readonly signal: AbortSignal;
  isLost(): boolean;
  /**
   * Releases the lease, with a rest of this many milliseconds. Never throws: a lease that cannot be released
   * expires.
   */
  giveBack(restMs?: number): Promise<void>;
}

type LeaseRefusal = Exclude<LeaseResult, { readonly token: string }>;

/** The delay after a kill before another process continues, at most. */
const LEASE_MS = 30_000;
const RENEW_MS = LEASE_MS / 3;

/** Takes a lease and renews it, or says why it is unavailable. Throws what the store throws. */
export async function acquireLease(
  leases: Leases,
  name: string,
  { isUrgent = false, signal }: { readonly isUrgent?: boolean; readonly signal: AbortSignal },
): Promise<HeldLease | LeaseRefusal> {
  const answer = await leases.takeLease(name, { forMs: LEASE_MS, isUrgent });
  if (answer.token === undefined) return answer;
  const { token } = answer;
  const lost = new AbortController();
  let heldUntil = performance.now() + LEASE_MS;
  const lose = (): void => {
    clearInterval(timer);
    lost.abort(new MemoryError("unavailable", "another process took over the lease."));
  };
  const renew = async (): Promise<void> => {
    const until = performance.now() + LEASE_MS;
    const isOurs = await leases.renewLease(name, token, LEASE_MS).catch(() => undefined);
    if (isOurs) heldUntil = until;
    // A store that cannot be reached may be asked again while the lease lasts.
    else if (isOurs === false || performance.now() >= heldUntil) lose();
  };
  const timer = setInterval(() => void renew(), RENEW_MS);
  timer.unref();
  return {
    signal: AbortSignal.any([signal, lost.signal]),
    isLost: () => lost.signal.aborted,
    async giveBack(restMs = 0) {
      clearInterval(timer);
      if (!lost.signal.aborted) await leases.releaseLease(name, token, restMs).catch(() => false);
    },
  };
}

export function isHeldLease(one: HeldLease | LeaseRefusal): one is HeldLease {
  return "giveBack" in one;
}

/** A timer for the next event. It does not delay the end of the program. */
interface Alarm {
  /** Announces an event in this many milliseconds, without a timer; none if absent. */
  announce(ms?: number): void;
  /** Fires once after this many milliseconds, in place of an earlier timer. */
  set(ms: number, ring: () => void): void;
  clear(): void;
  /** Milliseconds since 1970. */
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
