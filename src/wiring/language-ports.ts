import { modelExtractor } from "../adapters/model/index.ts";
import { type RulesThread, rulesInThread } from "../adapters/rules/thread.ts";
import { staticEmbedder } from "../adapters/static/index.ts";
import type { ErasureWatch } from "../engine/api/erasure-watch.ts";
import { checkEmbedderNames } from "../engine/embedders.ts";
import { dropSweeps } from "../engine/ingest/confirmations.ts";
import type { Ports } from "../engine/ports.ts";
import type { ModelServers } from "../engine/services.ts";
import { invalid, isMemoryError, type MemoryError } from "../errors.ts";
import { englishAnswerer } from "../language/en/answers/answers.ts";
import { englishExtractor } from "../language/en/extractor.ts";
import { englishForgetRequests } from "../language/en/forget-requests/forget-requests.ts";
import { createNeedReader } from "../language/en/needs/needs.ts";
import { createOutdatedReader, forgetStatements } from "../language/en/needs/outdated-statements.ts";
import { englishProfileWriter } from "../language/en/profile/profile-lines.ts";
import { englishPromptGuard } from "../language/en/prompt-injection/prompt-guard.ts";
import { rulesQuestionReader } from "../language/en/questions/questions.ts";
import { warmed } from "../language/en/questions/warm.ts";
import { englishReplies } from "../language/en/replies/replies.ts";
import { englishVocabulary } from "../language/en/vocabulary.ts";
import { capitalize } from "../language/en/word-forms.ts";
import type { Made, MemoryOptions } from "../memory-options.ts";
import type { Embedder } from "../ports/language/embedder.ts";
import type { Extractor } from "../ports/language/extractor.ts";
import type { LanguageModel } from "../ports/language/language-model.ts";
import type { CallHooks } from "../ports/language/model-calls.ts";
import { withErasuresOnly, withVisibleText } from "./extractor-decorators.ts";

/** Opens the embedder, extractors, model, reranker and describer: the given ones or the defaults. */
export async function openLanguagePorts(
  { embedder, extractor, model, reranker, describer }: MemoryOptions,
  hooks: CallHooks,
  {
    erasures,
    servers,
    thread,
  }: {
    readonly erasures: ErasureWatch;
    readonly servers: ModelServers;
    readonly thread: RulesThread | undefined;
  },
): Promise<Pick<Ports, "embedder" | "extractor" | "modelExtractor" | "model" | "reranker" | "describer">> {
  const openedModel = await makePort(model, servers.observe("model", hooks));
  const chosen = typeof extractor === "string" ? extractor : await makePort(extractor, hooks);
  checkForm("model", openedModel);
  if (typeof chosen === "object") for (const one of toExtractors(chosen)) checkForm("extractor", one);
  const extractors = chooseExtractors(chosen, openedModel, thread ? () => thread : englishExtractor);
  const openedEmbedder = (await makePort(embedder, servers.observe("embedder", hooks))) ?? staticEmbedder();
  const openedReranker = await makePort(reranker, servers.observe("reranker", hooks));
  const openedDescriber = await makePort(describer, hooks);
  checkForm("embedder", openedEmbedder);
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
    ports.embedder.cache?.clear();
    forgetStatements();
    dropSweeps(ports.modelExtractor, scope);
  });
  return ports;
}

/** The embedders of the option `embedders`. */
export interface NamedEmbedderSet {
  readonly names: readonly string[];
  readonly opened: ReadonlyMap<string, Embedder>;
  /** Why the others could not be opened. */
  readonly failures: ReadonlyMap<string, MemoryError>;
}

/**
 * Opens the embedders of the option `embedders`, all at once. One whose package, model or server is missing does not prevent the
 * start: it is among `failures`. Throws `invalid_input` for a wrong name or a wrong option of an embedder.
 */
export async function openNamedEmbedders(
  { embedders = {} }: MemoryOptions,
  hooks: CallHooks,
  { erasures, servers }: { readonly erasures: ErasureWatch; readonly servers: ModelServers },
): Promise<NamedEmbedderSet> {
  const names = Object.keys(embedders);
  checkEmbedderNames(names);
  const opened = new Map<string, Embedder>();
  const failures = new Map<string, MemoryError>();
  await Promise.all(
    Object.entries(embedders).map(async ([name, given]) => {
      try {
        const embedder = await makePort(given, servers.observe("embedder", hooks));
        if (!embedder) return;
        checkForm("embedder", embedder);
        if (!embedder.local) servers.add("embedder");
        opened.set(name, embedder);
      } catch (error) {
        if (!isMissing(error)) throw error;
        failures.set(name, error);
      }
    }),
  );
  erasures.watch(() => {
    for (const embedder of opened.values()) embedder.cache?.clear();
  });
  return { names: names.filter((name) => opened.has(name) || failures.has(name)), opened, failures };
}

