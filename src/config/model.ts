import { invalid, isMemoryError } from "../errors.ts";
import type { CallHooks } from "../ports/calls.ts";
import type { LanguageModel } from "../ports/language-model.ts";
import type { ModelSettings } from "./model-settings.ts";

/** An adapter's option -> the setting that it comes from. */
const MODEL_SETTING_NAMES: { readonly [option: string]: string } = {
  apiKey: "OPENAI_API_KEY",
  baseUrl: "OPENAI_BASE_URL",
  apiVersion: "OPENAI_API_VERSION",
  model: "OPENAI_MODEL",
  timeoutMs: "KEEPSAKE_MODEL_TIMEOUT_MS",
};

/** The model that the settings name; it is loaded here. `invalid_input` names the setting that does not fit. */
export async function openModel(
  { extractor: _who, lingerMs: _lingers, ...options }: ModelSettings,
  hooks: CallHooks = {},
): Promise<LanguageModel> {
  const { openaiModel } = await import("../adapters/openai/index.ts");
  try {
    return openaiModel({ ...options, ...hooks });
  } catch (error) {
    throw toSettingError(error, MODEL_SETTING_NAMES);
  }
}

/** An adapter's complaint about an option, as one about the setting that it came from. */
export function toSettingError(error: unknown, settings: { readonly [option: string]: string }): unknown {
  const [, option = "", rest = ""] = (isMemoryError(error) && /^(\w+)(:.*)$/s.exec(error.message)) || [];
  const setting = Object.hasOwn(settings, option) ? settings[option] : undefined;
  return setting === undefined ? error : invalid(`${setting}${rest}`);
}

/** Who understands what is said, and where the words go for it: for whoever starts a program. */
export function describeExtractor(settings: ModelSettings | undefined): string {
  if (!settings) return "Understood by rules, on this machine.";
  const { extractor, model, baseUrl } = settings;
  const host = new URL(baseUrl ?? "https://api.openai.com").host;
  const who = extractor === "both" ? `rules and ${model}` : model;
  return `Understood by ${who} at ${host}; KEEPSAKE_EXTRACTOR=rules keeps the words here.`;
}
