import { processBeside, processesToSpare } from "./adapters/shared/process-line.ts";
import { type Line, lineTo, type Thread } from "./adapters/shared/thread-line.ts";
import { collectorWords } from "./adapters/system/collector.ts";
import { type Scope, scopeKey } from "./domain/scope.ts";
import type { CallOptions } from "./ports/call.ts";
import type { Embedder } from "./ports/embedder.ts";
import { type Meter, NO_METER } from "./ports/meter.ts";
import type { HandedBack, HandedRecall, Recaller } from "./ports/recaller.ts";
import type { Asked, Begun, Told } from "./recalling-child.ts";

/** A recall walks through memory more than it reckons: more processes than this would wait for each other. */
const MOST_PROCESSES = 4;
/** From so many recalls a second on they are handed on. Where there are fewer, to wake a process takes longer than it saves. */
const BUSY = 50;
const HANGS_MS = 5000;
const LOOK_MS = 1000;
/** After a process has ended, the next one is begun no sooner than this. */
const REST_MS = 10_000;

export interface RecallingOptions {
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
export interface Recalling extends Recaller {
  isBegun(): boolean;
}

/**
 * Carries out recalls in processes of their own where there are many, one user's always in the same, but for a share that stays
 * here: for a server, which else lets everybody wait while one is searched for, and uses one processor of several. Each reads
 * the file by itself, as another server would, and sees all that was acknowledged before it was asked. Undefined where there is
 * no processor to spare.
 */
export function recallingApart(
  options: RecallingOptions,
  begin: (begun: Begun) => Thread = begunProcess,
): Recalling | undefined {
  const { path, embedder, cacheBytes, decayDays, digestKey, meter = NO_METER } = options;
  const count = options.processes ?? processesToSpare(MOST_PROCESSES);
  if (count < 1) return undefined;
  const { fingerprint, dimensions, floor } = embedder;
  const share = Math.floor(cacheBytes / count);
  const begun: Begun = {
    path,
    embedder: { fingerprint, dimensions, floor },
    cacheBytes: share,
    ...(decayDays === undefined ? {} : { decayDays }),
  };
  const processes = Array.from(
    { length: count },
    (): Successive => successive(() => begin(begun), { hangsMs: options.hangsMs, digestKey }),
  );
  const isBusy = busyFrom(options.busy ?? BUSY);
  // The last place is this process.
  const places = (options.shares ?? true) ? count + 1 : count;
  const processOf = (scope: Scope): Successive | undefined => processes[placeOf(scope, places)];
  return {
    isBegun: () => processes.some((one) => one.isBegun()),
    async recall(handed: HandedRecall, { signal }: CallOptions = {}): Promise<HandedBack | undefined> {
      if (!isBusy()) return undefined;
      const told = await processOf(handed.scope)?.ask({ handed }, signal);
      if (!told?.back) return undefined;
      for (const counted of told.counts) meter.count(...counted);
      return JSON.parse(told.back) as HandedBack;
    },
    async cleanse(scope: Scope): Promise<void> {
      const holding = processOf(scope);
      if (holding?.isBegun()) await holding.ask({ cleanse: scope });
    },
    async close(): Promise<void> {
      await Promise.all(processes.map((one) => one.end()));
    },
  };
}

/** Tells, each time it is asked, whether it is asked so often a second. */
function busyFrom(perSecond: number): () => boolean {
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
interface Successive {
  isBegun(): boolean;
  /** Nothing where there is none that could answer now. It rejects with the reason of the signal alone. */
  ask(asked: Asked, signal?: AbortSignal): Promise<Told | undefined>;
  end(): Promise<void>;
}

function successive(
  begin: () => Thread,
  { hangsMs = HANGS_MS, digestKey }: Pick<RecallingOptions, "hangsMs" | "digestKey">,
): Successive {
  let line: Line<Asked, Told> | undefined;
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
    if (isOver || line || performance.now() - endedAt < REST_MS) return;
    try {
      line = lineTo<Asked, Told>(begin, ended);
      // It takes a second to start, and nobody waits for that.
      // The key goes over the line, for what a process is begun with can be read by others.
      void line.ask({ open: digestKey ?? "" }).then(({ told }) => {
        isReady = told !== undefined;
      });
      watch = setInterval(() => {
        if (waiting > 0 && performance.now() - heardAt > hangsMs) void line?.end();
      }, LOOK_MS).unref();
    } catch {
      ended();
    }
  };
  const answerOf = async (own: Line<Asked, Told>, asked: Asked): Promise<Told | undefined> => {
    if (waiting === 0) heardAt = performance.now();
    waiting += 1;
    try {
      return (await own.ask(asked)).told;
    } catch {
      // What can't be copied to another process is for this one.
      return undefined;
    } finally {
      waiting -= 1;
      heardAt = performance.now();
    }
  };
  return {
    isBegun: () => line !== undefined,
    async ask(asked, signal) {
      signal?.throwIfAborted();
      open();
      if (!line || !isReady) return undefined;
      const answered = answerOf(line, asked);
      return signal ? orAborted(answered, signal) : answered;
    },
    async end() {
      isOver = true;
      const own = line;
      if (own && isReady) await answerOf(own, "close");
      await own?.end();
    },
  };
}

/** What a promise gives that never rejects, unless the signal comes first. */
function orAborted<Value>(work: Promise<Value>, signal: AbortSignal): Promise<Value> {
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
function placeOf({ project, user }: Scope, count: number): number {
  let sum = 0;
  for (const letter of scopeKey({ project, user })) {
    sum = (sum * 31 + (letter.codePointAt(0) ?? 0)) % 1_000_003;
  }
  return sum % count;
}

function begunProcess(begun: Begun): Thread {
  return processBeside(import.meta.url, "./recalling-child", begun, collectorWords());
}
