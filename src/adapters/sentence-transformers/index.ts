import { createHash } from "node:crypto";
import { checkName, checkShare } from "../../domain/limits.ts";
import { invalid, MemoryError } from "../../errors.ts";
import type { Embedder, EmbedOptions } from "../../ports/language/embedder.ts";
import { type Calibration, measureCalibration } from "../shared/embedder-profiles/calibration.ts";
import {
  readStoredProfile,
  readStoredWeights,
  saveStoredProfile,
  saveStoredWeights,
} from "../shared/embedder-profiles/stored-profiles.ts";
import {
  type Extraction,
  loadTransformers,
  resolveModelFolder,
  type Transformers,
} from "../shared/model-calls/transformers.ts";
import { loadSteps, type Transform } from "./dense-layers.ts";
import { type ModelFiles, type ModelProfile, openModelFiles } from "./model-files.ts";

/** Options of `sentenceTransformersEmbedder`. */
export interface SentenceTransformersOptions {
  /** The name of a model on the hub, in the layout of transformers.js: "Xenova/all-mpnet-base-v2". The package downloads it once. */
  readonly model?: string;
  /** A folder with the model, in the same layout, instead of `model`; then nothing is downloaded. */
  readonly modelPath?: string;
  /** What the model expects before a query; by default, the prompt "query" of its configuration, or nothing. */
  readonly queryPrefix?: string;
  /** What the model expects before a text; by default, the prompt "document" or "passage" of its configuration, or nothing. */
  readonly textPrefix?: string;
  /** Replaces the measured floor; see `Embedder`. */
  readonly floor?: number;
  /** Replaces the measured threshold for merges; see `Embedder`. */
  readonly duplicateFloor?: number;
  /** A folder in which the measured values of models are kept. Without it, they are measured at each opening, in some seconds. */
  readonly profilesPath?: string;
  /** The imported package; by default, it is loaded at the first use. */
  readonly transformers?: Transformers;
}

/** Nearly all texts reach the limit of a model, mostly 512 tokens, within this many characters. */
const MOST_CHARACTERS = 8192;
/** Who needs the package, in an error. */
const WHAT = "an embedder of sentence-transformers";

/**
 * Opens a model of sentence-transformers that transformers.js runs, through the optional package `@huggingface/transformers`. The
 * dimensions, the pooling, dense layers and the prompts come from the files of the model. The floor and the threshold for merges are measured on
 * built-in pairs at the first opening, and kept in `profilesPath`. Throws `invalid_input` for wrong options, and `unavailable`
 * if the model cannot be loaded. Throws `unsupported` without the package, or if the model needs another pooling or module.
 */
export async function sentenceTransformersEmbedder(options: SentenceTransformersOptions): Promise<Embedder> {
  const { modelPath, transformers } = options;
  if ((modelPath === undefined) === (options.model === undefined))
    throw invalid("model: name a model of the hub, or set modelPath to a folder with one.");
  const model =
    modelPath === undefined ? checkName(options.model ?? "", "model") : resolveModelFolder(modelPath);
  const files = await openModelFiles(
    model,
    modelPath === undefined ? () => findHubAddress(model, transformers) : undefined,
  );
  const key = JSON.stringify([files.id, options.queryPrefix, options.textPrefix]);
  const stored = (await readStoredProfile(options.profilesPath, key)) as ModelProfile | undefined;
  const described = stored ?? (await files.describe());
  const { dimensions, pooling, prompts, steps = [] } = described;
  const readWeights = modelPath === undefined ? keepWeights(files, options.profilesPath) : files.readBytes;
  const queryPrefix = options.queryPrefix ?? prompts.query;
  const textPrefix = options.textPrefix ?? prompts.text;
  let loading: Promise<readonly [Extraction, Transform]> | undefined;
  const load = (): Promise<readonly [Extraction, Transform]> => {
    loading ??= Promise.all([
      loadExtraction(model, modelPath !== undefined, transformers),
      loadSteps(model, steps, readWeights),
    ]).catch((error: unknown) => {
      // A later call may succeed, for example after the model was installed.
      loading = undefined;
      throw error;
    });
    return loading;
  };
  const embedText = async (text: string): Promise<Float32Array> => {
    const [extract, transform] = await load();
    const { data } = await extract(text, { pooling, normalize: steps.length === 0 });
    const vector = data instanceof Float32Array && steps.length > 0 ? transform(data) : data;
    if (vector instanceof Float32Array && vector.length === dimensions) return vector;
    throw new MemoryError(
      "unavailable",
      `the model does not give vectors of ${dimensions} dimensions, as its config.json says.`,
    );
  };
  const embed = async (texts: readonly string[], call: EmbedOptions = {}): Promise<Float32Array[]> => {
    call.signal?.throwIfAborted();
    const prefix = call.isQuery ? queryPrefix : textPrefix;
    const vectors = new Map<string, Float32Array>();
    // One by one: 8-bit models scale by the whole batch, so that a vector would depend on the other texts.
    for (const text of new Set(texts.map(toReadableText))) {
      if (text === "") continue;
      vectors.set(text, await embedText(`${prefix}${text}`));
      call.signal?.throwIfAborted();
    }
    return texts.map((text) => vectors.get(toReadableText(text))?.slice() ?? new Float32Array(dimensions));
  };
  const calibration = stored ?? (await calibrate(options, key, described, embed));
  return {
    fingerprint: `${files.id}/${pooling}${digestPrefixes(queryPrefix, textPrefix)}/${dimensions}`,
    dimensions,
    local: true,
    floor: checkShare(options.floor ?? calibration.floor, "floor"),
    duplicateFloor: checkShare(options.duplicateFloor ?? calibration.duplicateFloor, "duplicateFloor"),
    embed,
  };
}

