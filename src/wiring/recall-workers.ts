import {
  countSpareProcesses,
  forkWorkerProcess,
  getGarbageCollectorFlags,
  openWorkerChannel,
  type WorkerChannel,
  type WorkerHandle,
} from "../adapters/shared/worker-channel.ts";
import { type Scope, toScopeKey } from "../domain/scope.ts";
import type { CallOptions } from "../ports/call-options.ts";
import type { Embedder } from "../ports/language/embedder.ts";
import type { RecallRequest, RecallResponse, RecallWorker } from "../ports/recall-worker.ts";
import { type Meter, NO_METER } from "../ports/telemetry.ts";
import type { RecallWorkerData, RecallWorkerMessage, RecallWorkerReply } from "./recall-worker-process.ts";

/** Maximum number of processes. Recalls are bound by memory access, so more processes would wait for each other. */
const MAX_PROCESSES = 4;
/** Recalls per second from which processes are used. Below it, waking a process takes longer than it saves. */
const BUSY_PER_SECOND = 50;
const HANG_TIMEOUT_MS = 5000;
const CHECK_INTERVAL_MS = 1000;
/** Minimum pause before a process is restarted, in ms. */
const RESTART_PAUSE_MS = 10_000;

export interface RecallWorkersOptions {
  /** The database file. */
  readonly path: string;
  readonly embedder: Pick<Embedder, "fingerprint" | "dimensions" | "floor">;
  /** Approximate size of the cache of users over all processes, in bytes. */
  readonly cacheBytes: number;
  readonly decayDays?: number | undefined;
  /** The key of row digests (32 bytes, hex), so that a process skips rows that were tampered with. */
  readonly digestKey?: string | undefined;
  readonly meter?: Meter | undefined;
  /** Number of processes. Default: processors minus two, at least one on two processors, at most 4. */
  readonly processes?: number;
  /** Whether this process takes an equal share of recalls (true). Otherwise it only delegates, and one of two processors does nearly all work. */
  readonly shares?: boolean;
  /** Recalls per second from which processes are started and used (50). */
  readonly busy?: number;
  /** Time without a reply after which a process is considered hung and is stopped, in ms (5,000). */
  readonly hangsMs?: number | undefined;
}

/** A recall worker that tells whether its processes have started, and so use their cache. */
export interface RecallWorkers extends RecallWorker {
  hasStarted(): boolean;
}

/**
 * Runs recalls in separate processes under load, for a server. Without it, each search blocks all other requests and uses
 * only one processor. A user's recalls always run in the same process; a share stays in this one. Each process reads the
 * file itself and sees all writes acknowledged before the request. Gives undefined if there is no spare processor.
 */
export function createRecallWorkers(
  options: RecallWorkersOptions,
  start: (input: RecallWorkerData) => WorkerHandle = startProcess,
): RecallWorkers | undefined {
  const { path, embedder, cacheBytes, decayDays, digestKey, meter = NO_METER } = options;
  const count = options.processes ?? countSpareProcesses(MAX_PROCESSES);
  if (count < 1) return undefined;
  const { fingerprint, dimensions, floor } = embedder;
  const share = Math.floor(cacheBytes / count);
  const input: RecallWorkerData = {
    path,
    embedder: { fingerprint, dimensions, floor },
    cacheBytes: share,
    ...(decayDays === undefined ? {} : { decayDays }),
  };
  const processes = Array.from(
    { length: count },
    (): RestartingProcess =>
      createRestartingProcess(() => start(input), { hangsMs: options.hangsMs, digestKey }),
  );
  const isBusy = createBusyDetector(options.busy ?? BUSY_PER_SECOND);
  // The last index is this process.
  const total = (options.shares ?? true) ? count + 1 : count;
  const processOf = (scope: Scope): RestartingProcess | undefined => processes[chooseProcess(scope, total)];
  return {
    hasStarted: () => processes.some((worker) => worker.hasStarted()),
    async recall(request: RecallRequest, { signal }: CallOptions = {}): Promise<RecallResponse | undefined> {
      if (!isBusy()) return undefined;
      const reply = await processOf(request.scope)?.ask({ handed: request }, signal);
      if (!reply?.back) return undefined;
      for (const counted of reply.counts) meter.count(...counted);
      return JSON.parse(reply.back) as RecallResponse;
    },
    async purgeUser(scope: Scope): Promise<void> {
      const worker = processOf(scope);
      if (worker?.hasStarted()) await worker.ask({ purgeUser: scope });
    },
    async close(): Promise<void> {
      await Promise.all(processes.map((worker) => worker.end()));
    },
  };
}

