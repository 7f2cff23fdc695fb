import { createHash } from "node:crypto";

/** Vectors of the texts embedded last, by the hash of the text: no text is kept. */
export interface VectorCache {
  get(text: string): Float32Array | undefined;
  set(text: string, vector: Float32Array): void;
  clear(): void;
}

/** Keeps the `most` used last; with 0, none. */
export function createVectorCache(most: number): VectorCache {
  const kept = new Map<string, Float32Array>();
  return {
    clear: () => kept.clear(),
    get(text) {
      const key = hashText(text);
      const vector = kept.get(key);
      if (!vector) return undefined;
      kept.delete(key);
      kept.set(key, vector);
      return vector;
    },
    set(text, vector) {
      kept.set(hashText(text), vector);
      if (kept.size <= most) return;
      for (const oldest of kept.keys()) {
        kept.delete(oldest);
        return;
      }
    },
  };
}

function hashText(text: string): string {
  return createHash("sha256").update(text).digest("base64");
}
