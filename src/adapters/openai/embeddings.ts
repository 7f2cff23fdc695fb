import { createHash } from "node:crypto";
import { checkCount } from "../../domain/limits.ts";
import type { TokenUsage } from "../../domain/model-usage.ts";
import { estimateTokens } from "../../domain/text/split-text.ts";
import { invalid, MemoryError } from "../../errors.ts";
import { isJsonObject, parseJson } from "../shared/model-calls/json-values.ts";
import {
  type CallAttempt,
  createFailure,
  type ModelServer,
  type RequestLimits,
  sendAndReadText,
} from "../shared/model-calls/model-server.ts";

interface EmbeddingRequest {
  readonly model: string;
  readonly dimensions: number;
  /** Sent if the model should give fewer dimensions than it has. */
  readonly asksFor?: number;
}

/** Requests the vectors of some texts once. An invalid answer counts as a temporary failure. */
export async function requestVectors(
  server: ModelServer,
  request: EmbeddingRequest,
  texts: readonly string[],
  limits: RequestLimits,
): Promise<CallAttempt<Float32Array[]>> {
  const sent = await sendAndReadText(server, toEmbeddingBody(request, texts), limits);
  if (!("text" in sent)) return sent;
  const answer = parseJson(sent.text);
  const vectors = parseVectors(answer, texts.length);
  if (!vectors) return createFailure(server, "gave an answer without a vector for each text");
  const wrong = vectors.find(({ length }) => length !== request.dimensions);
  if (!wrong) return { value: vectors, outcome: "ok", usage: parseEmbeddingUsage(answer, texts) };
  const refused = new MemoryError(
    "unavailable",
    `${server.place} gives vectors of ${wrong.length} dimensions, not of ${request.dimensions}. ` +
      `Set dimensions to ${wrong.length}.`,
  );
  return { refused, status: 200, said: "" };
}

function toEmbeddingBody({ model, asksFor }: EmbeddingRequest, texts: readonly string[]): object {
  return {
    model,
    input: texts,
    // Always sent, because the default differs between servers.
    encoding_format: "float",
    ...(asksFor === undefined ? {} : { dimensions: asksFor }),
  };
}

function parseEmbeddingUsage(answer: unknown, texts: readonly string[]): TokenUsage {
  const usage = isJsonObject(answer) && isJsonObject(answer.usage) ? answer.usage.prompt_tokens : undefined;
  if (typeof usage === "number" && usage > 0) return { tokensIn: usage, tokensCached: 0, tokensOut: 0 };
  return { tokensIn: sumTokens(texts), tokensCached: 0, tokensOut: 0, isEstimated: true };
}

/** The estimated number of tokens. */
export function sumTokens(texts: readonly string[]): number {
  return texts.reduce((sum, text) => sum + estimateTokens(text), 0);
}

/** The vectors of an answer in the order of the texts, with unit length; undefined if one is missing or invalid. */
function parseVectors(body: unknown, count: number): Float32Array[] | undefined {
  const data = isJsonObject(body) ? body.data : undefined;
  if (!Array.isArray(data) || data.length !== count) return undefined;
  const vectors = new Array<Float32Array | undefined>(count).fill(undefined);
  for (const [place, entry] of data.entries()) {
    if (!isJsonObject(entry)) return undefined;
    const index = entry.index ?? place;
    const vector = toUnitVector(entry.embedding);
    if (typeof index !== "number" || !(index in vectors) || vectors[index] || !vector) return undefined;
    vectors[index] = vector;
  }
  return vectors as Float32Array[];
}

function toUnitVector(parts: unknown): Float32Array | undefined {
  if (!Array.isArray(parts) || parts.length === 0) return undefined;
  let squares = 0;
  for (const part of parts) {
    if (typeof part !== "number") return undefined;
    squares += part * part;
  }
  if (!Number.isFinite(squares)) return undefined;
  const length = squares === 0 ? 1 : Math.sqrt(squares);
  return Float32Array.from(parts as number[], (part) => part / length);
}

