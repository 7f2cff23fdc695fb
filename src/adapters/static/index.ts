import { embedSentence, SENTENCE_DIMENSIONS } from "../../language/en/embedding/sentence-vectors.ts";
import type { Embedder } from "../../ports/language/embedder.ts";

/**
 * The built-in embedder: a static table distilled from all-MiniLM-L6-v2. The vector of a text is the normalised mean of its tokens'
 * rows. It takes about 0.01 ms and needs no network. The table is read at the first use, once per process. A text in another
 * language than English gets zeros, and is found by its words only.
 */
export function staticEmbedder(options: { folder?: URL } = {}): Embedder {
  return {
    fingerprint: `static-minilm-1-en/${SENTENCE_DIMENSIONS}`,
    dimensions: SENTENCE_DIMENSIONS,
    local: true,
    floor: 0.35,
    duplicateFloor: 0.6,
    async embed(texts, call) {
      call?.signal?.throwIfAborted();
      return texts.map((text) => embedSentence(text, options.folder));
    },
  };
}