/** Whether something outside of this program is missing, which another start may find. */
function isMissing(error: unknown): error is MemoryError {
  return isMemoryError(error) && (error.code === "unsupported" || error.code === "unavailable");
}

/** Messages for the operator about embedders that could not be opened. */
export function formatEmbedderNotices({ failures }: NamedEmbedderSet): string[] {
  return [...failures].map(
    ([name, { message }]) =>
      `The embedder "${name}" cannot be opened; texts of its users are found by their words. ${capitalize(message)}`,
  );
}

/** Opens what reads and writes English. Questions are read by the option `questions` if it is given, long windows in the thread. */
export function openEnglish(
  { questions: given, inThreads }: MemoryOptions,
  embedder: Embedder,
  thread: RulesThread | undefined,
): Pick<
  Ports,
  | "questions"
  | "answerer"
  | "needs"
  | "outdated"
  | "replies"
  | "profileWriter"
  | "forgetRequests"
  | "promptGuard"
  | "vocabulary"
> {
  const questions = given ?? (inThreads ? warmed(rulesQuestionReader()) : rulesQuestionReader());
  const rating = thread
    ? { embedder, rateWindow: thread.rateWindow, readRequest: thread.readRequest }
    : { embedder };
  return {
    questions,
    answerer: englishAnswerer({ questions, ...rating }),
    needs: createNeedReader(embedder),
    outdated: createOutdatedReader(embedder.local ? embedder : staticEmbedder()),
    replies: englishReplies,
    profileWriter: englishProfileWriter,
    forgetRequests: englishForgetRequests(questions, rating),
    promptGuard: englishPromptGuard,
    vocabulary: englishVocabulary,
  };
}

/** Opens the part of it that compares vectors of an embedder. */
export function openEmbedderEnglish(
  options: MemoryOptions,
  embedder: Embedder,
  thread: RulesThread | undefined,
): Pick<Ports, "answerer" | "needs" | "outdated" | "forgetRequests"> {
  const { answerer, needs, outdated, forgetRequests } = openEnglish(options, embedder, thread);
  return { answerer, needs, outdated, forgetRequests };
}

/** Opens the built-in rules, which read what a person sees. */
export const openVisibleRules = (): Extractor => withVisibleText(englishExtractor());

/** With the option `inThreads`: a thread that reads English, and drops its cached texts after an erasure. */
export function openRulesThread(
  { inThreads, answerWaitMs }: MemoryOptions,
  erasures: ErasureWatch,
): RulesThread | undefined {
  if (!inThreads) return undefined;
  const thread = rulesInThread({ waitMs: answerWaitMs });
  erasures.watch(thread.dropWords);
  return thread;
}

/** Chooses the extractor during a write, and the later one. */
function chooseExtractors(
  chosen: "rules" | "model" | "both" | Extractor | readonly Extractor[] | undefined,
  model: LanguageModel | undefined,
  rules: () => Extractor,
): Pick<Ports, "extractor" | "modelExtractor"> {
  if (typeof chosen === "object") {
    const extractors = toExtractors(chosen);
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

function toExtractors(given: Extractor | readonly Extractor[]): readonly Extractor[] {
  return "propose" in given ? [given] : given;
}

/** A former optional method of a port, the object that replaced it, and how that is written. */
interface FormerMethod {
  readonly method: string;
  readonly object: string;
  readonly form: string;
}

const FORMER_CIRCUIT: FormerMethod = {
  method: "circuit",
  object: "circuit",
  form: "circuit: { state() { … } }",
};
const VECTOR_CACHE = { object: "cache", form: "cache: { clear() { … } }" };
const FORMER_METHODS: Readonly<Record<"embedder" | "extractor" | "model", readonly FormerMethod[]>> = {
  embedder: [{ method: "evict", ...VECTOR_CACHE }, { method: "letGo", ...VECTOR_CACHE }, FORMER_CIRCUIT],
  extractor: [
    { method: "wants", object: "filter", form: "filter: { accepts(message, earlier) { … } }" },
    FORMER_CIRCUIT,
  ],
  model: [FORMER_CIRCUIT],
};

/**
 * Throws `invalid_input` for a port with a former optional method: nothing would call it, so that an embedder would keep the vectors
 * of erased texts.
 */
function checkForm(kind: keyof typeof FORMER_METHODS, port: object | undefined): void {
  const members = (port ?? {}) as Readonly<Record<string, unknown>>;
  for (const { method, object, form } of FORMER_METHODS[kind]) {
    if (typeof members[method] !== "function" || typeof members[object] === "object") continue;
    throw invalid(`${kind}: nothing calls its method \`${method}\` any more. Give it \`${form}\` instead.`);
  }
}

async function makePort<Port extends object>(
  given: Made<Port> | undefined,
  hooks: CallHooks,
): Promise<Port | undefined> {
  return typeof given === "function" ? given(hooks) : given;
}
