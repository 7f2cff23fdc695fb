import { createRefusal, type OpenaiAnswer } from "./answer.ts";

type EmbeddingsFields = { readonly [field: string]: unknown };

/** OpenAI's own limits: texts in one request, tokens of a text, tokens in one request. */
const MOST_TEXTS = 2048;
const MOST_TOKENS = 8191;
const MOST_TOKENS_AT_ONCE = 300_000;
const NATURAL: { readonly [model: string]: number } = {
  "text-embedding-3-small": 1536,
  "text-embedding-3-large": 3072,
  "text-embedding-ada-002": 1536,
  "nomic-embed-text": 768,
};

/**
 * The answer of `POST /v1/embeddings`, as strict as the real one about what it is sent. Vectors are made of hashed words,
 * so that texts that share words are near. https://platform.openai.com/docs/api-reference/embeddings
 */
export function createEmbeddingsAnswer(
  body: EmbeddingsFields,
  tokensOf: (text: string) => number,
  mostTexts: number = MOST_TEXTS,
): OpenaiAnswer {
  const texts = typeof body.input === "string" ? [body.input] : body.input;
  const problem = findProblem(body, texts, mostTexts);
  if (problem !== undefined || !Array.isArray(texts))
    return createRefusal(400, problem ?? "'$.input' is invalid");
  const model = String(body.model);
  const dimensions = Number(body.dimensions ?? NATURAL[model] ?? 256);
  const written = body.encoding_format === "base64" ? toBase64 : (vector: number[]): number[] => vector;
  const tokens = texts.reduce((sum: number, text) => sum + tokensOf(String(text)), 0);
  return {
    status: 200,
    body: {
      object: "list",
      data: texts.map((text, index) => ({
        object: "embedding",
        index,
        embedding: written(hashToVector(String(text), dimensions)),
      })),
      model,
      usage: { prompt_tokens: tokens, total_tokens: tokens },
    },
  };
}

function findProblem(body: EmbeddingsFields, input: unknown, mostTexts: number): string | undefined {
  const { model, encoding_format: format = "float" } = body;
  if (typeof model !== "string") return "you must provide a model parameter";
  if (format !== "float" && format !== "base64") return "'encoding_format' must be 'float' or 'base64'";
  if (!Array.isArray(input) || input.length === 0) return "'$.input' is invalid";
  if (input.length > mostTexts) return "array too long";
  const texts = input.map(String);
  if (texts.some((text) => text === "")) return "'$.input' is invalid: an empty string";
  if (texts.some((text) => !text.isWellFormed())) return "could not parse the JSON body";
  // Never fewer than a real tokenizer counts.
  const tokens = texts.map((text) => Buffer.byteLength(text));
  if (tokens.some((count) => count > MOST_TOKENS)) return "maximum context length is 8192 tokens";
  return tokens.reduce((sum, count) => sum + count, 0) > MOST_TOKENS_AT_ONCE
    ? "max 300000 tokens"
    : undefined;
}

/** Little-endian 32-bit floats. */
const toBase64 = (vector: readonly number[]): string =>
  Buffer.from(Float32Array.from(vector).buffer).toString("base64");

/** Of unit length, as OpenAI's: each word counts in three places. */
export function hashToVector(text: string, dimensions: number): number[] {
  const vector = new Array<number>(dimensions).fill(0);
  for (const word of text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [text]) {
    for (let seed = 1; seed <= 3; seed += 1) {
      let hash = seed * 7919;
      for (const letter of word) hash = (hash * 31 + (letter.codePointAt(0) ?? 0)) % 1_000_003;
      const place = hash % dimensions;
      vector[place] = (vector[place] ?? 0) + (hash % 2 === 0 ? 1 : -1);
    }
  }
  const length = Math.hypot(...vector);
  return length === 0 ? vector : vector.map((part) => part / length);
}
