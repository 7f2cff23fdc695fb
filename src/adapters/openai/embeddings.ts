import { createHash } from "node:crypto";
import { checkCount } from "../../domain/limits.ts";
import type { TokenUsage } from "../../domain/model-usage.ts";
import { estimateTokens } from "../../domain/text/split-text.ts";
import { invalid, MemoryError } from "../../errors.ts";
import { isJsonObject, parseJson } from "./lenient-json.ts";
import {
  type CallAttempt,
  createFailure,
  type ModelServer,
  type RequestLimits,
  sendAndReadText,
} from "./server.ts";

interface EmbeddingRequest {
  readonly model: string;
  readonly dimensions: number;
  /** Sent, where the model is to give fewer dimensions than it has. */
  readonly asksFor?: number;
}

/** Asks once for the vectors of some texts. An answer that is none may pass. */
export async function requestVectors(
  server: ModelServer,
  asked: EmbeddingRequest,
  texts: readonly string[],
  limits: RequestLimits,
): Promise<CallAttempt<Float32Array[]>> {
  const sent = await sendAndReadText(server, toEmbeddingBody(asked, texts), limits);
  if (!("text" in sent)) return sent;
  const answer = parseJson(sent.text);
  const vectors = parseVectors(answer, texts.length);
  if (!vectors) return createFailure(server, "gave an answer without a vector for each text");
  const wrong = vectors.find(({ length }) => length !== asked.dimensions);
  if (!wrong) return { value: vectors, outcome: "ok", usage: parseEmbeddingUsage(answer, texts) };
  const refused = new MemoryError(
    "unavailable",
    `${server.place} gives vectors of ${wrong.length} dimensions, not of ${asked.dimensions}. ` +
      `Set dimensions to ${wrong.length}.`,
  );
  return { refused, status: 200, said: "" };
}

function toEmbeddingBody({ model, asksFor }: EmbeddingRequest, texts: readonly string[]): object {
  return {
    model,
    input: texts,
    // Asked for always: what is sent without it differs from server to server.
    encoding_format: "float",
    ...(asksFor === undefined ? {} : { dimensions: asksFor }),
  };
}

function parseEmbeddingUsage(answer: unknown, texts: readonly string[]): TokenUsage {
  const usage = isJsonObject(answer) && isJsonObject(answer.usage) ? answer.usage.prompt_tokens : undefined;
  if (typeof usage === "number" && usage > 0) return { tokensIn: usage, tokensCached: 0, tokensOut: 0 };
  return { tokensIn: sumTokens(texts), tokensCached: 0, tokensOut: 0, isEstimated: true };
}

/** Estimated. */
export function sumTokens(texts: readonly string[]): number {
  return texts.reduce((sum, text) => sum + estimateTokens(text), 0);
}

/** The vectors of an answer in the order of the texts, of unit length; nothing where one is missing or is no vector. */
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

/** OpenAI reads 8,191 tokens of a text, and 300,000 in one request. A token is one byte of UTF-8 or more. */
const MOST_BYTES_OF_A_TEXT = 8191;
const MOST_BYTES_AT_ONCE = 300_000;

/** The text as it is sent: well-formed, and as much of its beginning as a model surely reads. */
export function toEmbeddableText(text: string): string {
  const whole = text.toWellFormed();
  if (whole.length * 3 <= MOST_BYTES_OF_A_TEXT) return whole;
  // `read` never ends inside a character.
  const { read } = new TextEncoder().encodeInto(whole, new Uint8Array(MOST_BYTES_OF_A_TEXT));
  return whole.slice(0, read);
}

/** Texts in order, cut into requests of at most `most` texts and of no more tokens than a server takes at once. */
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
  /** Whether the server can give fewer dimensions when asked. */
  readonly canShorten: boolean;
  readonly floor: number;
}

/** OpenAI's own. The floors lie above what two texts about different things come to; see docs/embedders.md. */
const MODELS: { readonly [name: string]: EmbeddingModel } = {
  "text-embedding-3-small": { dimensions: 1536, canShorten: true, floor: 0.25 },
  "text-embedding-3-large": { dimensions: 3072, canShorten: true, floor: 0.25 },
  "text-embedding-ada-002": { dimensions: 1536, canShorten: false, floor: 0.76 },
};

/** For a model that is not known: most lie near this. */
const DEFAULT_FLOOR = 0.35;
const MOST_DIMENSIONS = 4096;

/** What is known of a model, and what to ask its server for. `invalid_input` where its dimensions are not known. */
export function findEmbeddingModel(
  name: string,
  dimensions: number | undefined,
): { dimensions: number; floor: number; asksFor?: number } {
  const known = Object.hasOwn(MODELS, name) ? MODELS[name] : undefined;
  if (dimensions === undefined) {
    if (known) return known;
    throw invalid("dimensions: say how many this embedding model has, for it is none of OpenAI's own.");
  }
  checkCount(dimensions, "dimensions", 1, MOST_DIMENSIONS);
  if (!known || dimensions === known.dimensions) return { dimensions, floor: known?.floor ?? DEFAULT_FLOOR };
  if (known.canShorten && dimensions < known.dimensions) {
    return { dimensions, floor: known.floor, asksFor: dimensions };
  }
  throw invalid(`dimensions: this embedding model has ${known.dimensions}, and cannot give ${dimensions}.`);
}

/** Vectors of the texts embedded last, by the hash of the text: no text is kept. */
interface VectorCache {
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
