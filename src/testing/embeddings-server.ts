import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as pause } from "node:timers/promises";

/** What the server does with the next request, in place of a right answer. */
export type Trouble =
  | { readonly status: number; readonly headers?: { readonly [name: string]: string } }
  | { readonly answer: string }
  | { readonly change: (answer: EmbeddingsAnswer) => unknown }
  | { readonly afterMs: number }
  | "hangs"
  | "hangs up";

interface EmbeddingsAnswer {
  readonly object: "list";
  readonly model: string;
  readonly data: { object: "embedding"; index: number; embedding: number[] }[];
  readonly usage: { readonly prompt_tokens: number; readonly total_tokens: number };
}

/** A request as it came. */
export interface Received {
  readonly path: string;
  readonly authorization: string | undefined;
  readonly body: { readonly [field: string]: unknown };
  readonly at: number;
}

export interface EmbeddingsServer {
  /** With "/v1" at the end. */
  readonly url: string;
  /** Every request, oldest first. */
  readonly received: Received[];
  /** What the next requests meet, one each. */
  readonly troubles: Trouble[];
  /** What every request meets; absent while all is well. */
  always: Trouble | undefined;
  close(): Promise<void>;
}

/** OpenAI's own limits: texts in one request, tokens of a text, tokens in one request. */
const MOST_TEXTS = 2048;
const MOST_TOKENS = 8191;
const MOST_TOKENS_AT_ONCE = 300_000;
const NATURAL: { readonly [model: string]: number } = {
  "text-embedding-3-small": 1536,
  "text-embedding-ada-002": 1536,
  "nomic-embed-text": 768,
};

/**
 * A server of OpenAI's embeddings protocol on this machine, for tests: as strict as the real one about what it is sent,
 * and with troubles on demand. Vectors are made of hashed words, so that texts that share words are near.
 */
export async function embeddingsServer(
  options: { apiKey?: string; mostTexts?: number } = {},
): Promise<EmbeddingsServer> {
  const received: Received[] = [];
  const troubles: Trouble[] = [];
  const given: EmbeddingsServer = {
    url: "",
    received,
    troubles,
    always: undefined,
    close: () => stopped(server),
  };
  const server = createServer((request, response) => {
    void answered(request, response).catch(() => response.destroy());
  });

  const answered = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const raw = await textOf(request);
    const body = JSON.parse(raw) as Received["body"];
    const authorization = request.headers.authorization;
    received.push({ path: request.url ?? "", authorization, body, at: performance.now() });
    const trouble = troubles.shift() ?? given.always;
    // As the real one does, it repeats what it was sent: the key, and the text.
    if (trouble && (await isSpoilt(response, trouble, `${authorization} ${raw}`))) return;
    if (options.apiKey !== undefined && authorization !== `Bearer ${options.apiKey}`) {
      return refuse(response, 401, `Incorrect API key provided: ${authorization}`);
    }
    const problem = problemOf(request, body, options.mostTexts ?? MOST_TEXTS);
    if (problem !== undefined) return refuse(response, 400, problem);
    const answer = answerOf(body);
    const isChanged = typeof trouble === "object" && "change" in trouble;
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify(isChanged ? trouble.change(answer) : answer));
  };

  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return Object.assign(given, { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1` });
}

/** Whether the trouble was the whole answer. */
async function isSpoilt(response: ServerResponse, trouble: Trouble, words: string): Promise<boolean> {
  if (trouble === "hangs") return true;
  if (trouble === "hangs up") response.destroy();
  else if ("status" in trouble) refuse(response, trouble.status, words, trouble.headers);
  else if ("answer" in trouble) response.end(trouble.answer);
  else if ("afterMs" in trouble) {
    await pause(trouble.afterMs);
    return false;
  } else return false;
  return true;
}

function stopped(server: Server): Promise<void> {
  server.closeAllConnections();
  return new Promise((resolve) => server.close(() => resolve()));
}

async function textOf(request: IncomingMessage): Promise<string> {
  request.setEncoding("utf8");
  let text = "";
  for await (const piece of request) text += piece;
  return text;
}

function refuse(
  response: ServerResponse,
  status: number,
  message: string,
  headers: { readonly [name: string]: string } = {},
): void {
  response.writeHead(status, { "content-type": "application/json", ...headers });
  response.end(
    JSON.stringify({ error: { message, type: "invalid_request_error", param: null, code: null } }),
  );
}

function problemOf(request: IncomingMessage, body: Received["body"], mostTexts: number): string | undefined {
  const { input, model, encoding_format: format } = body;
  if (request.method !== "POST" || request.url !== "/v1/embeddings") return "unknown url";
  if (typeof model !== "string") return "you must provide a model parameter";
  if (format !== "float") return "this server was asked for another format";
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

function answerOf(body: Received["body"]): EmbeddingsAnswer {
  const model = String(body.model);
  const dimensions = Number(body.dimensions ?? NATURAL[model] ?? 256);
  const texts = body.input as string[];
  return {
    object: "list",
    model,
    data: texts.map((text, index) => ({ object: "embedding", index, embedding: hashed(text, dimensions) })),
    usage: { prompt_tokens: texts.length, total_tokens: texts.length },
  };
}

/** Of unit length, as OpenAI's: each word counts in three places. */
export function hashed(text: string, dimensions: number): number[] {
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
