import { describeArchive, openArchive } from "../config/backup-settings.ts";
import type { EmbedderSettings } from "../config/models/embedder-settings.ts";
import type { Settings } from "../config/settings.ts";
import type { Keepsake } from "../engine/api/keepsake.ts";
import type { JobState } from "../engine/api/maintenance-types.ts";
import { isMemoryError } from "../errors.ts";
import type { MemoryOptions } from "../memory-options.ts";
import type { CommandContext } from "./with-memory.ts";

/** Describes what the settings of backups, the embedder, the reranker, FAISS and the GPU did. */
export function describeBackends(settings: Settings): string[] {
  const { backends, backups, reranker } = settings;
  return [
    ...(backups === undefined ? [] : [describeArchive(backups)]),
    ...describeEmbedders(settings),
    ...(reranker === undefined ? [] : [describeReranker(reranker)]),
    ...describeFaiss(backends),
    ...(backends?.hasUnusedFolder
      ? [
          "Chroma has no folder of its own here: vectors are stored in the database file. " +
            "`chroma run --path FOLDER` with CHROMA_URL adds a server.",
        ]
      : []),
  ];
}

function describeEmbedders({ embedder, builtInModel, embedders }: Settings): string[] {
  const named = describeNamedEmbedders(embedders);
  if (embedder !== undefined) return [describeEmbedder(embedder), ...named];
  if (builtInModel === undefined) return named;
  const isBuiltIn = builtInModel === BUILT_IN_MODEL;
  const line = isBuiltIn
    ? "Vectors are computed by the built-in embedder in this process (EMBEDDING_MODEL). It uses no GPU."
    : "EMBEDDING_MODEL has no effect: KEEPSAKE_EMBEDDER=static computes vectors by the built-in embedder.";
  return [line, ...named];
}

/** The name of the built-in embedder in EMBEDDING_MODEL. */
const BUILT_IN_MODEL = "static-minilm-1";

function describeFaiss({ faiss, unusedGpu, hasUnusedIndexPath }: Settings["backends"] & {} = {}): string[] {
  if (faiss !== undefined)
    return [`FAISS keeps its indexes in ${faiss.path} (FAISS_INDEX_PATH) and ${describeGpu(faiss.gpu)}.`];
  return [
    ...(hasUnusedIndexPath
      ? ["FAISS_INDEX_PATH has no effect: KEEPSAKE_FOLLOWER does not name faiss. Recalls use the database."]
      : []),
    ...(unusedGpu
      ? [
          "USE_GPU: no GPU is used; embedders run on the processor. Only FAISS uses one, which FAISS_INDEX_PATH switches on.",
        ]
      : []),
    ...(unusedGpu === false ? ["USE_GPU: no GPU is used; embedders run on the processor."] : []),
  ];
}

/** Gives the option for backups that are made in the background. */
export async function openScheduledBackups({ backups }: Settings): Promise<Pick<MemoryOptions, "backups">> {
  if (!backups) return {};
  const { to: _to, ...plan } = backups;
  return { backups: { archive: await openArchive(backups), ...plan } };
}

/** Gives the option for webhooks. Servers and workers send events unless that is off. */
export function toWebhookOptions({ webhooks }: Settings): Pick<MemoryOptions, "webhooks"> {
  return webhooks === "off" ? {} : { webhooks: { allowsLoopback: webhooks === "loopback" } };
}

function describeEmbedder({ name, model, modelPath, baseUrl }: NonNullable<Settings["embedder"]>): string {
  if (name === "openai") {
    const host = new URL(baseUrl ?? "https://api.openai.com").host;
    return `Vectors are computed by ${model ?? "text-embedding-3-small"} at ${host} (EMBEDDING_MODEL).`;
  }
  const from = modelPath === undefined ? "" : `, from ${modelPath}`;
  const what =
    name === "minilm" ? (model ?? "all-MiniLM-L6-v2") : (model ?? "a model of sentence-transformers");
  return `Vectors are computed by ${what} in this process${from} (EMBEDDING_MODEL). It uses no GPU.`;
}

function describeNamedEmbedders(embedders: Settings["embedders"] = {}): string[] {
  const named = Object.entries(embedders).map(([name, one]) => `${name} (${describeModel(one)})`);
  if (named.length === 0) return [];
  return [`Users and projects may choose an embedder (KEEPSAKE_EMBEDDERS): default, ${named.join(", ")}.`];
}

