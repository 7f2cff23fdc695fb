import { isAbsolute, resolve } from "node:path";
import { invalid, MemoryError } from "../../../errors.ts";

/** The part of `@huggingface/transformers` (tested with 4.3) that is used. */
export interface Transformers {
  pipeline(
    task: "feature-extraction",
    model: string,
    options: { readonly dtype: "q8" | "fp32"; readonly local_files_only: boolean },
  ): Promise<Extraction>;
  /** Where it downloads models from. */
  readonly env?: { readonly remoteHost?: string; readonly remotePathTemplate?: string };
}

/** A feature-extraction pipeline of transformers.js. */
export interface Extraction {
  (
    text: string,
    options: { readonly pooling: "mean" | "cls" | "last_token"; readonly normalize: boolean },
  ): Promise<{ readonly data: unknown }>;
  dispose?(): Promise<unknown>;
}

/** The part of the package that runs cross-encoders. */
export interface SequenceClassifiers {
  readonly AutoTokenizer: { from_pretrained(model: string, options: object): Promise<PairTokenizer> };
  readonly AutoModelForSequenceClassification: {
    from_pretrained(
      model: string,
      options: { readonly dtype: "q8"; readonly local_files_only: boolean },
    ): Promise<PairClassifier>;
  };
}

/** Turns a text and its pair into a model's input. */
export type PairTokenizer = (
  text: string,
  options: { readonly text_pair: string; readonly truncation: true },
) => object;

/** Reads a pair, and gives the model's raw values. */
export type PairClassifier = (input: object) => Promise<{ readonly logits: { readonly data: unknown } }>;

const PACKAGE = "@huggingface/transformers";

/**
 * Loads the package, which users install themselves: it has 474 MB, and most users do not need it. `what` needs it. Throws
 * `unsupported` if it is not installed.
 */
export async function loadTransformers(
  what = "all-MiniLM-L6-v2",
): Promise<Transformers & SequenceClassifiers> {
  try {
    return (await import(PACKAGE)) as Transformers & SequenceClassifiers;
  } catch (cause) {
    const isMissing = (cause as { code?: unknown }).code === "ERR_MODULE_NOT_FOUND";
    throw new MemoryError(
      "unsupported",
      isMissing
        ? `${what} needs the package ${PACKAGE}: npm install ${PACKAGE}`
        : `the package ${PACKAGE} is installed but cannot be loaded. Install it again: npm install ${PACKAGE}`,
      { cause },
    );
  }
}

/** The absolute path of a folder with a model. Throws `invalid_input` for no path. */
export function resolveModelFolder(path: string): string {
  if (path.trim() === "" || path.includes("\0")) throw invalid("modelPath: set the folder with the model.");
  return isAbsolute(path) ? path : resolve(path);
}
