import type { Memory } from "../../domain/memory.ts";
import type { Proposal, Reading } from "../../ports/extractor.ts";
import { answering } from "../shared/thread-line.ts";
import { rulesExtractor } from "./index.ts";
import { isKnownWord } from "./words/tagger.ts";

/** What the thread is asked, with what it needs of the memories that ended, once it has said that it needs them. */
export interface Asked {
  readonly reading: Pick<Reading, "messages" | "earlier" | "known">;
  readonly ended?: readonly Memory[];
}

export type Read = readonly Proposal[] | "wants what ended" | "failed";

class WantsEnded extends Error {}

const rules = rulesExtractor();
// The first message would wait for the tagger's dictionary.
isKnownWord("a");

answering(async ({ reading, ended }: Asked): Promise<Read> => {
  const wanted = (): readonly Memory[] => {
    if (!ended) throw new WantsEnded();
    return ended;
  };
  try {
    return await rules.propose({ ...reading, ended: wanted });
  } catch (error) {
    return error instanceof WantsEnded ? "wants what ended" : "failed";
  }
});
