import { staticEmbedder } from "../../src/adapters/static/index.ts";
import type { Embedder } from "../../src/index.ts";

/** What `--embedder` may name, and how each is made. */
export const EMBEDDERS: { readonly [name: string]: () => Embedder | Promise<Embedder> } = {
  static: () => staticEmbedder(),
};
