import type { JobName } from "../../domain/operations/job.ts";
import type { Scope } from "../../domain/scope.ts";
import { MemoryError } from "../../errors.ts";
import type { Queue } from "../../ports/queue.ts";
import type { EmbeddingState, JobState } from "../api/maintenance-types.ts";
import { listEmbedders } from "../embedders.ts";
import { delayedErasureTask } from "../erase/delayed-erasures.ts";
import { dropExpiredAnswers } from "../ingest/idempotency.ts";
import type { Ports } from "../ports.ts";
import { abortQueries } from "../query-embedding.ts";
import { tryStore } from "../secondary-stores/try-store.ts";
import { createBackupJob } from "./backup-job.ts";
import { createDescribingJob } from "./describing-job.ts";
import { countPendingUnits, type EmbedProgress, embedPending } from "./embedding.ts";
import { createSerializer, deferWhileBusy, type Job } from "./job.ts";
import { createJobRunner, type JobRunner } from "./job-runner.ts";
import { createMaintenanceJob } from "./maintenance-job.ts";
import { MAINTENANCE_TASKS } from "./optimize.ts";
import { addQuarantineCounts } from "./quarantine.ts";
import { createMessageBatcher, createUnderstandingJob, MIN_AGE_MS } from "./understanding-job.ts";

/** Runs the background jobs. `stop` interrupts them and waits for their end. */
export interface BackgroundJobs {
  /**
   * Schedules extraction of the user's pending messages: by a model when a batch has gathered, by rules soon.
   */
  scheduleReading(scope: Scope, options?: { readonly isUnheard?: boolean }): void;
  /** Call this after each write: with a remote embedder, it may have left units to embed. */
  onWrite(): void;
  /** Call this after a user or a project chose another embedder. */
  onEmbedderChange(): void;
  /** Call this after a message with an image or a recording. */
  onAttachment(): void;
  /**
   * Computes missing embeddings in the caller's own time and throws errors to the caller. A background run
   * makes room for it.
   */
  embedNow(signal?: AbortSignal): AsyncGenerator<EmbedProgress, void, void>;
  embedding(): Promise<EmbeddingState>;
  /** Whether embedding runs now, and why it last failed. */
  readEmbeddingState(): Pick<EmbeddingState, "running" | "problem">;
  jobs(): Promise<JobState[]>;
  /** Runs a job again whose quarantined work was released. */
  again(job: JobName): void;
  stop(): Promise<void>;
}

/** The first requests come first: pending work is sought a moment after the start. */
const START_MS = 100;
const MAINTENANCE_MS = 30_000;
const QUEUE_START_MS = 1000;
/** Later than a command takes. */
const BACKUP_START_MS = 5000;
const MARGIN_MS = 500;

/**
 * Starts every job. Failed work stays pending in the store and is tried again, here or after the next start.
 */
export function startBackgroundJobs(ports: Ports): BackgroundJobs {
  const stopping = new AbortController();
  const { lingerMs = 0 } = ports.modelExtractor ?? {};
  const gathered = createMessageBatcher(lingerMs);
  const read = createUnderstandingJob(ports, gathered);
  const reading = createJobRunner(ports, read, stopping.signal);
  const vectors = createJobRunner(ports, createEmbeddingJob(ports), stopping.signal);
  const inTurn = createSerializer();
  const houses = [...MAINTENANCE_TASKS, delayedErasureTask].map((task) =>
    createJobRunner(ports, deferWhileBusy(inTurn(createMaintenanceJob(ports, task))), stopping.signal),
  );
  const tidier = createJobRunner(ports, createTidyingJob(ports), stopping.signal);
  const backups = createBackupRunners(ports, stopping.signal);
  const describing = createDescribingRunners(ports, stopping.signal);
  const jobs = [reading, vectors, ...houses, tidier, ...backups, ...describing];
  if (!ports.leavesJobs) {
    startInTurn([...houses, tidier]);
    for (const one of [vectors, reading, ...describing]) one.start(START_MS);
    for (const one of backups) one.start(BACKUP_START_MS);
  }
  const offered = ports.leavesJobs ? undefined : workQueue(ports.queue, jobs);
  let timer: NodeJS.Timeout | undefined;
  const readRipe = (): void => {
    const ripe = gathered.take();
    for (const scope of ripe) read.prioritize(scope);
    if (ripe.length > 0) reading.requestRun();
    const next = gathered.next();
    clearTimeout(timer);
    if (next !== undefined && !stopping.signal.aborted) timer = setTimeout(readRipe, next).unref();
  };
  const embedders = createEmbeddingTriggers(ports, vectors);
  return {
    scheduleReading(scope, { isUnheard = false } = {}) {
      if (ports.leavesJobs) {
        // The run itself looks for pending messages and skips those that are newer.
        const afterMs = Math.max(MIN_AGE_MS, isUnheard ? 0 : lingerMs) + MARGIN_MS;
        return ports.queue?.offer(read.name, { afterMs });
      }
      if (isUnheard) {
        read.prioritize(scope);
        return reading.requestRun();
      }
      gathered.add(scope);
      readRipe();
    },
    onAttachment: () => requestDescribing(ports, describing),
    onWrite: embedders.onWrite,
    onEmbedderChange: embedders.onEmbedderChange,
    embedNow: (signal) => vectors.runNow((stopped) => embedPending(ports, stopped), signal),
    readEmbeddingState: () => readEmbeddingState(vectors),
    embedding: async () => ({
      space: ports.embedder.fingerprint,
      left: await countPendingUnits(ports),
      ...readEmbeddingState(vectors),
    }),
    jobs: async () => addQuarantineCounts(ports, await Promise.all(jobs.map((one) => one.state()))),
    again(job) {
      if (ports.leavesJobs) ports.queue?.offer(job);
      else jobs.find(({ name }) => name === job)?.requestRun();
    },
    async stop() {
      stopping.abort(new MemoryError("unavailable", "this memory has been closed."));
      clearTimeout(timer);
      embedders.abortQueries();
      await offered?.end();
      await Promise.all(jobs.map((one) => one.end()));
    },
  };
}

