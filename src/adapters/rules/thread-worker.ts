import { parentPort } from "node:worker_threads";
import type { Memory } from "../../domain/memory.ts";
import type { Proposal, Reading } from "../../ports/extractor.ts";
import { rulesExtractor } from "./index.ts";
import { isKnownWord } from "./words/tagger.ts";

/** What the thread is asked, with what it needs of the memories that ended, once it has said that it needs them. */
export interface Asked {
  readonly number: number;
  readonly reading: Pick<Reading, "messages" | "earlier" | "known">;
  readonly ended?: readonly Memory[];
}

/** What it answers: "ready" comes first, of itself. */
export type Told = "ready" | { readonly number: number; readonly read: Read };
export type Read = readonly Proposal[] | "wants what ended" | "failed";

class WantsEnded extends Error {}

const rules = rulesExtractor();

async function read({ reading, ended }: Asked): Promise<Read> {
  const wanted = (): readonly Memory[] => {
    if (!ended) throw new WantsEnded();
    return ended;
  };
  try {
    return await rules.propose({ ...reading, ended: wanted });
  } catch (error) {
    return error instanceof WantsEnded ? "wants what ended" : "failed";
  }
}

const tell = (told: Told): void => parentPort?.postMessage(told);
parentPort?.on("message", async (asked: Asked) => tell({ number: asked.number, read: await read(asked) }));
// The first message would wait for the tagger's dictionary, too.
isKnownWord("a");
tell("ready");
