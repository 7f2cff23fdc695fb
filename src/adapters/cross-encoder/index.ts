import { checkName } from "../../domain/limits.ts";
import { MemoryError } from "../../errors.ts";
import type { Reranker } from "../../ports/language/reranker.ts";
import {
  loadTransformers,
  type PairClassifier,
  type PairTokenizer,
  resolveModelFolder,
  type SequenceClassifiers,
} from "../shared/model-calls/transformers.ts";

export type {
  PairClassifier,
  PairTokenizer,
  SequenceClassifiers,
} from "../shared/model-calls/transformers.ts";

/** Options of `crossEncoderReranker`. */
export interface CrossEncoderOptions {
  /** A folder with the model, in the layout of transformers.js; then nothing is downloaded. */
  readonly modelPath?: string;
  /** The name of the model on the hub, from which the package downloads it once (default: "Xenova/ms-marco-MiniLM-L-6-v2"). */
  readonly model?: string;
  /** The imported package; by default, it is loaded at the first use. */
  readonly transformers?: SequenceClassifiers;
}

/** The model reads 512 tokens of query and text together. Nearly all texts reach that limit within this many characters. */
const MOST_CHARACTERS = 8192;

interface LoadedModel {
  readonly tokenize: PairTokenizer;
  readonly classify: PairClassifier;
}

/**
 * A cross-encoder with one value per pair, quantised to 8 bits, through the optional package `@huggingface/transformers`. It runs
 * in this process, in some 10 ms a text. Throws `unsupported` if the package is not installed, and `unavailable` if the model
 * cannot be loaded.
 */
export function crossEncoderReranker(options: CrossEncoderOptions = {}): Reranker {
  const { modelPath, transformers } = options;
  const model =
    modelPath === undefined
      ? checkName(options.model ?? "Xenova/ms-marco-MiniLM-L-6-v2", "model")
      : resolveModelFolder(modelPath);
  let loading: Promise<LoadedModel> | undefined;
  const getModel = (): Promise<LoadedModel> => {
    loading ??= loadModel(model, modelPath !== undefined, transformers).catch((error: unknown) => {
      // A later call may succeed, for example after the model was installed.
      loading = undefined;
      throw error;
    });
    return loading;
  };
  return {
    name: model.split(/[/\\]/).at(-1) ?? model,
    local: true,
    async score(query, texts, call = {}) {
      call.signal?.throwIfAborted();
      const scores: number[] = [];
      // One by one: the 8-bit model scales by the whole batch, so that a score would depend on the other texts.
      for (const text of texts) {
        const { tokenize, classify } = await getModel();
        call.signal?.throwIfAborted();
        const input = tokenize(toReadableText(query), { text_pair: toReadableText(text), truncation: true });
        scores.push(toShare((await classify(input)).logits.data));
      }
      return scores;
    },
  };
}

async function loadModel(
  model: string,
  isLocal: boolean,
  given: SequenceClassifiers | undefined,
): Promise<LoadedModel> {
  const { AutoTokenizer, AutoModelForSequenceClassification } =
    given ?? (await loadTransformers("the cross-encoder"));
  try {
    const place = { local_files_only: isLocal };
    const [tokenize, classify] = await Promise.all([
      AutoTokenizer.from_pretrained(model, place),
      AutoModelForSequenceClassification.from_pretrained(model, { ...place, dtype: "q8" }),
    ]);
    return { tokenize, classify };
  } catch (cause) {
    throw new MemoryError(
      "unavailable",
      isLocal
        ? `the model in ${model} cannot be loaded. The folder needs config.json, tokenizer.json and onnx/model_quantized.onnx.`
        : `the model ${model} cannot be loaded. Downloading it needs a network. With a local copy, set modelPath (KEEPSAKE_RERANKER_MODEL_PATH).`,
      { cause },
    );
  }
}

function toReadableText(text: string): string {
  return text.slice(0, MOST_CHARACTERS).trim().toWellFormed();
}

/** The model gives a raw value, which a sigmoid turns into a share. */
function toShare(data: unknown): number {
  if (data instanceof Float32Array && data.length === 1) return 1 / (1 + Math.exp(-(data[0] as number)));
  throw new MemoryError(
    "unavailable",
    "the model does not give one value for a pair. Use a cross-encoder for ranking, such as ms-marco-MiniLM-L-6-v2.",
  );
}
