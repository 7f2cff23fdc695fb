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

/** A recall walks through memory more than it reckons: more processes than this would wait for each other. */
const MAX_PROCESSES = 4;
/** From so many recalls a second on they are handed on. Where there are fewer, to wake a process takes longer than it saves. */
const BUSY_PER_SECOND = 50;
const HANG_TIMEOUT_MS = 5000;
const CHECK_INTERVAL_MS = 1000;
/** After a process has ended, the next one is begun no sooner than this. */
const RESTART_PAUSE_MS = 10_000;

export interface RecallWorkersOptions {
  /** The file with the record. */
  readonly path: string;
  readonly embedder: Pick<Embedder, "fingerprint" | "dimensions" | "floor">;
  /** Memory for what is known of users, over all processes, about, in bytes. */
  readonly cacheBytes: number;
  readonly decayDays?: number | undefined;
  /** The key for digests of rows (32 bytes, hex), so that a process passes over rows that were changed. */
  readonly digestKey?: string | undefined;
  readonly meter?: Meter | undefined;
  /** How many processes (two less than there are processors, but one on two of them, and 4 at most). */
  readonly processes?: number;
  /** Whether this process is to do as much as each of them (true). Else it only hands on, and one of two processors does nearly all. */
  readonly shares?: boolean;
  /** From how many recalls a second on they are begun, and asked (50). */
  readonly busy?: number;
  /** One that has been asked and has answered nothing for so long hangs, and is ended, in ms (5,000). */
  readonly hangsMs?: number | undefined;
}

/** A recaller, and whether it has begun to use the memory that it may. */
export interface RecallWorkers extends RecallWorker {
  hasStarted(): boolean;
}

/**
 * Carries out recalls in processes of their own where there are many, one user's always in the same, but for a share that stays
 * here: for a server, which else lets everybody wait while one is searched for, and uses one processor of several. Each reads
 * the file by itself, as another server would, and sees all that was acknowledged before it was asked. Undefined where there is
 * no processor to spare.
 */
export function createRecallWorkers(
  options: RecallWorkersOptions,
  begin: (begun: RecallWorkerData) => WorkerHandle = startProcess,
): RecallWorkers | undefined {
  const { path, embedder, cacheBytes, decayDays, digestKey, meter = NO_METER } = options;
  const count = options.processes ?? countSpareProcesses(MAX_PROCESSES);
  if (count < 1) return undefined;
  const { fingerprint, dimensions, floor } = embedder;
  const share = Math.floor(cacheBytes / count);
  const begun: RecallWorkerData = {
    path,
    embedder: { fingerprint, dimensions, floor },
    cacheBytes: share,
    ...(decayDays === undefined ? {} : { decayDays }),
  };
  const processes = Array.from(
    { length: count },
    (): RestartingProcess =>
      createRestartingProcess(() => begin(begun), { hangsMs: options.hangsMs, digestKey }),
  );
  const isBusy = createBusyDetector(options.busy ?? BUSY_PER_SECOND);
  // The last place is this process.
  const places = (options.shares ?? true) ? count + 1 : count;
  const processOf = (scope: Scope): RestartingProcess | undefined => processes[chooseProcess(scope, places)];
  return {
    hasStarted: () => processes.some((one) => one.hasStarted()),
    async recall(handed: RecallRequest, { signal }: CallOptions = {}): Promise<RecallResponse | undefined> {
      if (!isBusy()) return undefined;
      const told = await processOf(handed.scope)?.ask({ handed }, signal);
      if (!told?.back) return undefined;
      for (const counted of told.counts) meter.count(...counted);
      return JSON.parse(told.back) as RecallResponse;
    },
    async purgeUser(scope: Scope): Promise<void> {
      const holding = processOf(scope);
      if (holding?.hasStarted()) await holding.ask({ cleanse: scope });
    },
    async close(): Promise<void> {
      await Promise.all(processes.map((one) => one.end()));
    },
  };
}

/** Tells, each time it is asked, whether it is asked so often a second. */
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

/** A process that is begun when it is first asked, and begun again some time after it has ended. */
interface RestartingProcess {
  hasStarted(): boolean;
  /** Nothing where there is none that could answer now. It rejects with the reason of the signal alone. */
  ask(asked: RecallWorkerMessage, signal?: AbortSignal): Promise<RecallWorkerReply | undefined>;
  end(): Promise<void>;
}

function createRestartingProcess(
  begin: () => WorkerHandle,
  { hangsMs = HANG_TIMEOUT_MS, digestKey }: Pick<RecallWorkersOptions, "hangsMs" | "digestKey">,
): RestartingProcess {
  let line: WorkerChannel<RecallWorkerMessage, RecallWorkerReply> | undefined;
  let isReady = false;
  let isOver = false;
  let endedAt = Number.NEGATIVE_INFINITY;
  let waiting = 0;
  let heardAt = 0;
  let watch: NodeJS.Timeout | undefined;
  const ended = (): void => {
    line = undefined;
    isReady = false;
    endedAt = performance.now();
    clearInterval(watch);
  };
  const open = (): void => {
    if (isOver || line || performance.now() - endedAt < RESTART_PAUSE_MS) return;
    try {
      line = openWorkerChannel<RecallWorkerMessage, RecallWorkerReply>(begin, ended);
      // It takes a second to start, and nobody waits for that.
      // The key goes over the line, for what a process is begun with can be read by others.
      void line.request({ open: digestKey ?? "" }).then(({ told }) => {
        isReady = told !== undefined;
      });
      watch = setInterval(() => {
        if (waiting > 0 && performance.now() - heardAt > hangsMs) void line?.close();
      }, CHECK_INTERVAL_MS).unref();
    } catch {
      ended();
    }
  };
  const answerOf = async (
    own: WorkerChannel<RecallWorkerMessage, RecallWorkerReply>,
    asked: RecallWorkerMessage,
  ): Promise<RecallWorkerReply | undefined> => {
    if (waiting === 0) heardAt = performance.now();
    waiting += 1;
    try {
      return (await own.request(asked)).told;
    } catch {
      // What can't be copied to another process is for this one.
      return undefined;
    } finally {
      waiting -= 1;
      heardAt = performance.now();
    }
  };
  return {
    hasStarted: () => line !== undefined,
    async ask(asked, signal) {
      signal?.throwIfAborted();
      open();
      if (!line || !isReady) return undefined;
      const answered = answerOf(line, asked);
      return signal ? raceAbort(answered, signal) : answered;
    },
    async end() {
      isOver = true;
      const own = line;
      if (own && isReady) await answerOf(own, "close");
      await own?.close();
    },
  };
}

/** What a promise gives that never rejects, unless the signal comes first. */
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

/** Always the same for a user: what is known of them is held once. */
function chooseProcess({ project, user }: Scope, count: number): number {
  let sum = 0;
  for (const letter of toScopeKey({ project, user })) {
    sum = (sum * 31 + (letter.codePointAt(0) ?? 0)) % 1_000_003;
  }
  return sum % count;
}

function startProcess(begun: RecallWorkerData): WorkerHandle {
  return forkWorkerProcess(import.meta.url, "./recall-worker-process", begun, getGarbageCollectorFlags());
}
