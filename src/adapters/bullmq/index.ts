import { JOB_NAMES, type JobName } from "../../domain/operations/job.ts";
import { ERROR_CODES, MemoryError } from "../../errors.ts";
import { MAX_ATTEMPTS_PER_RUN, type Queue, type SetAside } from "../../ports/queue.ts";
import { withTimeout } from "../shared/model-calls/remote-call.ts";
import type { BullmqConnection, BullmqJob, BullmqLibrary, BullmqQueue, BullmqWorker } from "./queue-jobs.ts";
import { addJob, createOfferer, createProcessor } from "./queue-jobs.ts";

export type { BullmqConnection, BullmqLibrary } from "./queue-jobs.ts";

/** Options of `bullmqQueue`. */
export interface BullmqOptions<Connection extends BullmqConnection> {
  /** `await import("bullmq")`, version 6. */
  readonly library: BullmqLibrary<Connection>;
  /**
   * An ioredis client, created with `BULLMQ_CLIENT`; it stays open. Each job with a worker has one more connection, which is closed
   * with the queue. The server must not evict keys (`maxmemory-policy noeviction`).
   */
  readonly connection: Connection;
  /** The prefix of every key (default: "keepsake"). */
  readonly prefix?: string;
  /** The first pause before a failed run is retried, in ms (default: 1,000); it grows each time. */
  readonly firstPauseMs?: number;
  /** How long until another worker takes over the job of a killed worker, in ms (default: 30,000). */
  readonly lockMs?: number;
}

/** Recommended client options: `new Redis({ ...BULLMQ_CLIENT, host, port, password })`. BullMQ's workers require the first one. */
export const BULLMQ_CLIENT = {
  maxRetriesPerRequest: null,
  connectTimeout: 2000,
  retryStrategy: (times: number): number => Math.min(2000, times * 100),
} as const;

/** States of an ioredis client that is not connected. */
const DOWN_STATES: readonly string[] = ["reconnecting", "close", "end"];

const ANSWER_MS = 5000;
const PING_MS = 1000;
const CLOSE_MS = 5000;

/**
 * A queue on Redis, with BullMQ: any server offers jobs, and one of all workers runs each. Redis only contains names of jobs and error
 * codes, and no data of users. If Redis loses its data, the database still has the pending work.
 */
export function bullmqQueue<Connection extends BullmqConnection>(options: BullmqOptions<Connection>): Queue {
  const { library, connection, prefix = "keepsake", firstPauseMs = 1000, lockMs = 30_000 } = options;
  const queues = new Map<JobName, BullmqQueue>();
  const stopFunctions = new Set<() => Promise<void>>();
  let isClosed = false;

  const queueOf = (job: JobName): BullmqQueue => {
    const queue =
      queues.get(job) ?? ignoreErrors(new library.Queue(toQueueName(job), { connection, prefix }));
    queues.set(job, queue);
    return queue;
  };
  const send = (job: JobName, afterMs: number): Promise<void> =>
    addJob(queueOf(job), job, { afterMs, firstPauseMs });
  const offer = createOfferer(send);
  const isUp = (): Promise<boolean> => {
    if (isClosed || DOWN_STATES.includes(connection.status)) return Promise.resolve(false);
    return withTimeout(connection.ping(), PING_MS, createDownError).then(
      () => true,
      () => false,
    );
  };
  const closeGracefully = async (one: { close(force?: boolean): Promise<void> }): Promise<void> => {
    // Closing a lost connection gracefully would wait until it is up again, so it is forced.
    const isForced = !(await isUp());
    await withTimeout(one.close(isForced), CLOSE_MS, createDownError).catch(() => {});
  };

  return {
    name: "bullmq",
    isUp,

    offer(job, { afterMs = 0 } = {}) {
      if (!isClosed) offer(job, afterMs);
    },

    async work(job, run) {
      if (isClosed) throw new MemoryError("unavailable", "this queue is closed. Open it again.");
      const stopping = new AbortController();
      const processor = createProcessor(library, run, { stopping: stopping.signal, firstPauseMs });
      const worker: BullmqWorker = ignoreErrors(
        new library.Worker(toQueueName(job), processor, {
          connection,
          prefix,
          concurrency: 1,
          maxStalledCount: MAX_ATTEMPTS_PER_RUN,
          lockDuration: lockMs,
          stalledInterval: lockMs,
        }),
      );
      const end = async (): Promise<void> => {
        if (!stopFunctions.delete(end)) return;
        stopping.abort(new MemoryError("unavailable", "this worker was stopped."));
        await closeGracefully(worker);
      };
      stopFunctions.add(end);
      return end;
    },

    async setAside(limit) {
      if (!(await isUp())) throw createDownError();
      const failed = JOB_NAMES.map(async (job) => {
        const jobs = await awaitAnswer(queueOf(job).getFailed(0, limit - 1));
        return jobs.flatMap((one) => (one ? [toSetAside(job, one)] : []));
      });
      const quarantined = (await Promise.all(failed)).flat();
      return quarantined.toSorted((one, other) => (one.at < other.at ? 1 : -1)).slice(0, limit);
    },

    async again(id) {
      const [, job, number] = /^(.+)-(\d+)$/.exec(id) ?? [];
      const name = JOB_NAMES.find((one) => one === job);
      if (!name || number === undefined) return false;
      if (!(await isUp())) throw createDownError();
      const failedJob = await awaitAnswer(queueOf(name).getJob(number));
      if (!failedJob || !(await awaitAnswer(failedJob.isFailed()))) return false;
      await awaitAnswer(send(name, 0));
      await awaitAnswer(failedJob.remove());
      return true;
    },

    async close() {
      isClosed = true;
      await Promise.all([...stopFunctions].map((end) => end()));
      await Promise.all([...queues.values()].map(closeGracefully));
    },
  };
}

/** Replaces colons, which separate the parts of Redis keys. */
function toQueueName(job: JobName): string {
  return job.replaceAll(":", "-");
}

/** Ignores connection errors: a connection recovers by itself, or `isUp` reports that it does not. */
function ignoreErrors<One extends { on(event: "error", listener: (error: Error) => void): unknown }>(
  one: One,
): One {
  one.on("error", () => {});
  return one;
}

function toSetAside(
  job: JobName,
  { id, failedReason, finishedOn, timestamp, attemptsMade }: BullmqJob,
): SetAside {
  return {
    id: `${job}-${id ?? ""}`,
    job,
    at: new Date(finishedOn ?? timestamp).toISOString(),
    attempts: attemptsMade,
    problem: failedReason in ERROR_CODES ? failedReason : "internal",
  };
}

function createDownError(): MemoryError {
  return new MemoryError(
    "unavailable",
    "Redis, which stores the queue, does not answer. Work continues without it.",
  );
}

async function awaitAnswer<Value>(answer: Promise<Value>): Promise<Value> {
  try {
    return await withTimeout(answer, ANSWER_MS, createDownError);
  } catch (error) {
    throw error instanceof MemoryError ? error : createDownError();
  }
}