function describeModel({ name, model, modelPath, baseUrl }: EmbedderSettings): string {
  if (name === "static") return "the built-in one";
  if (name === "openai")
    return `${model ?? "text-embedding-3-small"} at ${new URL(baseUrl ?? "https://api.openai.com").host}`;
  return `${modelPath ?? model ?? "all-MiniLM-L6-v2"} in this process`;
}

function describeReranker({ kind, model, url = "" }: NonNullable<Settings["reranker"]>): string {
  const what = "The best items of recalls are reranked by";
  if (kind === "cross-encoder") return `${what} a cross-encoder in this process.`;
  return `${what} ${model ?? "a model"} at ${new URL(url).host}, which gets queries and texts.`;
}

function describeGpu(isOnGpu: boolean | undefined): string {
  return isOnGpu ? "searches on a GPU (USE_GPU=on)" : "searches on the CPU (USE_GPU=off)";
}

/** Problems that became known after the start: of the embedder, the reranker, and of vector indexes. */
interface StartWatch {
  /** The current problems, one sentence each, without addresses or user text. */
  problems(): readonly string[];
  stop(): void;
}

const LOOK_EVERY_MS = 2000;

/** Watches the embedder, the reranker and the vector indexes, and tells each new problem once, as soon as it is known. */
export function watchStart(
  { keepsake, settings }: Pick<CommandContext, "keepsake" | "settings">,
  tell: (problem: string) => void,
): StartWatch {
  let indexProblems: readonly string[] = [];
  let modelProblems: readonly string[] = [];
  const told = new Set<string>();
  const problems = (): readonly string[] => [...modelProblems, ...indexProblems];
  const tellNew = (): void => {
    for (const problem of problems()) if (!told.has(problem)) tell(problem);
    for (const problem of problems()) told.add(problem);
  };
  const look = async (): Promise<void> => {
    indexProblems = await readIndexProblems(keepsake);
    tellNew();
  };
  const ignoreFailure = (): void => {};
  void findModelProblems(settings).then((found) => {
    modelProblems = found;
    tellNew();
  }, ignoreFailure);
  const hasIndexes = (settings.backends?.followers ?? []).length > 0;
  const timer = hasIndexes ? setInterval(() => void look().catch(ignoreFailure), LOOK_EVERY_MS) : undefined;
  timer?.unref();
  if (hasIndexes) void look().catch(ignoreFailure);
  return { problems, stop: () => clearInterval(timer) };
}

async function readIndexProblems(keepsake: Keepsake): Promise<string[]> {
  const failing = (await keepsake.jobs()).filter(
    ({ name, state }) => isIndexJob(name) && state === "failing",
  );
  return failing.map(({ name, problem }) => formatIndexProblem(name, problem));
}

function isIndexJob(name: string): boolean {
  return name.startsWith("following ");
}

function formatIndexProblem(name: JobState["name"], problem = "it failed"): string {
  return `The index ${name.replace("following ", "")} cannot be used; recalls use the database. ${problem}`;
}

function needsPackage({ name }: EmbedderSettings): boolean {
  return name === "minilm" || name === "sentence-transformers";
}

async function findModelProblems({ embedder, embedders = {}, reranker }: Settings): Promise<string[]> {
  // The others are opened at the start, whose notices name those that failed.
  const isNamedLocal = Object.values(embedders).some(({ name }) => name === "minilm");
  const found = [
    isNamedLocal
      ? await findPackageProblem("An embedder of KEEPSAKE_EMBEDDERS cannot be used:", "it")
      : undefined,
    embedder !== undefined && needsPackage(embedder)
      ? await findPackageProblem("EMBEDDING_MODEL cannot be used:", embedder.model ?? "all-MiniLM-L6-v2")
      : undefined,
    reranker?.kind === "cross-encoder"
      ? await findPackageProblem(
          "KEEPSAKE_RERANKER cannot be used; recalls keep the order of the search.",
          "the cross-encoder",
        )
      : undefined,
  ];
  return found.filter((problem) => problem !== undefined);
}

/** Loads the package of the models in this process, so that one that is missing is known before the first use. */
async function findPackageProblem(effect: string, model: string): Promise<string | undefined> {
  try {
    await (await import("../adapters/minilm/index.ts")).loadTransformers(model);
    return undefined;
  } catch (error) {
    return isMemoryError(error) ? `${effect} ${error.message}` : undefined;
  }
}
