import type { CallHooks } from "../ports/calls.ts";
import type { Extractor } from "../ports/extractor.ts";
import type { LanguageModel } from "../ports/language-model.ts";
import { filterByConfidence } from "./confident.ts";
import { openModel } from "./model.ts";
import type { ModelSettings } from "./model-settings.ts";

/** What `createMemory` takes for the settings: who reads what is said, and who answers. */
export interface UnderstandingOptions {
  readonly model?: (hooks: CallHooks) => Promise<LanguageModel>;
  readonly extractor?: (hooks: CallHooks) => Promise<readonly Extractor[]>;
}

/**
 * Rules or a model, or both; each leaves out what it is less sure of than `threshold`. Everything is loaded when it is made.
 * `inThreads`: the rules read in a thread of their own.
 */
export function toUnderstandingOptions(
  named: ModelSettings | undefined,
  threshold: number | undefined,
  inThreads = false,
): UnderstandingOptions {
  const sure = (extractor: Extractor): Extractor =>
    threshold === undefined ? extractor : filterByConfidence(extractor, threshold);
  const rules = async (): Promise<Extractor> =>
    sure(
      inThreads
        ? (await import("../adapters/rules/thread.ts")).rulesInThread()
        : (await import("../adapters/rules/index.ts")).rulesExtractor(),
    );
  if (!named) return threshold === undefined ? {} : { extractor: async () => [await rules()] };
  let model: Promise<LanguageModel> | undefined;
  // One model for both, so that what one learns of its server the other knows.
  const made = (hooks: CallHooks): Promise<LanguageModel> => {
    model ??= openModel(named, hooks);
    return model;
  };
  return {
    model: made,
    async extractor(hooks) {
      const { modelExtractor } = await import("../adapters/model/index.ts");
      const { lingerMs } = named;
      const reading = modelExtractor(await made(hooks), lingerMs === undefined ? {} : { lingerMs });
      return [...(named.extractor === "both" ? [await rules()] : []), sure(reading)];
    },
  };
}