/** Gives a function that returns whether it is called at least `perSecond` times a second. */
function createBusyDetector(perSecond: number): () => boolean {
  let second = Number.NaN;
  let count = 0;
  let before = 0;
  return () => {
    const now = Math.floor(performance.now() / 1000);
    if (now !== second) {
      before = now === second + 1 ? count : 0;
      second = now;
      count = 0;
    }
    count += 1;
    return Math.max(before, count) >= perSecond;
  };
}

/** A process that starts at the first request, and restarts some time after it has ended. */
interface RestartingProcess {
  hasStarted(): boolean;
  /** Sends a message. Gives undefined if the process is not ready or fails. Rejects only with the reason of the signal. */
  ask(message: RecallWorkerMessage, signal?: AbortSignal): Promise<RecallWorkerReply | undefined>;
  end(): Promise<void>;
}

function createRestartingProcess(
  start: () => WorkerHandle,
  { hangsMs = HANG_TIMEOUT_MS, digestKey }: Pick<RecallWorkersOptions, "hangsMs" | "digestKey">,
): RestartingProcess {
  let line: WorkerChannel<RecallWorkerMessage, RecallWorkerReply> | undefined;
  let isReady = false;
  let isOver = false;
  let endedAt = Number.NEGATIVE_INFINITY;
  let waiting = 0;
  let heardAt = 0;
  let watch: NodeJS.Timeout | undefined;
  const onEnd = (): void => {
    line = undefined;
    isReady = false;
    endedAt = performance.now();
    clearInterval(watch);
  };
  const open = (): void => {
    if (isOver || line || performance.now() - endedAt < RESTART_PAUSE_MS) return;
    try {
      line = openWorkerChannel<RecallWorkerMessage, RecallWorkerReply>(start, onEnd);
      // Not awaited: a process takes a second to start.
      // The key is sent as a message, because other users can read the arguments of a process.
      void line.request({ open: digestKey ?? "" }).then(({ told }) => {
        isReady = told !== undefined;
      });
      watch = setInterval(() => {
        if (waiting > 0 && performance.now() - heardAt > hangsMs) void line?.close();
      }, CHECK_INTERVAL_MS).unref();
    } catch {
      onEnd();
    }
  };
  const request = async (
    channel: WorkerChannel<RecallWorkerMessage, RecallWorkerReply>,
    message: RecallWorkerMessage,
  ): Promise<RecallWorkerReply | undefined> => {
    if (waiting === 0) heardAt = performance.now();
    waiting += 1;
    try {
      return (await channel.request(message)).told;
    } catch {
      // The message cannot be copied to another process, so this one runs the recall.
      return undefined;
    } finally {
      waiting -= 1;
      heardAt = performance.now();
    }
  };
  return {
    hasStarted: () => line !== undefined,
    async ask(message, signal) {
      signal?.throwIfAborted();
      open();
      if (!line || !isReady) return undefined;
      const reply = request(line, message);
      return signal ? raceAbort(reply, signal) : reply;
    },
    async end() {
      isOver = true;
      const channel = line;
      if (channel && isReady) await request(channel, "close");
      await channel?.close();
    },
  };
}

/** Gives the value of a promise that never rejects; rejects if the signal fires first. */
function raceAbort<Value>(work: Promise<Value>, signal: AbortSignal): Promise<Value> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => reject(signal.reason);
    signal.addEventListener("abort", onAbort, { once: true });
    void work.then((value) => {
      signal.removeEventListener("abort", onAbort);
      resolve(value);
    });
  });
}

/** Chooses the process of a user, always the same, so that a user's state is cached once. */
function chooseProcess({ project, user }: Scope, count: number): number {
  let sum = 0;
  for (const letter of toScopeKey({ project, user })) {
    sum = (sum * 31 + (letter.codePointAt(0) ?? 0)) % 1_000_003;
  }
  return sum % count;
}

function startProcess(input: RecallWorkerData): WorkerHandle {
  return forkWorkerProcess(import.meta.url, "./recall-worker-process", input, getGarbageCollectorFlags());
}
