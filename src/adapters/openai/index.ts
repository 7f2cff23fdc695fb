import { checkCount, checkName, checkShare } from "../../domain/limits.ts";
import type { CallOptions } from "../../ports/call-options.ts";
import type { Embedder } from "../../ports/language/embedder.ts";
import { createCalibration } from "../shared/embedder-profiles/calibration.ts";
import {
  callServer,
  createModelServer,
  type ModelServerOptions,
} from "../shared/model-calls/model-server.ts";
import {
  createVectorCache,
  findEmbeddingModel,
  requestVectors,
  splitIntoBatches,
  sumTokens,
  toEmbeddableText,
} from "./embeddings.ts";

export { type OpenaiModelOptions, openaiModel } from "./chat-model.ts";
export { type OpenaiDescriberOptions, openaiDescriber } from "./describer.ts";

/** Options of an embedder. By default, a request times out after 30 s, and is tried 5 times. */
export interface OpenaiEmbedderOptions extends ModelServerOptions {
  /** The model (default: "text-embedding-3-small"). */
  readonly model?: string;
  /** Fewer dimensions than the model has, if it supports that. For a model that is not OpenAI's, its dimensions. */
  readonly dimensions?: number;
  /** The most texts per request, 1 to 2,048 (default: 100). */
  readonly batchSize?: number;
  /** The number of recently used vectors kept in memory (default: 2,000); 0 keeps none. */
  readonly cacheSize?: number;
  /** How long a recall waits for its query's vector, in ms (default: 50); after that it uses words only. */
  readonly patienceMs?: number;
  /** Replaces the model's own floor; see `Embedder`. */
  readonly floor?: number;
  /** Replaces the threshold for merges, which is otherwise measured when it is first needed; see `Embedder`. */
  readonly duplicateFloor?: number;
  /** A folder in which the measured threshold is kept. Without it, it is measured once in each process, by 40 short texts. */
  readonly profilesPath?: string;
  /** Called with the numbers of vectors found in memory and requested from the server. */
  readonly onCache?: (hits: number, misses: number) => void;
}

/**
 * Embeddings from OpenAI, or any server with its API (Azure's v1, Ollama, vLLM, LM Studio, TEI, LiteLLM…), over plain `fetch`. It
 * sends batches, retries with growing pauses, and caches recent vectors. Texts leave this machine for that server only. Throws
 * `invalid_input` for invalid options; errors of `embed`: see `Embedder`.
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
  const request = { model, dimensions, ...(asksFor === undefined ? {} : { asksFor }) };

  /** The vectors of texts that are not cached, by text. */
  const fetchVectors = async (
    texts: readonly string[],
    options: CallOptions,
  ): Promise<Map<string, Float32Array>> => {
    const vectors = new Map<string, Float32Array>();
    for (const batch of splitIntoBatches(texts, batchSize)) {
      const tokensIn = sumTokens(batch);
      const call = { purpose: "embed", model, units: batch.length, tokensIn, tokensOut: 0 } as const;
      const batchVectors = await callServer(server, call, options, (limits) =>
        requestVectors(server, request, batch, limits),
      );
      for (const [i, text] of batch.entries()) {
        const vector = batchVectors[i] as Float32Array;
        vectors.set(text, vector);
        cache.set(text, vector);
      }
    }
    return vectors;
  };

  const embed: Embedder["embed"] = async (texts, call = {}) => {
    call.signal?.throwIfAborted();
    const asSent = texts.map(toEmbeddableText);
    const cached = new Map<string, Float32Array>();
    const missing = new Set<string>();
    for (const text of asSent) {
      if (text.trim() === "" || cached.has(text) || missing.has(text)) continue;
      const vector = cache.get(text);
      if (vector) cached.set(text, vector);
      else missing.add(text);
    }
    options.onCache?.(cached.size, missing.size);
    const fresh = await fetchVectors([...missing], call);
    return asSent.map(
      (text) => (cached.get(text) ?? fresh.get(text))?.slice() ?? new Float32Array(dimensions),
    );
  };
  const fingerprint = `openai/${model}/${dimensions}`;
  // The same name may be another model on another server.
  const profile = { id: JSON.stringify([fingerprint, options.baseUrl]), folder: options.profilesPath };
  return {
    fingerprint,
    dimensions,
    local: false,
    floor: options.floor === undefined ? floor : checkShare(options.floor, "floor"),
    ...(options.duplicateFloor === undefined
      ? { calibration: createCalibration(embed, profile) }
      : { duplicateFloor: checkShare(options.duplicateFloor, "duplicateFloor") }),
    cache: { clear: () => cache.clear() },
    circuit: { state: () => server.circuit.state() },
    patienceMs: checkCount(options.patienceMs ?? 50, "patienceMs", 0, 600_000),
    embed,
  };
}
