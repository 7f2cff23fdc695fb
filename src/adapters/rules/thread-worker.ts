import { clearWordCaches } from "../../domain/search/search-terms.ts";
import { englishExtractor } from "../../language/en/extractor.ts";
import { type Flat, type KnownMemory, unflattened } from "../../language/en/grammar/known-memory.ts";
import { isKnownWord } from "../../language/en/grammar/words/tagger.ts";
import type { Proposal, Reading } from "../../ports/language/extractor.ts";
import { serveInThread } from "../shared/worker-channel.ts";

/** What the thread is asked, with what it needs of the memories that ended, once it has said that it needs them. */
export type ThreadRequest = AskedReading | "drop words";

interface AskedReading {
  readonly messages: Reading["messages"];
  readonly earlier: Reading["earlier"];
  readonly known: Flat;
  readonly ended?: Flat;
}

export type Read = readonly Proposal[] | "wants what ended" | "failed";

class WantsEnded extends Error {}

const rules = englishExtractor();
// The first message would wait for the reader and for the tagger's dictionary.
await rules.propose({ messages: [], earlier: [], known: [] });
isKnownWord("a");

serveInThread(async (asked: ThreadRequest): Promise<Read> => {
  if (asked === "drop words") {
    clearWordCaches();
    return [];
  }
  const { messages, earlier, known, ended } = asked;
  const wanted = (): readonly KnownMemory[] => {
    if (!ended) throw new WantsEnded();
    return unflattened(ended);
  };
  try {
    return await rules.propose({ messages, earlier, known: unflattened(known), ended: wanted });
  } catch (error) {
    return error instanceof WantsEnded ? "wants what ended" : "failed";
  }
});
