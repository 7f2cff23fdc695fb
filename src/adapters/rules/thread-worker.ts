import { clearWordCaches } from "../../domain/search/search-terms.ts";
import { runInShares } from "../../domain/time-slicing.ts";
import { englishExtractor } from "../../language/en/extractor.ts";
import { type ReadRequest, readRequest } from "../../language/en/grammar/forgetting/request-network.ts";
import { type Flat, type KnownMemory, unflattened } from "../../language/en/grammar/known-memory.ts";
import { isKnownWord } from "../../language/en/grammar/words/tagger.ts";
import { type Rating, rateWindow, type WindowToRate } from "../../language/en/transformer/reader.ts";
import type { Proposal, Reading } from "../../ports/language/extractor.ts";
import { serveInThread } from "../shared/worker-channel.ts";

/** What the thread is asked, with what it needs of the memories that ended, once it has said that it needs them. */
export type ThreadRequest = AskedReading | AskedRating | AskedSentence | "drop words";

/** A sentence that may ask to forget. */
interface AskedSentence {
  readonly sentence: string;
}

interface AskedRating {
  readonly window: WindowToRate;
  readonly rating: Rating;
}

interface AskedReading {
  readonly messages: Reading["messages"];
  readonly earlier: Reading["earlier"];
  readonly known: Flat;
  readonly ended?: Flat;
}

export type Read = readonly Proposal[] | Rated | ReadRequest | "wants what ended" | "failed";

/** The probability of each clause of a window. */
interface Rated {
  readonly probabilities: readonly number[];
}

class WantsEnded extends Error {}

const rules = englishExtractor();
// The first message would wait for the reader and for the tagger's dictionary.
await rules.propose({ messages: [], earlier: [], known: [] });
isKnownWord("a");

serveInThread(async (asked: ThreadRequest): Promise<Read> => {
  try {
    return await read(asked);
  } catch (error) {
    return error instanceof WantsEnded ? "wants what ended" : "failed";
  }
});

async function read(asked: ThreadRequest): Promise<Read> {
  if (asked === "drop words") {
    clearWordCaches();
    return [];
  }
  if ("window" in asked) return { probabilities: await rateWindow(asked.window, asked.rating, runInShares) };
  if ("sentence" in asked) return readRequest(asked.sentence);
  const { messages, earlier, known, ended } = asked;
  const wanted = (): readonly KnownMemory[] => {
    if (!ended) throw new WantsEnded();
    return unflattened(ended);
  };
  return rules.propose({ messages, earlier, known: unflattened(known), ended: wanted });
}
