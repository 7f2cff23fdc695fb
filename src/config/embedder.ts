import type { CallHooks } from "../ports/calls.ts";
import type { Embedder } from "../ports/embedder.ts";
import { toSettingError } from "./model.ts";
import type { EmbedderSettings } from "./settings.ts";

/** An adapter's option -> the setting that it comes from. */
const EMBEDDER_SETTING_NAMES: { readonly [option: string]: string } = {
  apiKey: "OPENAI_API_KEY",
  baseUrl: "OPENAI_BASE_URL",
  apiVersion: "OPENAI_API_VERSION",
  model: "EMBEDDING_MODEL",
  dimensions: "KEEPSAKE_EMBEDDING_DIMENSIONS",
  modelPath: "KEEPSAKE_MODEL_PATH",
};

/** The embedder that the settings name; it is loaded here. `invalid_input` names the setting that does not fit. */
export async function openEmbedder(
  { name, ...options }: EmbedderSettings,
  hooks: CallHooks = {},
): Promise<Embedder> {
  try {
    if (name === "minilm") return (await import("../adapters/minilm/index.ts")).minilmEmbedder(options);
    return (await import("../adapters/openai/index.ts")).openaiEmbedder({ ...options, ...hooks });
  } catch (error) {
    throw toSettingError(error, EMBEDDER_SETTING_NAMES);
  }
}
