import { checkName, checkShare } from "../../domain/limits.ts";
import { MemoryError } from "../../errors.ts";
import type { Embedder } from "../../ports/language/embedder.ts";
import {
  type Extraction,
  loadTransformers,
  resolveModelFolder,
  type Transformers,
} from "../shared/model-calls/transformers.ts";

export { type Extraction, loadTransformers, type Transformers } from "../shared/model-calls/transformers.ts";

/** Options of `minilmEmbedder`. */
export interface MinilmEmbedderOptions {
  /** A folder with the model, in the layout of transformers.js; then nothing is downloaded. */
  readonly modelPath?: string;
  /** The name of the model on the hub, from which the package downloads it once (default: "Xenova/all-MiniLM-L6-v2"). */
  readonly model?: string;
  /** The imported package; by default, it is loaded at the first use. */
  readonly transformers?: Transformers;
  /** Replaces the calibrated floor; see `Embedder`. */
  readonly floor?: number;
  /** Replaces the calibrated threshold for merges; see `Embedder`. */
  readonly duplicateFloor?: number;
}

const DIMENSIONS = 384;
/** The model reads 512 tokens, including two special ones. Nearly all texts reach that limit within this many characters. */
const MOST_CHARACTERS = 8192;

/**
 * all-MiniLM-L6-v2, quantised to 8 bits, through the optional package `@huggingface/transformers`. It runs in this process, in some
 * milliseconds a text. Texts are cut after 512 tokens; a passage is about that long. Throws `unsupported` if the package is not
 * installed, and `unavailable` if the model cannot be loaded.
 */
export function minilmEmbedder(options: MinilmEmbedderOptions = {}): Embedder {
  const { modelPath, transformers } = options;
  const model =
    modelPath === undefined
      ? checkName(options.model ?? "Xenova/all-MiniLM-L6-v2", "model")
      : resolveModelFolder(modelPath);
  let loading: Promise<Extraction> | undefined;
  const getExtraction = (): Promise<Extraction> => {
    loading ??= loadExtraction(model, modelPath !== undefined, transformers).catch((error: unknown) => {
      // A later call may succeed, for example after the model was installed.
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
    duplicateFloor: checkShare(options.duplicateFloor ?? 0.7, "duplicateFloor"),
    async embed(texts, call = {}) {
      call.signal?.throwIfAborted();
      const vectors = new Map<string, Float32Array>();
      // One by one: the 8-bit model scales by the whole batch, so that a vector would depend on the other texts.
      for (const text of new Set(texts.map(toReadableText))) {
        if (text === "") continue;
        const extract = await getExtraction();
        call.signal?.throwIfAborted();
        vectors.set(text, await embedText(extract, text));
      }
      return texts.map((text) => vectors.get(toReadableText(text))?.slice() ?? new Float32Array(DIMENSIONS));
    },
  };
}

async function loadExtraction(
  model: string,
  isLocal: boolean,
  given: Transformers | undefined,
): Promise<Extraction> {
  const { pipeline } = given ?? (await loadTransformers("all-MiniLM-L6-v2"));
  try {
    return await pipeline("feature-extraction", model, { dtype: "q8", local_files_only: isLocal });
  } catch (cause) {
    throw new MemoryError(
      "unavailable",
      isLocal
        ? `the model in ${model} cannot be loaded. The folder needs config.json, tokenizer.json and onnx/model_quantized.onnx.`
        : `the model ${model} cannot be loaded. Downloading it needs a network. With a local copy, set modelPath (KEEPSAKE_MODEL_PATH).`,
      { cause },
    );
  }
}

/** The text that the model reads: well-formed, cut, and empty without a word. */
function toReadableText(text: string): string {
  return text.slice(0, MOST_CHARACTERS).trim().toWellFormed();
}

async function embedText(extract: Extraction, text: string): Promise<Float32Array> {
  const { data } = await extract(text, { pooling: "mean", normalize: true });
  if (data instanceof Float32Array && data.length === DIMENSIONS) return data;
  throw new MemoryError(
    "unavailable",
    `the model does not give vectors of ${DIMENSIONS} dimensions. Check that it is all-MiniLM-L6-v2.`,
  );
}
