import type { TokenUsage } from "../../domain/model-call.ts";
import { estimateTokens } from "../../domain/tokens.ts";
import { MemoryError } from "../../errors.ts";
import type { CallAttempt, RequestLimits } from "./calling.ts";
import { isJsonObject, parseJson } from "./json.ts";
import { createFailure, sendAndReadText } from "./send.ts";
import type { ModelServer } from "./server.ts";

export interface EmbeddingRequest {
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
