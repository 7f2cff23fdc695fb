import { minilmEmbedder } from "../../src/adapters/minilm/index.ts";
import { openaiEmbedder } from "../../src/adapters/openai/index.ts";
import { staticEmbedder } from "../../src/adapters/static/index.ts";
import type { Embedder } from "../../src/index.ts";

export interface EmbedderOptions {
  /** A folder with the model for `minilm`, the model's name for `openai`; each has a default. */
  readonly model?: string;
  /** Where a server of OpenAI's protocol is that asks for no key, up to and with "/v1". */
  readonly baseUrl?: string;
}

/** What `--embedder` may name, and how each is made. */
export const EMBEDDERS: { readonly [name: string]: (options: EmbedderOptions) => Embedder } = {
  static: () => staticEmbedder(),
  minilm: ({ model }) => minilmEmbedder(model === undefined ? {} : { modelPath: model }),
  // Nobody waits for an answer here, so no question goes without its vector.
  openai: ({ model, baseUrl }) =>
    openaiEmbedder({
      patienceMs: 60_000,
      ...(model === undefined ? {} : { model }),
      ...(baseUrl === undefined ? {} : { baseUrl }),
    }),
};
