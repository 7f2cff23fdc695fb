import { checkCount, checkName, checkShare } from "../../domain/limits.ts";
import type { CallOptions } from "../../ports/call-options.ts";
import type { Embedder } from "../../ports/language/embedder.ts";
import {
  createVectorCache,
  findEmbeddingModel,
  requestVectors,
  splitIntoBatches,
  sumTokens,
  toEmbeddableText,
} from "./embeddings.ts";
import { callServer, createModelServer, type ModelServerOptions } from "./server.ts";

export { type OpenaiModelOptions, openaiModel } from "./chat-model.ts";

/** A request may take 30 s, and is tried 5 times. */
export interface OpenaiEmbedderOptions extends ModelServerOptions {
  /** "text-embedding-3-small" where absent. */
  readonly model?: string;
  /** Fewer than the model has, where it can give fewer; of a model that is none of OpenAI's own, how many it has. */
  readonly dimensions?: number;
  /** Most texts in one request, 1 to 2,048 (100). */
  readonly batchSize?: number;
  /** Vectors kept in memory, those used last (2,000); 0 keeps none. */
  readonly cacheSize?: number;
  /** How long a recall waits for its query's vector, in ms (50); then it goes by words alone. */
  readonly patienceMs?: number;
  /** In place of the model's own; see `Embedder`. */
  readonly floor?: number;
  /** Is told how many vectors were held in memory, and how many had to be asked for. */
  readonly onCache?: (hits: number, misses: number) => void;
}

/**
 * Embeddings from OpenAI, or from any server of its protocol (Azure's v1, Ollama, vLLM, LM Studio, TEI, LiteLLM…), over
 * plain `fetch`: in batches, tried again with growing pauses, the last ones kept. Texts leave this machine for that server
 * and nowhere else. `invalid_input` for options that cannot work; errors of `embed`: see `Embedder`.
 */
export function openaiEmbedder(options: OpenaiEmbedderOptions = {}): Embedder {
  const model = checkName(options.model ?? "text-embedding-3-small", "model");
  const { dimensions, floor, asksFor } = findEmbeddingModel(model, options.dimensions);
  const batchSize = checkCount(options.batchSize ?? 100, "batchSize", 1, 2048);
  const cache = createVectorCache(checkCount(options.cacheSize ?? 2000, "cacheSize", 0, 1_000_000));
  const server = createModelServer(options, {
    path: "embeddings",
    label: "embedding server",
    model,
    timeoutMs: 30_000,
    tries: 5,
  });
  const asked = { model, dimensions, ...(asksFor === undefined ? {} : { asksFor }) };

  /** The vectors of texts that are not kept, by text. */
  const fetched = async (
    texts: readonly string[],
    options: CallOptions,
  ): Promise<Map<string, Float32Array>> => {
    const vectors = new Map<string, Float32Array>();
    for (const batch of splitIntoBatches(texts, batchSize)) {
      const tokensIn = sumTokens(batch);
      const call = { purpose: "embed", model, units: batch.length, tokensIn, tokensOut: 0 } as const;
      const got = await callServer(server, call, options, (limits) =>
        requestVectors(server, asked, batch, limits),
      );
      for (const [i, text] of batch.entries()) {
        const vector = got[i] as Float32Array;
        vectors.set(text, vector);
        cache.set(text, vector);
      }
    }
    return vectors;
  };

  return {
    fingerprint: `openai/${model}/${dimensions}`,
    dimensions,
    local: false,
    floor: options.floor === undefined ? floor : checkShare(options.floor, "floor"),
    evict: () => cache.clear(),
    circuit: () => server.circuit.state(),
    patienceMs: checkCount(options.patienceMs ?? 50, "patienceMs", 0, 600_000),
    async embed(texts, call = {}) {
      call.signal?.throwIfAborted();
      const asSent = texts.map(toEmbeddableText);
      const held = new Map<string, Float32Array>();
      const missing = new Set<string>();
      for (const text of asSent) {
        if (text.trim() === "" || held.has(text) || missing.has(text)) continue;
        const vector = cache.get(text);
        if (vector) held.set(text, vector);
        else missing.add(text);
      }
      options.onCache?.(held.size, missing.size);
      const fresh = await fetched([...missing], call);
      return asSent.map(
        (text) => (held.get(text) ?? fresh.get(text))?.slice() ?? new Float32Array(dimensions),
      );
    },
  };
}
