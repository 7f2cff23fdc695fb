import type { JobName } from "../../domain/job.ts";
import type { Scope } from "../../domain/scope.ts";
import { MemoryError } from "../../errors.ts";
import type { Queue } from "../../ports/queue.ts";
import { countPending, type EmbedProgress, embedPending } from "../embed-pending.ts";
import type { Ports } from "../ports.ts";
import { dropQueries } from "../query-vector.ts";
import type { Embedding, JobState } from "../surface.ts";
import { embedding } from "./embedding.ts";
import { gathering } from "./gathering.ts";
import { oneByOne } from "./one-by-one.ts";
import { TASKS } from "./optimize.ts";
import { rounds } from "./rounds.ts";
import { type Runner, runner } from "./runner.ts";
import { withSetAside } from "./set-aside.ts";
import { tidying } from "./tidying.ts";
import { understanding, YOUNG_MS } from "./understanding.ts";
import { whenCalm } from "./when-calm.ts";

/** Work that no caller waits for. It has an owner: `stop` breaks it off and waits for its end. */
export interface Background {
  /** The user's waiting messages are read when there is time: by a model, when some have gathered; by the rules, soon. */
  later(scope: Scope, options?: { readonly isUnheard?: boolean }): void;
  /** To be called after each write: with a remote embedder, it may have left units to embed. */
  written(): void;
  /** Embeds what waits in the caller's own time, with its errors; what runs in the background makes room for it. */
  embedNow(signal?: AbortSignal): AsyncGenerator<EmbedProgress, void, void>;
  embedding(): Promise<Embedding>;
  jobs(): Promise<JobState[]>;
  /** Something that was set aside is to be tried again. */
  again(job: JobName): void;
  stop(): Promise<void>;
}

/** First answers first: what waits is looked for a moment after the start. */
const START_MS = 100;
const HOUSE_MS = 30_000;
const OFFERED_MS = 1000;
const A_LITTLE_MS = 500;

/**
 * Starts every job over its ports. What fails stays as it is in the record and is tried again, here or after the next
 * start.
 */
export function background(ports: Ports): Background {
  const stopping = new AbortController();
  const lingerMs = ports.modelExtractor?.lingerMs ?? 0;
  const gathered = gathering(lingerMs);
  const read = understanding(ports, gathered);
  const reading = runner(ports, read, stopping.signal);
  const vectors = runner(ports, embedding(ports), stopping.signal);
  const inTurn = oneByOne();
  const houses = TASKS.map((task) => runner(ports, whenCalm(inTurn(rounds(ports, task))), stopping.signal));
  const tidier = runner(ports, tidying(ports), stopping.signal);
  const all = [reading, vectors, ...houses, tidier];
  const startAll = (): void => {
    // One after the other, and not within the time that a command takes.
    for (const [i, house] of houses.entries()) house.start(HOUSE_MS * (i + 1));
    tidier.start(HOUSE_MS * (houses.length + 1));
    vectors.start(START_MS);
    reading.start(START_MS);
  };
  if (!ports.leavesJobs) startAll();
  const offered = ports.leavesJobs ? undefined : workingAt(ports.queue, all);
  let timer: NodeJS.Timeout | undefined;
  const readRipe = (): void => {
    const ripe = gathered.take();
    for (const scope of ripe) read.ask(scope);
    if (ripe.length > 0) reading.later();
    const next = gathered.next();
    clearTimeout(timer);
    if (next !== undefined && !stopping.signal.aborted) timer = setTimeout(readRipe, next).unref();
  };
  return {
    later(scope, { isUnheard = false } = {}) {
      if (ports.leavesJobs) {
        // Whoever does it looks for what waits, and passes over what is newer than that.
        const afterMs = Math.max(YOUNG_MS, isUnheard ? 0 : lingerMs) + A_LITTLE_MS;
        return ports.queue?.offer(read.name, { afterMs });
      }
      if (isUnheard) {
        read.ask(scope);
        return reading.later();
      }
      gathered.add(scope);
      readRipe();
    },
    written() {
      if (ports.embedder.local) return;
      if (ports.leavesJobs) ports.queue?.offer("embedding");
      else vectors.later();
    },
    embedNow: (signal) => vectors.now((stopped) => embedPending(ports, stopped), signal),
    async embedding() {
      const problem = vectors.problem();
      return {
        space: ports.embedder.fingerprint,
        left: await countPending(ports),
        running: vectors.isRunning(),
        ...(problem === undefined ? {} : { problem }),
      };
    },
    jobs: async () => withSetAside(ports, await Promise.all(all.map((one) => one.state()))),
    again(job) {
      const one = all.find(({ name }) => name === job);
      if (ports.leavesJobs) ports.queue?.offer(job);
      else one?.later();
    },
    async stop() {
      stopping.abort(new MemoryError("unavailable", "this memory has been closed."));
      clearTimeout(timer);
      dropQueries(ports.embedder);
      await offered?.end();
      await Promise.all(all.map((one) => one.end()));
    },
  };
}

/**
 * Has every job carried out that a queue offers, from a moment after the start on: a command that is over by then has nobody
 * wait for it. A queue that cannot be had is done without: the jobs come by themselves.
 */
function workingAt(
  queue: Queue | undefined,
  all: readonly Runner[],
): { readonly end: () => Promise<void> } | undefined {
  if (!queue) return undefined;
  let ends: readonly Promise<() => Promise<void>>[] = [];
  const timer = setTimeout(() => {
    ends = all.map((one) => queue.work(one.name, one.offered).catch(() => async () => {}));
  }, OFFERED_MS);
  timer.unref();
  return {
    async end() {
      clearTimeout(timer);
      await Promise.all(ends.map(async (end) => (await end)()));
    },
  };
}
