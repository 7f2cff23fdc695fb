import { modelExtractor } from "./adapters/model/index.ts";
import { rulesExtractor } from "./adapters/rules/index.ts";
import { rulesInThread } from "./adapters/rules/thread.ts";
import { staticEmbedder } from "./adapters/static/index.ts";
import type { ErasureWatch } from "./engine/erasure-watch.ts";
import type { ModelServers } from "./engine/health/model-servers.ts";
import type { Ports } from "./engine/ports.ts";
import { readable } from "./engine/readable.ts";
import { requestsAlone } from "./engine/requests-alone.ts";
import { dropSweeps } from "./engine/understand/sweeps.ts";
import { invalid } from "./errors.ts";
import type { Made, MemoryOptions } from "./memory.ts";
import type { CallHooks } from "./ports/calls.ts";
import type { Extractor } from "./ports/extractor.ts";
import type { LanguageModel } from "./ports/language-model.ts";

/** The ports that understand: embedder, extractors and model, each as it was given or the default. */
export async function understandingOf(
  { embedder, extractor, model, inThreads }: MemoryOptions,
  hooks: CallHooks,
  { erasures, servers }: { readonly erasures: ErasureWatch; readonly servers: ModelServers },
): Promise<Pick<Ports, "embedder" | "extractor" | "modelExtractor" | "model">> {
  const answering = await made(model, servers.heard("model", hooks));
  const own = typeof extractor === "string" ? extractor : await made(extractor, hooks);
  const read = extractorsOf(own, answering, inThreads ? () => watchedRules(erasures) : rulesExtractor);
  const embedding = (await made(embedder, servers.heard("embedder", hooks))) ?? staticEmbedder();
  if (!embedding.local) servers.add("embedder");
  if (answering) servers.add("model");
  const found = {
    embedder: embedding,
    extractor: readable(read.extractor),
    ...(read.modelExtractor ? { modelExtractor: readable(read.modelExtractor) } : {}),
    ...(answering ? { model: answering } : {}),
  };
  erasures.watch((scope) => {
    found.embedder.letGo?.();
    dropSweeps(found.modelExtractor, scope);
  });
  return found;
}

/** The rules in a thread, which drops the words that it keeps when some were erased. */
function watchedRules(erasures: ErasureWatch): Extractor {
  const rules = rulesInThread();
  erasures.watch(rules.dropWords);
  return rules;
}

/** Who reads within the write, and who later. */
function extractorsOf(
  own: "rules" | "model" | "both" | Extractor | readonly Extractor[] | undefined,
  model: LanguageModel | undefined,
  rules: () => Extractor,
): Pick<Ports, "extractor" | "modelExtractor"> {
  if (typeof own === "object") {
    const all = "propose" in own ? [own] : own;
    const [remote] = all.filter(({ local }) => !local);
    const [extractor = requestsAlone(rules())] = all.filter(({ local }) => local);
    return { extractor, ...(remote ? { modelExtractor: remote } : {}) };
  }
  const who = own ?? (model ? "both" : "rules");
  if (who === "rules") return { extractor: rules() };
  if (!model) throw invalid(`extractor: "${who}" needs a model; give one as \`model\`.`);
  const extractor = who === "both" ? rules() : requestsAlone(rules());
  return { extractor, modelExtractor: modelExtractor(model) };
}

async function made<Port extends object>(
  given: Made<Port> | undefined,
  hooks: CallHooks,
): Promise<Port | undefined> {
  return typeof given === "function" ? given(hooks) : given;
}
