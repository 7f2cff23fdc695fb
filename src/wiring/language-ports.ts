import { modelExtractor } from "../adapters/model/index.ts";
import { rulesInThread } from "../adapters/rules/thread.ts";
import { staticEmbedder } from "../adapters/static/index.ts";
import type { ModelServers } from "../engine/admin/dependencies.ts";
import type { ErasureWatch } from "../engine/erase/erasure-watch.ts";
import { dropSweeps } from "../engine/ingest/confirmations.ts";
import { withErasuresOnly, withVisibleText } from "../engine/ingest/extractor-decorators.ts";
import type { Ports } from "../engine/ports.ts";
import { invalid } from "../errors.ts";
import { rulesExtractor } from "../language/en/grammar/rules.ts";
import type { Made, MemoryOptions } from "../memory.ts";
import type { Extractor } from "../ports/language/extractor.ts";
import type { LanguageModel } from "../ports/language/language-model.ts";
import type { CallHooks } from "../ports/language/model-calls.ts";

/** Opens the embedder, extractors and model: the given ones or the defaults. */
export async function openLanguagePorts(
  { embedder, extractor, model, inThreads }: MemoryOptions,
  hooks: CallHooks,
  { erasures, servers }: { readonly erasures: ErasureWatch; readonly servers: ModelServers },
): Promise<Pick<Ports, "embedder" | "extractor" | "modelExtractor" | "model">> {
  const openedModel = await makePort(model, servers.observe("model", hooks));
  const chosen = typeof extractor === "string" ? extractor : await makePort(extractor, hooks);
  const extractors = chooseExtractors(
    chosen,
    openedModel,
    inThreads ? () => createWatchedRules(erasures) : rulesExtractor,
  );
  const openedEmbedder = (await makePort(embedder, servers.observe("embedder", hooks))) ?? staticEmbedder();
  if (!openedEmbedder.local) servers.add("embedder");
  if (openedModel) servers.add("model");
  const ports = {
    embedder: openedEmbedder,
    extractor: withVisibleText(extractors.extractor),
    ...(extractors.modelExtractor ? { modelExtractor: withVisibleText(extractors.modelExtractor) } : {}),
    ...(openedModel ? { model: openedModel } : {}),
  };
  erasures.watch((scope) => {
    ports.embedder.evict?.();
    dropSweeps(ports.modelExtractor, scope);
  });
  return ports;
}

/** Runs the rules in a thread, which drops its cached texts after an erasure. */
function createWatchedRules(erasures: ErasureWatch): Extractor {
  const rules = rulesInThread();
  erasures.watch(rules.dropWords);
  return rules;
}

/** Chooses the extractor during a write, and the later one. */
function chooseExtractors(
  chosen: "rules" | "model" | "both" | Extractor | readonly Extractor[] | undefined,
  model: LanguageModel | undefined,
  rules: () => Extractor,
): Pick<Ports, "extractor" | "modelExtractor"> {
  if (typeof chosen === "object") {
    const extractors = "propose" in chosen ? [chosen] : chosen;
    const [remote] = extractors.filter(({ local }) => !local);
    const [extractor = withErasuresOnly(rules())] = extractors.filter(({ local }) => local);
    return { extractor, ...(remote ? { modelExtractor: remote } : {}) };
  }
  const name = chosen ?? (model ? "both" : "rules");
  if (name === "rules") return { extractor: rules() };
  if (!model) throw invalid(`extractor: "${name}" needs a model. Set \`model\`.`);
  const extractor = name === "both" ? rules() : withErasuresOnly(rules());
  return { extractor, modelExtractor: modelExtractor(model) };
}

async function makePort<Port extends object>(
  given: Made<Port> | undefined,
  hooks: CallHooks,
): Promise<Port | undefined> {
  return typeof given === "function" ? given(hooks) : given;
}
