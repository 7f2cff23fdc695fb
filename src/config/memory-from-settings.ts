import { join } from "node:path";
import type { RecallOptions } from "../domain/recall.ts";
import type { Keepsake } from "../engine/api/keepsake.ts";
import { isMemoryError, MemoryError } from "../errors.ts";
import type { Embedder } from "../ports/language/embedder.ts";
import type { Extractor } from "../ports/language/extractor.ts";
import type { LanguageModel } from "../ports/language/language-model.ts";
import type { CallHooks } from "../ports/language/model-calls.ts";
import { readHomePlaces } from "./home-places.ts";
import type { EmbedderSettings } from "./models/embedder-settings.ts";
import type { ModelSettings } from "./openai-settings.ts";
import { toSettingError } from "./setting-names.ts";

/** The options of `createMemory` for extraction and answers. */
interface UnderstandingOptions {
  readonly model?: (hooks: CallHooks) => Promise<LanguageModel>;
  readonly extractor?: (hooks: CallHooks) => Promise<readonly Extractor[]>;
}

/**
 * Gives the extractor (rules, a model, or both) and the model. Facts with a confidence below `threshold` are left out.
 * Code is loaded on first use. `inThreads` runs the rules in a separate thread.
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
  const models = new Map<string, Promise<LanguageModel>>();
  // One model for both uses if they have the same name, so that they share the state of its server.
  const open = (name: string, hooks: CallHooks): Promise<LanguageModel> => {
    const model = models.get(name) ?? openModel({ ...named, model: name }, hooks);
    models.set(name, model);
    return model;
  };
  const { model, extractionModel = model, answerModel = model } = named;
  return {
    model: (hooks) => open(answerModel, hooks),
    async extractor(hooks) {
      const { modelExtractor } = await import("../adapters/model/index.ts");
      const { lingerMs, links } = named;
      const reading = modelExtractor(await open(extractionModel, hooks), {
        ...(lingerMs === undefined ? {} : { lingerMs }),
        ...(links === undefined ? {} : { links }),
      });
      return [...(named.extractor === "both" ? [await rules()] : []), sure(reading)];
    },
  };
}

/** Maps an adapter's option to its setting. */
const MODEL_SETTING_NAMES: { readonly [option: string]: string } = {
  apiKey: "OPENAI_API_KEY",
  baseUrl: "OPENAI_BASE_URL",
  apiVersion: "OPENAI_API_VERSION",
  model: "OPENAI_MODEL",
  timeoutMs: "KEEPSAKE_MODEL_TIMEOUT_MS",
};

/** Loads and opens the configured model. Throws `invalid_input` with the name of a wrong setting. */
export async function openModel(
  {
    extractor: _who,
    lingerMs: _lingers,
    links: _links,
    extractionModel: _x,
    answerModel: _a,
    ...options
  }: ModelSettings,
  hooks: CallHooks = {},
): Promise<LanguageModel> {
  const { openaiModel } = await import("../adapters/openai/index.ts");
  try {
    return openaiModel({ ...options, ...hooks });
  } catch (error) {
    throw toSettingError(error, MODEL_SETTING_NAMES);
  }
}

/** Describes who extracts memories, and where messages are sent for it; and who answers, if another model does. */
export function describeExtractor(settings: ModelSettings | undefined): string {
  if (!settings) return "Memories are extracted by rules, on this machine.";
  const { extractor, model, extractionModel = model, answerModel = model, baseUrl } = settings;
  const host = new URL(baseUrl ?? "https://api.openai.com").host;
  const who = extractor === "both" ? `rules and ${extractionModel}` : extractionModel;
  const answers = answerModel === extractionModel ? "" : ` Answers are written by ${answerModel}.`;
  return `Memories are extracted by ${who} at ${host}.${answers} KEEPSAKE_EXTRACTOR=rules keeps messages on this machine.`;
}

/** Maps an adapter's option to its setting. */
const EMBEDDER_SETTING_NAMES: { readonly [option: string]: string } = {
  apiKey: "OPENAI_API_KEY",
  baseUrl: "OPENAI_BASE_URL",
  apiVersion: "OPENAI_API_VERSION",
  model: "EMBEDDING_MODEL",
  dimensions: "KEEPSAKE_EMBEDDING_DIMENSIONS",
  modelPath: "KEEPSAKE_MODEL_PATH",
};

/** Maps an adapter's option to the field of a named embedder. */
const FIELD_NAMES: { readonly [option: string]: string } = {
  apiKey: "key_variable",
  baseUrl: "base_url",
  apiVersion: "api_version",
  model: "model",
  dimensions: "dimensions",
  modelPath: "path",
  duplicateFloor: "duplicate_floor",
  floor: "floor",
};

/**
 * Loads and opens an embedder: the one of all users, or one of those by name. Throws `invalid_input` with the name of a wrong
 * setting.
 */
export async function openEmbedder(
  { name, ...options }: EmbedderSettings,
  hooks: CallHooks = {},
  entry?: string,
): Promise<Embedder> {
  try {
    if (name === "static") return (await import("../adapters/static/index.ts")).staticEmbedder();
    if (name === "minilm") return (await import("../adapters/minilm/index.ts")).minilmEmbedder(options);
    const { state } = readHomePlaces();
    const kept = state === undefined ? {} : { profilesPath: join(state, "keepsake", "embedders") };
    if (name === "sentence-transformers") {
      const { sentenceTransformersEmbedder } = await import("../adapters/sentence-transformers/index.ts");
      return await sentenceTransformersEmbedder({ ...options, ...kept });
    }
    return (await import("../adapters/openai/index.ts")).openaiEmbedder({ ...options, ...kept, ...hooks });
  } catch (error) {
    // A start that ends here says which setting asked for it.
    if (entry === undefined && isMemoryError(error) && error.code === "unsupported") {
      const setting = options.modelPath === undefined ? "EMBEDDING_MODEL" : "KEEPSAKE_MODEL_PATH";
      throw new MemoryError("unsupported", `${setting} cannot be used: ${error.message}`, { cause: error });
    }
    throw toSettingError(error, entry === undefined ? EMBEDDER_SETTING_NAMES : toFieldPlaces(entry));
  }
}

function toFieldPlaces(entry: string): { readonly [option: string]: string } {
  return Object.fromEntries(
    Object.entries(FIELD_NAMES).map(([option, field]) => [option, `KEEPSAKE_EMBEDDERS: ${entry}.${field}`]),
  );
}

/** Wraps an extractor: leaves out facts with a confidence below `threshold`, but keeps changes and requests to forget. */
function filterByConfidence(extractor: Extractor, threshold: number): Extractor {
  return {
    ...extractor,
    async propose(reading, options) {
      const proposals = await extractor.propose(reading, options);
      return proposals.filter((one) => one.propose !== "add" || one.confidence >= threshold);
    },
  };
}

/** Gives the same memory with default options for recalls and answers. */
export function withDefaults(
  keepsake: Keepsake,
  defaults: Pick<RecallOptions, "limit" | "maxTokens">,
): Keepsake {
  return {
    ...keepsake,
    scope(named) {
      const memory = keepsake.scope(named);
      return {
        ...memory,
        recall: (query, options) => memory.recall(query, { ...defaults, ...options }),
        answer: (question, options) => memory.answer(question, { ...defaults, ...options }),
        answerStream: (question, options) => memory.answerStream(question, { ...defaults, ...options }),
      };
    },
  };
}
