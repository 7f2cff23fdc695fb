import { MemoryError } from "../../errors.ts";

/** The part of `@huggingface/transformers` (tested with 4.3) that is used. */
export interface Transformers {
  pipeline(
    task: "feature-extraction",
    model: string,
    options: { readonly dtype: "q8" | "fp32"; readonly local_files_only: boolean },
  ): Promise<Extraction>;
}

/** A feature-extraction pipeline of transformers.js. */
export interface Extraction {
  (
    text: string,
    options: { readonly pooling: "mean"; readonly normalize: true },
  ): Promise<{ readonly data: unknown }>;
  dispose?(): Promise<unknown>;
}

const PACKAGE = "@huggingface/transformers";

/** Loads the package, which users install themselves: it has 474 MB, and most users do not need it. */
export async function loadTransformers(): Promise<Transformers> {
  try {
    return (await import(PACKAGE)) as Transformers;
  } catch (cause) {
    const isMissing = (cause as { code?: unknown }).code === "ERR_MODULE_NOT_FOUND";
    throw new MemoryError(
      "unsupported",
      isMissing
        ? `all-MiniLM-L6-v2 needs the package ${PACKAGE}: npm install ${PACKAGE}`
        : `the package ${PACKAGE} is installed but cannot be loaded. Install it again: npm install ${PACKAGE}`,
      { cause },
    );
  }
}