/** Reads weights from the hub once, if there is a folder to keep them in. */
function keepWeights(files: ModelFiles, folder: string | undefined): ModelFiles["readBytes"] {
  return async (file) => {
    const id = `${files.id}/${file}`;
    const stored = await readStoredWeights(folder, id);
    if (stored !== undefined) return stored;
    const weights = await files.readBytes(file);
    if (weights !== undefined) await saveStoredWeights(folder, id, weights);
    return weights;
  };
}

/** Prefixes move vectors, so they belong to the name of the space. */
function digestPrefixes(...prefixes: readonly string[]): string {
  if (prefixes.every((prefix) => prefix === "")) return "";
  return `-${createHash("sha256").update(JSON.stringify(prefixes)).digest("hex").slice(0, 8)}`;
}

/** Measures, unless both values are given, and keeps what was measured. */
async function calibrate(
  { floor, duplicateFloor, profilesPath }: SentenceTransformersOptions,
  key: string,
  described: Omit<ModelProfile, keyof Calibration>,
  embed: Embedder["embed"],
): Promise<Calibration> {
  if (floor !== undefined && duplicateFloor !== undefined) return { floor, duplicateFloor };
  const measured = await measureCalibration(embed);
  await saveStoredProfile(profilesPath, key, { ...described, ...measured });
  return measured;
}

/** Where the package downloads a model from, with a slash at the end. */
async function findHubAddress(model: string, given: Transformers | undefined): Promise<string> {
  const { env } = given ?? (await loadTransformers(WHAT));
  const { remoteHost = "", remotePathTemplate = "" } = env ?? {};
  const path = remotePathTemplate.replace("{model}", model).replace("{revision}", "main");
  return new URL(path, remoteHost).href.replace(/\/*$/, "/");
}

async function loadExtraction(
  model: string,
  isLocal: boolean,
  given: Transformers | undefined,
): Promise<Extraction> {
  const { pipeline } = given ?? (await loadTransformers(WHAT));
  const load = (dtype: "q8" | "fp32"): Promise<Extraction> =>
    pipeline("feature-extraction", model, { dtype, local_files_only: isLocal });
  try {
    // Not every model has the 8-bit form.
    return await load("q8").catch(() => load("fp32"));
  } catch (cause) {
    throw new MemoryError(
      "unavailable",
      isLocal
        ? `the model in ${model} cannot be loaded. The folder needs config.json, tokenizer.json, tokenizer_config.json and onnx/model_quantized.onnx or onnx/model.onnx.`
        : `the model ${model} cannot be loaded. Downloading it needs a network, and ONNX files in the folder onnx. With a local copy, set modelPath (KEEPSAKE_MODEL_PATH).`,
      { cause },
    );
  }
}

/** The text that the model reads: well-formed, cut, and empty without a word. */
function toReadableText(text: string): string {
  return text.slice(0, MOST_CHARACTERS).trim().toWellFormed();
}
