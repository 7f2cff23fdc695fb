import type { JobRun } from "../../domain/operations/job.ts";
import { isMemoryError } from "../../errors.ts";
import type { MemoryStore } from "../../ports/memory-store.ts";
import type { Clock } from "../../ports/system.ts";
import type { JobState } from "../api/maintenance-types.ts";
import type { Job, JobStep } from "./job.ts";

/** Observes a job and keeps a note about it in the store. */
export interface JobMonitor {
  begin(): void;
  step(step: JobStep): void;
  /** The job ended, or failed with an error. */
  finish(error?: unknown): Promise<void>;
  /** Clears the last problem. */
  clearProblem(): void;
  problem(): string | undefined;
  state(now: { readonly isRunning: boolean; readonly nextAt: number | undefined }): Promise<JobState>;
}

export interface JobMonitorPorts {
  readonly clock: Clock;
  readonly store: Pick<MemoryStore, "jobs">;
}

type LastRun = Partial<Omit<JobRun, "name">>;

/** A job without an interval may run many times a second, so its note is written once a minute. */
const NOTE_EVERY_MS = 60_000;

export function createJobMonitor({ clock, store }: JobMonitorPorts, job: Job): JobMonitor {
  let lastRun: LastRun = {};
  let begun = 0;
  let notedAt = Number.NEGATIVE_INFINITY;

  /** A note that cannot be written only leaves a gap in a table; the job itself succeeds. */
  const keep = async (): Promise<void> => {
    const now = clock().getTime();
    const isNews = lastRun.attempts !== 0 || lastRun.done !== 0 || job.everyMs !== undefined;
    if (!isNews || (job.everyMs === undefined && now - notedAt < NOTE_EVERY_MS)) return;
    notedAt = now;
    await store.jobs.saveJobRun({ ...NO_RUN, ...lastRun, name: job.name }).catch(() => {});
  };

  return {
    begin() {
      begun = performance.now();
      const { problem, attempts = 0 } = lastRun;
      lastRun = {
        at: clock().toISOString(),
        done: 0,
        attempts,
        ...(problem === undefined ? {} : { problem }),
      };
    },
    step({ done, found }) {
      const { problem: _gone, ...rest } = lastRun;
      lastRun = { ...rest, done, ...(found === undefined ? {} : { found }) };
    },
    async finish(error) {
      const { problem: _gone, attempts = 0, ...rest } = lastRun;
      const tookMs = Math.round(performance.now() - begun);
      lastRun =
        error === undefined
          ? { ...rest, tookMs, attempts: 0 }
          : { ...rest, tookMs, attempts: attempts + 1, problem: formatProblem(error) };
      await keep();
    },
    clearProblem() {
      const { problem: _gone, ...rest } = lastRun;
      lastRun = { ...rest, attempts: 0 };
    },
    problem: () => lastRun.problem,
    async state({ isRunning, nextAt }) {
      const newest = isRunning ? lastRun : pickNewer(lastRun, await readLastRun(store, job));
      const { at, ...rest } = newest;
      const left = await job.countLeft?.();
      return {
        done: 0,
        attempts: 0,
        ...rest,
        name: job.name,
        about: job.about,
        state: toState(isRunning, (rest.attempts ?? 0) > 0, nextAt),
        ...(at === undefined ? {} : { lastRun: at }),
        ...(nextAt === undefined ? {} : { nextRun: new Date(nextAt).toISOString() }),
        ...(left === undefined ? {} : { left }),
      };
    },
  };
}

const NO_RUN: Omit<JobRun, "name"> = { at: "", tookMs: 0, done: 0, attempts: 0 };

/** Another process may have run the job since. */
function pickNewer(local: LastRun, noted: LastRun): LastRun {
  return local.at === undefined || (noted.at ?? "") > local.at ? noted : local;
}

/** The last note about the job, from this or another process. */
async function readLastRun(store: JobMonitorPorts["store"], { name }: Job): Promise<LastRun> {
  return (await store.jobs.jobRuns()).find((note) => note.name === name) ?? {};
}

function toState(isRunning: boolean, isFailing: boolean, nextAt: number | undefined): JobState["state"] {
  if (isFailing) return "failing";
  if (isRunning) return "running";
  return nextAt === undefined ? "idle" : "scheduled";
}

function formatProblem(error: unknown): string {
  return isMemoryError(error) ? error.message : "internal error.";
}