function readEmbeddingState(vectors: JobRunner): Pick<EmbeddingState, "running" | "problem"> {
  const problem = vectors.problem();
  return { running: vectors.isRunning(), ...(problem === undefined ? {} : { problem }) };
}

/** What makes the embedding job run before it is due, here or in a worker. */
function createEmbeddingTriggers(
  ports: Ports,
  vectors: JobRunner,
): Pick<BackgroundJobs, "onWrite" | "onEmbedderChange"> & { abortQueries(): void } {
  const embedders = listEmbedders(ports).map(({ embedder }) => embedder);
  const hasRemote = embedders.some(({ local }) => !local);
  const embedSoon = (): void => {
    if (ports.leavesJobs) ports.queue?.offer("embedding");
    else vectors.requestRun();
  };
  return {
    onWrite: () => hasRemote && embedSoon(),
    onEmbedderChange: embedSoon,
    abortQueries() {
      for (const embedder of embedders) abortQueries(embedder);
    },
  };
}

/** One after the other, and later than a command takes. */
function startInTurn(runners: readonly JobRunner[]): void {
  for (const [i, one] of runners.entries()) one.start(MAINTENANCE_MS * (i + 1));
}

function createDescribingRunners(ports: Ports, signal: AbortSignal): readonly JobRunner[] {
  return ports.describer ? [createJobRunner(ports, createDescribingJob(ports), signal)] : [];
}

/** Runs them at once, or has workers run them. */
function requestDescribing({ leavesJobs, queue }: Ports, runners: readonly JobRunner[]): void {
  if (leavesJobs) queue?.offer("describing");
  else for (const one of runners) one.requestRun();
}

function createBackupRunners(ports: Ports, signal: AbortSignal): readonly JobRunner[] {
  return ports.backups ? [createJobRunner(ports, createBackupJob(ports, ports.backups), signal)] : [];
}

/**
 * Runs every job that a queue offers, from a moment after the start, so that a short command never waits for
 * the queue. Without a reachable queue, the jobs run on their own schedule.
 */
function workQueue(
  queue: Queue | undefined,
  all: readonly JobRunner[],
): { readonly end: () => Promise<void> } | undefined {
  if (!queue) return undefined;
  let ends: readonly Promise<() => Promise<void>>[] = [];
  const timer = setTimeout(() => {
    ends = all.map((one) => queue.work(one.name, one.runOffered).catch(() => async () => {}));
  }, QUEUE_START_MS);
  timer.unref();
  return {
    async end() {
      clearTimeout(timer);
      await Promise.all(ends.map(async (end) => (await end)()));
    },
  };
}

/** How often to look for work that other processes left behind. */
const EVERY_MS = 60_000;

/** Computes missing embeddings: after a change of the embedder, or with a remote one. */
function createEmbeddingJob(ports: Pick<Ports, "store" | "embedder" | "embedders" | "clock">): Job {
  return {
    name: "embedding",
    about: "computes missing embeddings; until then, search uses words",
    everyMs: EVERY_MS,
    restFactor: 0,
    run: (signal) => embedPending(ports, signal),
    countLeft: () => countPendingUnits(ports),
  };
}

const HOUR_MS = 3_600_000;

/**
 * Deletes data with a limited lifetime: cached model calls, answers under idempotency keys, and ended
 * sessions. Also runs the store's own maintenance.
 */
export function createTidyingJob(
  ports: Pick<Ports, "costs" | "store" | "clock" | "sessions" | "meter">,
): Job {
  return {
    name: "tidying",
    about: "deletes expired model calls and stored answers",
    everyMs: HOUR_MS,
    restFactor: 9,
    async *run() {
      const deleted = ((await ports.costs?.cleanUp()) ?? 0) + (await dropExpiredAnswers(ports));
      // No one depends on this: ended sessions are not read, and most expire by themselves.
      await tryStore(ports, "sessions", async () => ports.sessions?.cleanUp());
      const tidied = (await ports.store.maintenance?.tidy()) ?? 0;
      if (deleted + tidied > 0) yield { done: deleted + tidied };
    },
  };
}
