import { Worker } from "node:worker_threads";
import { englishExtractor } from "../../language/en/extractor.ts";
import { type ReadSentence, readRequest } from "../../language/en/grammar/forgetting/request-network.ts";
import { flattened, type RulesReading } from "../../language/en/grammar/known-memory.ts";
import { type RateWindow, rateWindow } from "../../language/en/transformer/reader.ts";
import type { Extractor, Proposal } from "../../ports/language/extractor.ts";
import {
  openWorkerChannel,
  resolveWorkerScript,
  type WorkerChannel,
  type WorkerHandle,
} from "../shared/worker-channel.ts";
import { createReadingTurns } from "./reading-turns.ts";
import type { Read, ThreadRequest } from "./thread-worker.ts";

/** How long an answer waits for the reader while it reads for others, in ms. */
const WAIT_MS = 2000;
/** After a thread has ended by itself, the next one is begun no sooner than this. */
const REST_MS = 10_000;
/** Of memory, in MB; what takes more would end the program, were it not in a thread. */
const MOST_MEGABYTES = 512;

/** The rules and the readers of windows and of single sentences, in a thread. */
export interface RulesThread extends Extractor {
  readonly rateWindow: RateWindow;
  readonly readRequest: ReadSentence;
  /** Has the thread drop the words that it keeps for later, once it has read what it is reading. */
  dropWords(): Promise<unknown>;
}

interface RulesThreadOptions {
  readonly begin?: () => WorkerHandle;
  /** How long an answer waits for the reader, in ms (2,000). */
  readonly waitMs?: number | undefined;
}

/**
 * The rules and the readers, in a separate thread. On a server, a long message or a request to forget would block all other
 * requests while it is read, for up to half a second. The results are the same. If the thread fails, the caller's thread reads.
 */
export function rulesInThread({ begin = begun, waitMs = WAIT_MS }: RulesThreadOptions = {}): RulesThread {
  const own = englishExtractor();
  const turns = createReadingTurns(waitMs);
  let line: WorkerChannel<ThreadRequest, Read> | undefined;
  let endedAt = Number.NEGATIVE_INFINITY;
  const open = (): WorkerChannel<ThreadRequest, Read> | undefined => {
    if (line || performance.now() - endedAt < REST_MS) return line;
    line = openWorkerChannel(begin, () => {
      line = undefined;
      endedAt = performance.now();
    });
    return line;
  };
  open();
  return {
    name: own.name,
    local: own.local,
    dropWords: async () => line?.request("drop words"),
    rateWindow: (window, rating, use) =>
      turns.read(async () => {
        const told = (await open()?.request({ window, rating }))?.told;
        return typeof told === "object" && "probabilities" in told
          ? told.probabilities
          : rateWindow(window, rating);
      }, use),
    async readRequest(sentence) {
      const told = (await open()?.request({ sentence }))?.told;
      return typeof told === "object" && "probability" in told ? told : readRequest(sentence);
    },
    async propose(reading, options) {
      options?.signal?.throwIfAborted();
      const proposals = await readOver(open(), reading);
      options?.signal?.throwIfAborted();
      return proposals ?? own.propose(reading, options);
    },
  };
}

/** Nothing where the thread could not read it. */
async function readOver(
  line: WorkerChannel<ThreadRequest, Read> | undefined,
  given: RulesReading,
): Promise<Proposal[] | undefined> {
  const { messages, earlier } = given;
  const asked = { messages, earlier, known: flattened(given.known) };
  let outcome = await line?.request(asked);
  if (outcome?.told === "wants what ended") {
    outcome = await line?.request({ ...asked, ended: flattened(given.ended?.() ?? []) });
  }
  const told = outcome?.told;
  return Array.isArray(told) ? [...told] : undefined;
}

function begun(): WorkerHandle {
  return new Worker(resolveWorkerScript(import.meta.url, "./thread-worker"), {
    name: "rules",
    resourceLimits: { maxOldGenerationSizeMb: MOST_MEGABYTES },
  });
}
