import { isAbsolute, resolve } from "node:path";
import { checkName, checkShare } from "../../domain/limits.ts";
import { invalid, MemoryError } from "../../errors.ts";
import type { Embedder } from "../../ports/language/embedder.ts";
import { type Extraction, loadTransformers, type Transformers } from "./transformers.ts";

export type { Extraction, Transformers } from "./transformers.ts";

export interface MinilmEmbedderOptions {
  /** A folder with the model, laid out as transformers.js expects; then nothing is fetched. */
  readonly modelPath?: string;
  /** Its name on the hub, from where the package fetches it once: "Xenova/all-MiniLM-L6-v2". */
  readonly model?: string;
  /** The package itself, already imported; where absent, it is loaded at the first use. */
  readonly transformers?: Transformers;
  /** In place of the calibrated one; see `Embedder`. */
  readonly floor?: number;
}

const DIMENSIONS = 384;
/** The model reads 512 tokens, its two marks among them. This many characters hold them but for odd words. */
const MOST_CHARACTERS = 8192;

/**
 * all-MiniLM-L6-v2, quantised to 8 bits, through the optional package `@huggingface/transformers`. It runs in this process,
 * some milliseconds a text. Of a text longer than 512 of its tokens it takes the beginning; a passage is about that long.
 * `unsupported` where the package is not installed, `unavailable` where the model cannot be loaded.
 */
export function minilmEmbedder(options: MinilmEmbedderOptions = {}): Embedder {
  const { modelPath, transformers } = options;
  const model =
    modelPath === undefined
      ? checkName(options.model ?? "Xenova/all-MiniLM-L6-v2", "model")
      : resolveFolder(modelPath);
  let loading: Promise<Extraction> | undefined;
  const extraction = (): Promise<Extraction> => {
    loading ??= loadExtraction(model, modelPath !== undefined, transformers).catch((error: unknown) => {
      // The next call may find what was missing.
      loading = undefined;
      throw error;
    });
    return loading;
  };
  return {
    fingerprint: `all-minilm-l6-v2-q8/${DIMENSIONS}`,
    dimensions: DIMENSIONS,
    local: true,
    floor: options.floor === undefined ? 0.25 : checkShare(options.floor, "floor"),
    async embed(texts, call = {}) {
      call.signal?.throwIfAborted();
      const vectors = new Map<string, Float32Array>();
      // One by one: the 8-bit model scales by what is in the batch, so that a text's vector would depend on its company.
      for (const text of new Set(texts.map(toReadableText))) {
        if (text === "") continue;
        const extract = await extraction();
        call.signal?.throwIfAborted();
        vectors.set(text, await embedText(extract, text));
      }
      return texts.map((text) => vectors.get(toReadableText(text))?.slice() ?? new Float32Array(DIMENSIONS));
    },
  };
}

function resolveFolder(path: string): string {
  if (path.trim() === "" || path.includes("\0")) throw invalid("modelPath: name the folder with the model.");
  return isAbsolute(path) ? path : resolve(path);
}

async function loadExtraction(
  model: string,
  isLocal: boolean,
  given: Transformers | undefined,
): Promise<Extraction> {
  const { pipeline } = given ?? (await loadTransformers());
  try {
    return await pipeline("feature-extraction", model, { dtype: "q8", local_files_only: isLocal });
  } catch (cause) {
    throw new MemoryError(
      "unavailable",
      isLocal
        ? `the model in ${model} cannot be loaded. It needs config.json, tokenizer.json and onnx/model_quantized.onnx.`
        : `the model ${model} cannot be loaded. Fetching it needs a network; with a copy of it, set modelPath (KEEPSAKE_MODEL_PATH).`,
      { cause },
    );
  }
}

/** As it is read: well-formed, its beginning, and empty where there is no word in it. */
function toReadableText(text: string): string {
  return text.slice(0, MOST_CHARACTERS).trim().toWellFormed();
}

async function embedText(extract: Extraction, text: string): Promise<Float32Array> {
  const { data } = await extract(text, { pooling: "mean", normalize: true });
  if (data instanceof Float32Array && data.length === DIMENSIONS) return data;
  throw new MemoryError(
    "unavailable",
    `the model gives no vectors of ${DIMENSIONS} dimensions: is it the right one?`,
  );
}
