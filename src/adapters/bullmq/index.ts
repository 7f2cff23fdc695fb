import { JOB_NAMES, type JobName } from "../../domain/job.ts";
import { ERROR_CODES, MemoryError } from "../../errors.ts";
import { MAX_ATTEMPTS_PER_RUN, type Queue, type SetAside } from "../../ports/queue.ts";
import { withTimeout } from "../shared/remote-call.ts";
import type { BullmqConnection, BullmqJob, BullmqLibrary, BullmqQueue, BullmqWorker } from "./queue-jobs.ts";
import { addJob, createOfferer, createProcessor } from "./queue-jobs.ts";

export type { BullmqConnection, BullmqLibrary } from "./queue-jobs.ts";

export interface BullmqOptions<Connection extends BullmqConnection> {
  /** `await import("bullmq")`, version 6. */
  readonly library: BullmqLibrary<Connection>;
  /**
   * An ioredis client, made with `BULLMQ_CLIENT`; it stays open. Each job that is worked at has one more connection, which is
   * closed with the queue. The server must not evict (`maxmemory-policy noeviction`).
   */
  readonly connection: Connection;
  /** What every key begins with ("keepsake"). */
  readonly prefix?: string;
  /** Before a run that failed is tried again, in ms (1,000); longer each time. */
  readonly firstPauseMs?: number;
  /** After a worker was killed, its job is another's after so long, in ms (30,000). */
  readonly lockMs?: number;
}

/** How its client is best made: `new Redis({ ...BULLMQ_CLIENT, host, port, password })`. BullMQ's workers ask for the first. */
export const BULLMQ_CLIENT = {
  maxRetriesPerRequest: null,
  connectTimeout: 2000,
  retryStrategy: (times: number): number => Math.min(2000, times * 100),
} as const;

/** What an ioredis client says of itself when nothing comes through. */
const DOWN_STATES: readonly string[] = ["reconnecting", "close", "end"];

const ANSWER_MS = 5000;
const PING_MS = 1000;
const CLOSE_MS = 5000;

/**
 * A queue on Redis, by BullMQ: what one server offers, one of all workers carries out. Redis holds names of jobs and codes of
 * errors, nothing of a user; where it is lost, the record finds the work again.
 */
export function bullmqQueue<Connection extends BullmqConnection>(options: BullmqOptions<Connection>): Queue {
  const { library, connection, prefix = "keepsake", firstPauseMs = 1000, lockMs = 30_000 } = options;
  const queues = new Map<JobName, BullmqQueue>();
  const ends = new Set<() => Promise<void>>();
  let isClosed = false;

  const queueOf = (job: JobName): BullmqQueue => {
    const found =
      queues.get(job) ?? ignoreErrors(new library.Queue(toQueueName(job), { connection, prefix }));
    queues.set(job, found);
    return found;
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
  const ended = async (one: { close(force?: boolean): Promise<void> }): Promise<void> => {
    // A connection that is down is not said good-bye to: that would wait until it is up again.
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
      if (isClosed) throw new MemoryError("unavailable", "this queue is closed. Open another.");
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
        if (!ends.delete(end)) return;
        stopping.abort(new MemoryError("unavailable", "this worker was told to stop."));
        await ended(worker);
      };
      ends.add(end);
      return end;
    },

    async setAside(limit) {
      if (!(await isUp())) throw createDownError();
      const failed = JOB_NAMES.map(async (job) => {
        const found = await awaitAnswer(queueOf(job).getFailed(0, limit - 1));
        return found.flatMap((one) => (one ? [toSetAside(job, one)] : []));
      });
      const all = (await Promise.all(failed)).flat();
      return all.toSorted((one, other) => (one.at < other.at ? 1 : -1)).slice(0, limit);
    },

    async again(id) {
      const [, job, number] = /^(.+)-(\d+)$/.exec(id) ?? [];
      const name = JOB_NAMES.find((one) => one === job);
      if (!name || number === undefined) return false;
      if (!(await isUp())) throw createDownError();
      const found = await awaitAnswer(queueOf(name).getJob(number));
      if (!found || !(await awaitAnswer(found.isFailed()))) return false;
      await awaitAnswer(send(name, 0));
      await awaitAnswer(found.remove());
      return true;
    },

    async close() {
      isClosed = true;
      await Promise.all([...ends].map((end) => end()));
      await Promise.all([...queues.values()].map(ended));
    },
  };
}

/** Keys of Redis are cut at colons. */
function toQueueName(job: JobName): string {
  return job.replaceAll(":", "-");
}

/** What a connection goes through is no fault of the program: it comes back, or `isUp` says that it does not. */
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
    "Redis, which holds the queue, does not answer. Work goes on without it.",
  );
}

async function awaitAnswer<Value>(answer: Promise<Value>): Promise<Value> {
  try {
    return await withTimeout(answer, ANSWER_MS, createDownError);
  } catch (error) {
    throw error instanceof MemoryError ? error : createDownError();
  }
}
