import { randomUUID } from "node:crypto";
import type { JobName } from "../../domain/operations/job.ts";
import { getErrorCode, isRetryable, MemoryError } from "../../errors.ts";
import { computeRetryDelay, MAX_ATTEMPTS_PER_RUN, type Queue, type SetAside } from "../../ports/queue.ts";

interface MemoryQueueWorker {
  readonly run: (signal: AbortSignal) => Promise<void>;
  readonly stopping: AbortController;
}

/** The state of a job. */
interface QueuedJob {
  /** When it may run, in ms since 1970; undefined if it was not offered. */
  dueAt?: number;
  failures: number;
  running?: { readonly worker: MemoryQueueWorker; readonly ended: Promise<void> };
  timer?: NodeJS.Timeout;
  readonly workers: MemoryQueueWorker[];
}

/**
 * An in-process queue, the specification for the others. Queued jobs are lost when the process ends. After the next start, they are
 * found again in the database.
 */
export function createMemoryQueue({ firstPauseMs = 1000 }: { readonly firstPauseMs?: number } = {}): Queue {
  const jobs = new Map<JobName, QueuedJob>();
  const quarantined: SetAside[] = [];
  let isClosed = false;

  const of = (job: JobName): QueuedJob => {
    const found = jobs.get(job) ?? { failures: 0, workers: [] };
    jobs.set(job, found);
    return found;
  };
  const due = (job: JobName, inMs: number): void => {
    const one = of(job);
    one.dueAt ??= Date.now() + inMs;
    next(job);
  };
  const next = (job: JobName): void => {
    const one = of(job);
    clearTimeout(one.timer);
    if (one.dueAt === undefined || one.running || isClosed) return;
    const worker = one.workers.find(({ stopping }) => !stopping.signal.aborted);
    if (!worker) return;
    one.timer = setTimeout(() => begin(job, worker), Math.max(0, one.dueAt - Date.now()));
    one.timer.unref();
  };
  const begin = (job: JobName, worker: MemoryQueueWorker): void => {
    const one = of(job);
    if (one.running || worker.stopping.signal.aborted) return;
    delete one.dueAt;
    const ended = runJob(job, worker).finally(() => {
      delete one.running;
      next(job);
    });
    one.running = { worker, ended };
  };
  const runJob = async (job: JobName, { run, stopping }: MemoryQueueWorker): Promise<void> => {
    const one = of(job);
    try {
      await run(stopping.signal);
      one.failures = 0;
    } catch (error) {
      // Another worker takes the job over; this is not a failure.
      if (stopping.signal.aborted) return due(job, 0);
      one.failures += 1;
      if (isRetryable(error) || one.failures < MAX_ATTEMPTS_PER_RUN) {
        one.dueAt = Date.now() + computeRetryDelay(one.failures, firstPauseMs);
        return;
      }
      const at = new Date().toISOString();
      quarantined.unshift({
        id: randomUUID(),
        job,
        at,
        attempts: one.failures,
        problem: getErrorCode(error),
      });
      one.failures = 0;
    }
  };

  return {
    name: "memory",
    offer(job, { afterMs = 0 } = {}) {
      if (!isClosed) due(job, afterMs);
    },

    async work(job, run) {
      if (isClosed) throw new MemoryError("unavailable", "this queue is closed. Open it again.");
      const one = of(job);
      const worker: MemoryQueueWorker = { run, stopping: new AbortController() };
      one.workers.push(worker);
      next(job);
      return async () => {
        worker.stopping.abort(new MemoryError("unavailable", "this worker was stopped."));
        one.workers.splice(one.workers.indexOf(worker), 1);
        if (one.running?.worker === worker) await one.running.ended;
        next(job);
      };
    },

    async setAside(limit) {
      return quarantined.slice(0, limit);
    },

    async again(id) {
      const index = quarantined.findIndex((one) => one.id === id);
      const [found] = index === -1 ? [] : quarantined.splice(index, 1);
      if (found) due(found.job, 0);
      return found !== undefined;
    },

    async isUp() {
      return !isClosed;
    },

    async close() {
      isClosed = true;
      const running = [...jobs.values()].flatMap((one) => {
        clearTimeout(one.timer);
        for (const { stopping } of one.workers) {
          stopping.abort(new MemoryError("unavailable", "this queue was closed."));
        }
        return one.running ? [one.running.ended] : [];
      });
      await Promise.all(running);
    },
  };
}
