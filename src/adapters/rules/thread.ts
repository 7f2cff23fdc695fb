import { Worker } from "node:worker_threads";
import type { Extractor, Proposal, Reading } from "../../ports/extractor.ts";
import { rulesExtractor } from "./index.ts";
import type { Asked, Read, Told } from "./thread-worker.ts";

/** The part of a thread of Node that is used here. */
export type Thread = Pick<Worker, "postMessage" | "on" | "ref" | "unref">;

/** After a thread has ended by itself, the next one is begun no sooner than this. */
const REST_MS = 10_000;
/** Of memory, in MB; what takes more would end the program, were it not in a thread. */
const MOST_MEGABYTES = 512;

/**
 * The rules, in a thread of their own: for a server, where a long message would hold up everybody else for as long as it is
 * read, half a second at worst. It reads the same. Where the thread fails, the rules go on here.
 */
export function rulesInThread(begin: () => Thread = begun): Extractor {
  const own = rulesExtractor();
  let line: Line | undefined;
  let endedAt = Number.NEGATIVE_INFINITY;
  const open = (): Line | undefined => {
    if (line || performance.now() - endedAt < REST_MS) return line;
    line = lineTo(begin, () => {
      line = undefined;
      endedAt = performance.now();
    });
    return line;
  };
  open();
  return {
    name: own.name,
    local: own.local,
    async propose(reading, options) {
      options?.signal?.throwIfAborted();
      const proposals = await readOver(open(), reading);
      options?.signal?.throwIfAborted();
      return proposals ?? own.propose(reading, options);
    },
  };
}

/** Nothing where the thread could not read it. */
async function readOver(line: Line | undefined, given: Reading): Promise<Proposal[] | undefined> {
  const { messages, earlier, known } = given;
  const reading = { messages, earlier, known };
  let read = await line?.ask({ reading });
  if (read === "wants what ended") read = await line?.ask({ reading, ended: given.ended?.() ?? [] });
  return typeof read === "object" ? [...read] : undefined;
}

interface Line {
  ask(what: Omit<Asked, "number">): Promise<Read>;
}

function begun(): Thread {
  const file = import.meta.url.endsWith(".ts") ? "./thread-worker.ts" : "./thread-worker.js";
  return new Worker(new URL(file, import.meta.url), {
    name: "rules",
    resourceLimits: { maxOldGenerationSizeMb: MOST_MEGABYTES },
  });
}

/** Asks a thread, several at once; whoever still waits when it ends is told that it failed. */
function lineTo(begin: () => Thread, onEnd: () => void): Line {
  const waiting = new Map<number, (read: Read) => void>();
  let asked = 0;
  let isOver = false;
  const end = (): void => {
    if (isOver) return;
    isOver = true;
    ready.resolve();
    for (const answer of waiting.values()) answer("failed");
    waiting.clear();
    onEnd();
  };
  const ready = Promise.withResolvers<void>();
  const thread = begin();
  // It holds up no end of the program but while somebody waits for it.
  thread.unref();
  thread.on("message", (told: Told) => {
    if (told === "ready") return ready.resolve();
    waiting.get(told.number)?.(told.read);
    waiting.delete(told.number);
    if (waiting.size === 0) thread.unref();
  });
  thread.on("error", end);
  thread.on("exit", end);
  return {
    async ask(what) {
      thread.ref();
      await ready.promise;
      if (isOver) return "failed";
      asked += 1;
      const number = asked;
      const answer = new Promise<Read>((resolve) => waiting.set(number, resolve));
      thread.ref();
      thread.postMessage({ number, ...what } satisfies Asked);
      return answer;
    },
  };
}
