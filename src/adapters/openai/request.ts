import { invalid, isMemoryError, MemoryError } from "../../errors.ts";
import { type Attempt, retryAfterMs } from "./retry.ts";

/** Where and how the server is asked. */
export interface Server {
  readonly url: URL;
  readonly apiKey?: string;
  readonly timeoutMs: number;
  readonly fetch: typeof globalThis.fetch;
}

export interface Asked {
  readonly model: string;
  readonly dimensions: number;
  /** Sent, where the model is to give fewer dimensions than it has. */
  readonly asksFor?: number;
}

/**
 * Asks once for the vectors of some texts. What may pass (no answer, too many requests, a fault of the server, an answer
 * that is none) is given back; what will not pass is thrown. Neither says anything of the texts, the key or the answer.
 */
export async function requestVectors(
  server: Server,
  asked: Asked,
  texts: readonly string[],
  signal: AbortSignal | undefined,
): Promise<Attempt<Float32Array[]>> {
  const place = `the embedding server ${server.url.host}`;
  const failing = (what: string): { failed: Error } => ({
    failed: new MemoryError("unavailable", `${place} ${what}. Try again later.`),
  });
  let answer: string;
  try {
    const response = await send(server, asked, texts, signal);
    if (!response.ok) {
      await response.body?.cancel();
      refuse(response.status, place);
      const after = retryAfterMs(response.headers);
      return {
        ...failing(`answered ${response.status}`),
        ...(after === undefined ? {} : { retryAfterMs: after }),
      };
    }
    answer = await response.text();
  } catch (error) {
    signal?.throwIfAborted();
    if (isMemoryError(error)) throw error;
    return failing(problemOf(error, server.timeoutMs));
  }
  const vectors = vectorsIn(answer, texts.length);
  if (!vectors) return failing("gave an answer without a vector for each text");
  const wrong = vectors.find(({ length }) => length !== asked.dimensions);
  if (!wrong) return { value: vectors };
  throw new MemoryError(
    "unavailable",
    `${place} gives vectors of ${wrong.length} dimensions, not of ${asked.dimensions}. ` +
      `Set dimensions to ${wrong.length}.`,
  );
}

function send(
  { url, apiKey, timeoutMs, fetch }: Server,
  { model, asksFor }: Asked,
  texts: readonly string[],
  signal: AbortSignal | undefined,
): Promise<Response> {
  return fetch(url, {
    method: "POST",
    redirect: "error",
    headers: {
      "content-type": "application/json",
      accept: "application/json",
      ...(apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` }),
    },
    body: JSON.stringify({
      model,
      input: texts,
      // Asked for always: what is sent without it differs from server to server.
      encoding_format: "float",
      ...(asksFor === undefined ? {} : { dimensions: asksFor }),
    }),
    signal: AbortSignal.any([AbortSignal.timeout(timeoutMs), ...(signal ? [signal] : [])]),
  });
}

/** Throws where another try cannot help. */
function refuse(status: number, place: string): void {
  if (status === 408 || status === 409 || status === 425 || status === 429 || status >= 500) return;
  if (status === 401 || status === 403) {
    throw new MemoryError("unavailable", `${place} refuses the key. Check OPENAI_API_KEY.`);
  }
  if (status === 400 || status === 413 || status === 422) {
    throw invalid(`${place} refuses what it was sent (${status}). Are model and dimensions right?`);
  }
  throw new MemoryError("unavailable", `${place} answers ${status}. Check its address and the model's name.`);
}

/** In the system's own word where there is one: the message of `fetch` says nothing. */
function problemOf(error: unknown, timeoutMs: number): string {
  if (error instanceof DOMException && error.name === "TimeoutError")
    return `gave no answer within ${timeoutMs} ms`;
  const cause = error instanceof Error ? error.cause : undefined;
  const code = isObject(cause) ? cause.code : undefined;
  return `cannot be reached${typeof code === "string" && /^[A-Z_]{3,40}$/.test(code) ? ` (${code})` : ""}`;
}

/** The vectors of an answer in the order of the texts, of unit length; nothing where one is missing or is no vector. */
function vectorsIn(answer: string, count: number): Float32Array[] | undefined {
  const body = parsed(answer);
  const data = isObject(body) ? body.data : undefined;
  if (!Array.isArray(data) || data.length !== count) return undefined;
  const vectors = new Array<Float32Array | undefined>(count).fill(undefined);
  for (const [place, entry] of data.entries()) {
    if (!isObject(entry)) return undefined;
    const index = entry.index ?? place;
    const vector = unitVector(entry.embedding);
    if (typeof index !== "number" || !(index in vectors) || vectors[index] || !vector) return undefined;
    vectors[index] = vector;
  }
  return vectors as Float32Array[];
}

function parsed(answer: string): unknown {
  try {
    return JSON.parse(answer);
  } catch {
    // Without the parser's words, which quote the answer.
    return undefined;
  }
}

function unitVector(parts: unknown): Float32Array | undefined {
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

function isObject(value: unknown): value is { readonly [field: string]: unknown } {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
