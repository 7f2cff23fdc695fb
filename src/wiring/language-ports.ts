import { modelExtractor } from "../adapters/model/index.ts";
import { rulesInThread } from "../adapters/rules/thread.ts";
import { staticEmbedder } from "../adapters/static/index.ts";
import type { ErasureWatch } from "../engine/api/erasure-watch.ts";
import { dropSweeps } from "../engine/ingest/confirmations.ts";
import type { Ports } from "../engine/ports.ts";
import type { ModelServers } from "../engine/services.ts";
import { invalid } from "../errors.ts";
import { englishAnswerer } from "../language/en/answers/answers.ts";
import { englishExtractor } from "../language/en/extractor.ts";
import { englishForgetRequests } from "../language/en/forget-requests/forget-requests.ts";
import { createNeedReader } from "../language/en/needs/needs.ts";
import { createOutdatedReader, forgetStatements } from "../language/en/needs/outdated-statements.ts";
import { englishProfileWriter } from "../language/en/profile/profile-lines.ts";
import { englishPromptGuard } from "../language/en/prompt-injection/prompt-guard.ts";
import { rulesQuestionReader } from "../language/en/questions/questions.ts";
import { warmed } from "../language/en/questions/warm.ts";
import { englishVocabulary } from "../language/en/vocabulary.ts";
import type { Made, MemoryOptions } from "../memory-options.ts";
import type { Embedder } from "../ports/language/embedder.ts";
import type { Extractor } from "../ports/language/extractor.ts";
import type { LanguageModel } from "../ports/language/language-model.ts";
import type { CallHooks } from "../ports/language/model-calls.ts";
import { withErasuresOnly, withVisibleText } from "./extractor-decorators.ts";

/** Opens the embedder, extractors, model, reranker and describer: the given ones or the defaults. */
export async function openLanguagePorts(
  { embedder, extractor, model, reranker, describer, inThreads }: MemoryOptions,
  hooks: CallHooks,
  { erasures, servers }: { readonly erasures: ErasureWatch; readonly servers: ModelServers },
): Promise<Pick<Ports, "embedder" | "extractor" | "modelExtractor" | "model" | "reranker" | "describer">> {
  const openedModel = await makePort(model, servers.observe("model", hooks));
  const chosen = typeof extractor === "string" ? extractor : await makePort(extractor, hooks);
  const extractors = chooseExtractors(
    chosen,
    openedModel,
    inThreads ? () => createWatchedRules(erasures) : englishExtractor,
  );
  const openedEmbedder = (await makePort(embedder, servers.observe("embedder", hooks))) ?? staticEmbedder();
  const openedReranker = await makePort(reranker, servers.observe("reranker", hooks));
  const openedDescriber = await makePort(describer, hooks);
  if (!openedEmbedder.local) servers.add("embedder");
  if (openedReranker?.local === false) servers.add("reranker");
  if (openedModel) servers.add("model");
  const ports = {
    embedder: openedEmbedder,
    extractor: withVisibleText(extractors.extractor),
    ...(extractors.modelExtractor ? { modelExtractor: withVisibleText(extractors.modelExtractor) } : {}),
    ...(openedModel ? { model: openedModel } : {}),
    ...(openedReranker ? { reranker: openedReranker } : {}),
    ...(openedDescriber ? { describer: openedDescriber } : {}),
  };
  erasures.watch((scope) => {
    ports.embedder.evict?.();
    forgetStatements();
    dropSweeps(ports.modelExtractor, scope);
  });
  return ports;
}

/** Opens what reads and writes English. Questions are read by the option `questions` if it is given. */
export function openEnglish(
  { questions: given, inThreads }: MemoryOptions,
  embedder: Embedder,
): Pick<
  Ports,
  | "questions"
  | "answerer"
  | "needs"
  | "outdated"
  | "profileWriter"
  | "forgetRequests"
  | "promptGuard"
  | "vocabulary"
> {
  const questions = given ?? (inThreads ? warmed(rulesQuestionReader()) : rulesQuestionReader());
  return {
    questions,
    answerer: englishAnswerer({ questions, embedder }),
    needs: createNeedReader(embedder),
    outdated: createOutdatedReader(embedder.local ? embedder : staticEmbedder()),
    profileWriter: englishProfileWriter,
    forgetRequests: englishForgetRequests(questions, embedder),
    promptGuard: englishPromptGuard,
    vocabulary: englishVocabulary,
  };
}

/** Opens the built-in rules, which read what a person sees. */
export const openVisibleRules = (): Extractor => withVisibleText(englishExtractor());

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