/** OpenAI accepts 8,191 tokens per text, and 300,000 per request. A token has at least one byte of UTF-8. */
const MOST_BYTES_OF_A_TEXT = 8191;
const MOST_BYTES_AT_ONCE = 300_000;

/** The text to send: well-formed, and cut to what a model certainly reads. */
export function toEmbeddableText(text: string): string {
  const wellFormed = text.toWellFormed();
  if (wellFormed.length * 3 <= MOST_BYTES_OF_A_TEXT) return wellFormed;
  // `read` never ends inside a character.
  const { read } = new TextEncoder().encodeInto(wellFormed, new Uint8Array(MOST_BYTES_OF_A_TEXT));
  return wellFormed.slice(0, read);
}

/** Splits texts, in order, into requests of at most `most` texts and within the server's token limit. */
export function splitIntoBatches(texts: readonly string[], most: number): string[][] {
  const batches: string[][] = [];
  let bytes = Number.POSITIVE_INFINITY;
  for (const text of texts) {
    const size = Buffer.byteLength(text);
    const last = batches.at(-1);
    if (last && last.length < most && bytes + size <= MOST_BYTES_AT_ONCE) {
      last.push(text);
      bytes += size;
    } else {
      batches.push([text]);
      bytes = size;
    }
  }
  return batches;
}

interface EmbeddingModel {
  readonly dimensions: number;
  /** Whether the server can give fewer dimensions on request. */
  readonly canShorten: boolean;
  readonly floor: number;
}

/** OpenAI's own models. The floors are above the scores of texts about different things; see docs/embedders.md. */
const MODELS: { readonly [name: string]: EmbeddingModel } = {
  "text-embedding-3-small": { dimensions: 1536, canShorten: true, floor: 0.25 },
  "text-embedding-3-large": { dimensions: 3072, canShorten: true, floor: 0.25 },
  "text-embedding-ada-002": { dimensions: 1536, canShorten: false, floor: 0.76 },
};

/** The floor of unknown models: most are near this. */
const DEFAULT_FLOOR = 0.35;
const MOST_DIMENSIONS = 4096;

/** The properties of a model, and the dimensions to request. Throws `invalid_input` if its dimensions are unknown. */
export function findEmbeddingModel(
  name: string,
  dimensions: number | undefined,
): { dimensions: number; floor: number; asksFor?: number } {
  const known = Object.hasOwn(MODELS, name) ? MODELS[name] : undefined;
  if (dimensions === undefined) {
    if (known) return known;
    throw invalid(
      "dimensions: set the number of dimensions of this embedding model; it is not a model of OpenAI.",
    );
  }
  checkCount(dimensions, "dimensions", 1, MOST_DIMENSIONS);
  if (!known || dimensions === known.dimensions) return { dimensions, floor: known?.floor ?? DEFAULT_FLOOR };
  if (known.canShorten && dimensions < known.dimensions) {
    return { dimensions, floor: known.floor, asksFor: dimensions };
  }
  throw invalid(`dimensions: this embedding model has ${known.dimensions}, and cannot give ${dimensions}.`);
}

/** Vectors of recently embedded texts, by a hash of the text: no text is stored. */
interface VectorCache {
  get(text: string): Float32Array | undefined;
  set(text: string, vector: Float32Array): void;
  clear(): void;
}

/** Keeps the `most` recently used vectors; with 0, none. */
export function createVectorCache(most: number): VectorCache {
  const vectors = new Map<string, Float32Array>();
  return {
    clear: () => vectors.clear(),
    get(text) {
      const key = hashText(text);
      const vector = vectors.get(key);
      if (!vector) return undefined;
      vectors.delete(key);
      vectors.set(key, vector);
      return vector;
    },
    set(text, vector) {
      vectors.set(hashText(text), vector);
      if (vectors.size <= most) return;
      for (const oldest of vectors.keys()) {
        vectors.delete(oldest);
        return;
      }
    },
  };
}

function hashText(text: string): string {
  return createHash("sha256").update(text).digest("base64");
}
