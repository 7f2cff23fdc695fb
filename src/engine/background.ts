import { type Scope, scopeKey } from "../domain/scope.ts";
import { isMemoryError, MemoryError } from "../errors.ts";
import { digestPending } from "./digest-pending.ts";
import { countPending, type EmbedProgress, embedPending } from "./embed-pending.ts";
import type { Ports } from "./ports.ts";
import { dropQueries } from "./query-vector.ts";
import type { Embedding } from "./surface.ts";

/** Work that no caller waits for. It has an owner: `stop` breaks it off and waits for its end. */
export interface Background {
  /** Reads the user's waiting messages when there is time; one reading per user at once. */
  later(scope: Scope): void;
  /** To be called after each write: with a remote embedder, it may have left units to embed. */
  written(): void;
  /** The same in the caller's own time, with its errors; what runs in the background makes room for it. */
  embedNow(signal?: AbortSignal): AsyncGenerator<EmbedProgress, void, void>;
  embedding(): Promise<Embedding>;
  stop(): Promise<void>;
}

/** First answers first: what waits for the embedder is looked for a moment after the start. */
const START_MS = 100;
const FIRST_PAUSE_MS = 1000;
const LONGEST_PAUSE_MS = 60_000;

/**
 * Reads waiting messages, and embeds waiting units. What fails stays pending in the record: the next write of the user, or
 * the next start, tries again, so a failure here is nobody's to catch.
 */
export function background(ports: Ports): Background {
  const stopping = new AbortController();
  const running = new Map<string, Promise<void>>();
  const embedding = embeddingWork(ports, stopping.signal);
  return {
    later(scope) {
      const key = scopeKey(scope);
      if (!ports.extractor.local || running.has(key) || stopping.signal.aborted) return;
      const reading = digestPending(ports, scope, stopping.signal).then(
        () => {},
        () => {},
      );
      running.set(key, reading);
      void reading.then(() => {
        running.delete(key);
        embedding.written();
      });
    },
    written: embedding.written,
    embedNow: embedding.now,
    embedding: embedding.state,
    async stop() {
      stopping.abort(new MemoryError("unavailable", "this memory has been closed."));
      dropQueries(ports.embedder);
      await Promise.all([...running.values(), embedding.end()]);
    },
  };
}

interface EmbeddingWork {
  written(): void;
  now(signal?: AbortSignal): AsyncGenerator<EmbedProgress, void, void>;
  state(): Promise<Embedding>;
  /** Resolves when nothing runs any more; the signal given must be aborted before. */
  end(): Promise<void>;
}

/** One run at a time, over all users. After a failure it pauses, longer each time, and goes on. */
function embeddingWork(ports: Ports, stopped: AbortSignal): EmbeddingWork {
  let run: { readonly ended: Promise<void>; readonly makeRoom: AbortController } | undefined;
  let isAskedAgain = false;
  let inForeground = 0;
  let problem: string | undefined;
  const start = setTimeout(() => later(), START_MS);
  start.unref();

  const once = async (signal: AbortSignal): Promise<boolean> => {
    try {
      for await (const _ of embedPending(ports, signal)) problem = undefined;
      problem = undefined;
      return true;
    } catch (error) {
      if (!signal.aborted) problem = problemOf(error);
      return false;
    }
  };
  const untilDone = async (signal: AbortSignal): Promise<void> => {
    for (let failures = 0; !signal.aborted; failures += 1) {
      isAskedAgain = false;
      if (await once(signal)) {
        if (!isAskedAgain) return;
        failures = -1;
      } else await rest(Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** failures), signal);
    }
  };
  const later = (): void => {
    isAskedAgain = true;
    if (run || inForeground > 0 || stopped.aborted) return;
    const makeRoom = new AbortController();
    const ended = untilDone(AbortSignal.any([stopped, makeRoom.signal])).finally(() => {
      run = undefined;
      // Asked in the moment between the last look and now.
      if (isAskedAgain && !makeRoom.signal.aborted) later();
    });
    run = { ended, makeRoom };
  };

  return {
    written() {
      if (!ports.embedder.local) later();
    },
    async *now(signal) {
      inForeground += 1;
      try {
        run?.makeRoom.abort();
        await run?.ended;
        yield* embedPending(ports, AbortSignal.any([stopped, ...(signal ? [signal] : [])]));
        problem = undefined;
      } finally {
        inForeground -= 1;
        // What came since, or is left of it.
        later();
      }
    },
    async state() {
      return {
        space: ports.embedder.fingerprint,
        left: await countPending(ports),
        running: run !== undefined,
        ...(problem === undefined ? {} : { problem }),
      };
    },
    async end() {
      clearTimeout(start);
      await run?.ended;
    },
  };
}

function problemOf(error: unknown): string {
  return isMemoryError(error) ? error.message : "the embedder failed in a way that it should not.";
}

/** A pause that ends early with the signal, and holds up no end of the program. */
function rest(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      signal.removeEventListener("abort", done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    timer.unref();
    signal.addEventListener("abort", done, { once: true });
    if (signal.aborted) done();
  });
}
