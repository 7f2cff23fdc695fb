import type { Scope } from "../../domain/scope.ts";
import { MemoryError } from "../../errors.ts";
import { countPending, type EmbedProgress, embedPending } from "../embed-pending.ts";
import type { Ports } from "../ports.ts";
import { dropQueries } from "../query-vector.ts";
import type { Embedding, JobState } from "../surface.ts";
import { embedding } from "./embedding.ts";
import { gathering } from "./gathering.ts";
import { oneByOne } from "./one-by-one.ts";
import { TASKS } from "./optimize.ts";
import { rounds } from "./rounds.ts";
import { runner } from "./runner.ts";
import { tidying } from "./tidying.ts";
import { understanding } from "./understanding.ts";
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
  stop(): Promise<void>;
}

/** First answers first: what waits is looked for a moment after the start. */
const START_MS = 100;
const HOUSE_MS = 30_000;

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
  // One after the other, and not within the time that a command takes.
  for (const [i, house] of houses.entries()) house.start(HOUSE_MS * (i + 1));
  tidier.start(HOUSE_MS * (houses.length + 1));
  vectors.start(START_MS);
  reading.start(START_MS);
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
      if (isUnheard) {
        read.ask(scope);
        return reading.later();
      }
      gathered.add(scope);
      readRipe();
    },
    written() {
      if (!ports.embedder.local) vectors.later();
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
    jobs: () => Promise.all(all.map((one) => one.state())),
    async stop() {
      stopping.abort(new MemoryError("unavailable", "this memory has been closed."));
      clearTimeout(timer);
      dropQueries(ports.embedder);
      await Promise.all(all.map((one) => one.end()));
    },
  };
}
