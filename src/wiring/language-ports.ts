import { modelExtractor } from "../adapters/model/index.ts";
import { rulesExtractor } from "../adapters/rules/index.ts";
import { rulesInThread } from "../adapters/rules/thread.ts";
import { staticEmbedder } from "../adapters/static/index.ts";
import type { ModelServers } from "../engine/admin/dependencies.ts";
import type { ErasureWatch } from "../engine/erase/erasure-watch.ts";
import { dropSweeps } from "../engine/ingest/confirmations.ts";
import { withErasuresOnly, withVisibleText } from "../engine/ingest/extractor-decorators.ts";
import type { Ports } from "../engine/ports.ts";
import { invalid } from "../errors.ts";
import type { Made, MemoryOptions } from "../memory.ts";
import type { Extractor } from "../ports/language/extractor.ts";
import type { LanguageModel } from "../ports/language/language-model.ts";
import type { CallHooks } from "../ports/language/model-calls.ts";

/** The ports that understand: embedder, extractors and model, each as it was given or the default. */
export async function openLanguagePorts(
  { embedder, extractor, model, inThreads }: MemoryOptions,
  hooks: CallHooks,
  { erasures, servers }: { readonly erasures: ErasureWatch; readonly servers: ModelServers },
): Promise<Pick<Ports, "embedder" | "extractor" | "modelExtractor" | "model">> {
  const answering = await makePort(model, servers.observe("model", hooks));
  const own = typeof extractor === "string" ? extractor : await makePort(extractor, hooks);
  const read = chooseExtractors(
    own,
    answering,
    inThreads ? () => createWatchedRules(erasures) : rulesExtractor,
  );
  const embedding = (await makePort(embedder, servers.observe("embedder", hooks))) ?? staticEmbedder();
  if (!embedding.local) servers.add("embedder");
  if (answering) servers.add("model");
  const found = {
    embedder: embedding,
    extractor: withVisibleText(read.extractor),
    ...(read.modelExtractor ? { modelExtractor: withVisibleText(read.modelExtractor) } : {}),
    ...(answering ? { model: answering } : {}),
  };
  erasures.watch((scope) => {
    found.embedder.evict?.();
    dropSweeps(found.modelExtractor, scope);
  });
  return found;
}

/** The rules in a thread, which drops the words that it keeps when some were erased. */
function createWatchedRules(erasures: ErasureWatch): Extractor {
  const rules = rulesInThread();
  erasures.watch(rules.dropWords);
  return rules;
}

/** Who reads within the write, and who later. */
function chooseExtractors(
  own: "rules" | "model" | "both" | Extractor | readonly Extractor[] | undefined,
  model: LanguageModel | undefined,
  rules: () => Extractor,
): Pick<Ports, "extractor" | "modelExtractor"> {
  if (typeof own === "object") {
    const all = "propose" in own ? [own] : own;
    const [remote] = all.filter(({ local }) => !local);
    const [extractor = withErasuresOnly(rules())] = all.filter(({ local }) => local);
    return { extractor, ...(remote ? { modelExtractor: remote } : {}) };
  }
  const who = own ?? (model ? "both" : "rules");
  if (who === "rules") return { extractor: rules() };
  if (!model) throw invalid(`extractor: "${who}" needs a model; give one as \`model\`.`);
  const extractor = who === "both" ? rules() : withErasuresOnly(rules());
  return { extractor, modelExtractor: modelExtractor(model) };
}

async function makePort<Port extends object>(
  given: Made<Port> | undefined,
  hooks: CallHooks,
): Promise<Port | undefined> {
  return typeof given === "function" ? given(hooks) : given;
}
