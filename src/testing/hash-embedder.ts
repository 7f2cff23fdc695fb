import { splitWords } from "../domain/words.ts";
import type { Embedder } from "../ports/embedder.ts";

/** An embedder for tests: each word falls into one of `dimensions` places. Near means: shares words. */
export function hashEmbedder(dimensions = 32): Embedder {
  return {
    fingerprint: `hash-1/${dimensions}`,
    dimensions,
    local: true,
    floor: 0.5,
    async embed(texts, options) {
      options?.signal?.throwIfAborted();
      return texts.map((text) => {
        const vector = new Float32Array(dimensions);
        for (const word of splitWords(text)) {
          let hash = 7;
          for (const letter of word) hash = (hash * 31 + (letter.codePointAt(0) ?? 0)) % 1_000_003;
          vector[hash % dimensions] = (vector[hash % dimensions] ?? 0) + 1;
        }
        const length = Math.hypot(...vector);
        return length === 0 ? vector : vector.map((part) => part / length);
      });
    },
  };
}
