import { checkCount } from "../../../domain/limits.ts";
import type { CallOutcome, CallPurpose, TokenUsage } from "../../../domain/model-usage.ts";
import { invalid, isMemoryError, MemoryError } from "../../../errors.ts";
import type { CallOptions } from "../../../ports/call-options.ts";
import type { CallHooks } from "../../../ports/language/model-calls.ts";
import { type CircuitBreaker, createCircuitBreaker } from "./circuit-breaker.ts";
import { isJsonObject } from "./json-values.ts";
import { parseRetryAfter, retryWithBackoff } from "./remote-call.ts";

/** Options of a model server. */
export interface ModelServerOptions extends CallHooks {
  /**
   * The address up to and including "/v1" (default: "https://api.openai.com/v1"). For Azure: "https://NAME.openai.azure.com/openai/v1",
   * or with `apiVersion` "https://NAME.openai.azure.com"; then the model is the name of the deployment.
   */
  readonly baseUrl?: string;
  /** Required by OpenAI, and by most others. For Azure, it is sent in Azure's own header. */
  readonly apiKey?: string;
  /** For Azure's older API, with deployments in the path: "2024-10-21". */
  readonly apiVersion?: string;
  /** Timeout of one request with its whole answer, in ms. */
  readonly timeoutMs?: number;
  /** How often a request is tried before it fails. */
  readonly tries?: number;
  /** Deadline for all tries of a call and the pauses between them, in ms (default: 180,000). */
  readonly deadlineMs?: number;
  /** Replaces the global `fetch`. */
  readonly fetch?: typeof globalThis.fetch;
}

/** The address of a server, and how to call it. */
export interface ModelServer {
  readonly url: URL;
  /** For messages: "the embedding server api.openai.com". */
  readonly place: string;
  readonly headers: { readonly [name: string]: string };
  readonly timeoutMs: number;
  readonly tries: number;
  readonly deadlineMs: number;
  readonly fetch: typeof globalThis.fetch;
  readonly circuit: CircuitBreaker;
  /** The setting of its key, for messages. */
  readonly keySetting: string;
  readonly onCall: CallHooks["onCall"] | undefined;
  readonly mayCall: CallHooks["mayCall"] | undefined;
}

/** The endpoint to call. */
interface ModelEndpoint {
  readonly path: "embeddings" | "chat/completions" | "audio/transcriptions" | "rerank";
  /** "embedding server", "model's server". */
  readonly label: string;
  readonly model: string;
  readonly timeoutMs: number;
  readonly tries: number;
  /** The setting of its key, for messages (OPENAI_API_KEY). */
  readonly keySetting?: string;
}

/** Throws `invalid_input` for invalid options. The message begins with the option's name, and shows no secret. */
export function createModelServer(options: ModelServerOptions, endpoint: ModelEndpoint): ModelServer {
  const url = toEndpointUrl(options, endpoint);
  const { apiKey, fetch, onCall, mayCall, onCircuit } = options;
  if (apiKey !== undefined && !/^[\x21-\x7e]+$/.test(apiKey)) {
    throw invalid("apiKey: a key consists of visible ASCII characters, without spaces or line breaks.");
  }
  if (apiKey === undefined && url.host === "api.openai.com") {
    throw invalid(
      "apiKey: OpenAI needs a key (OPENAI_API_KEY). Otherwise set another server (OPENAI_BASE_URL).",
    );
  }
  const place = `the ${endpoint.label} ${url.host}`;
  return {
    url,
    place,
    headers: apiKey === undefined ? {} : toKeyHeader(apiKey, url, options.apiVersion),
    timeoutMs: checkCount(options.timeoutMs ?? endpoint.timeoutMs, "timeoutMs", 1, 600_000),
    tries: checkCount(options.tries ?? endpoint.tries, "tries", 1, 20),
    deadlineMs: checkCount(options.deadlineMs ?? 180_000, "deadlineMs", 1, 3_600_000),
    fetch: fetch ?? globalThis.fetch,
    keySetting: endpoint.keySetting ?? "OPENAI_API_KEY",
    circuit: createCircuitBreaker({ place, onChange: onCircuit && ((state) => onCircuit(state, url.host)) }),
    onCall,
    mayCall,
  };
}

function toKeyHeader(apiKey: string, url: URL, apiVersion: string | undefined): { [name: string]: string } {
  return isAzure(url) || apiVersion !== undefined
    ? { "api-key": apiKey }
    : { authorization: `Bearer ${apiKey}` };
}

function isAzure({ hostname }: URL): boolean {
  return hostname.endsWith(".azure.com") || hostname.endsWith(".azure.us") || hostname.endsWith(".azure.cn");
}

function toEndpointUrl({ baseUrl, apiVersion }: ModelServerOptions, { path, model }: ModelEndpoint): URL {
  const base = URL.parse((baseUrl ?? "https://api.openai.com/v1").replace(/\/+$/, ""));
  if (!base || !/^https?:$/.test(base.protocol) || base.search !== "" || base.hash !== "") {
    throw invalid('baseUrl: use an address such as "https://api.openai.com/v1".');
  }
  if (base.username !== "" || base.password !== "") {
    throw invalid("baseUrl: the address contains a password. Set the key as apiKey.");
  }
  const folder = base.pathname.replace(/\/+$/, "");
  if (apiVersion === undefined) return new URL(`${base.origin}${folder}/${path}`);
  if (!/^[\w-]{1,40}$/.test(apiVersion)) throw invalid('apiVersion: use a version such as "2024-10-21".');
  const deployments = `${folder.replace(/\/openai(\/deployments.*)?$/, "")}/openai/deployments`;
  return new URL(
    `${base.origin}${deployments}/${encodeURIComponent(model)}/${path}?api-version=${apiVersion}`,
  );
}

/** A call, as the ledger records it. */
export interface ServerCall {
  readonly purpose: CallPurpose;
  readonly model: string;
  readonly units: number;
  /** Estimated tokens of the request, and at most of the answer. */
  readonly tokensIn: number;
  readonly tokensOut: number;
}

/** An answer, and its outcome for the ledger: an unusable answer is an answer too. */
interface ServerAnswer<Value> {
  readonly value: Value;
  readonly outcome: Extract<CallOutcome, "ok" | "invalid" | "refused" | "cut">;
  readonly usage: TokenUsage;
}

export type CallAttempt<Value> = ServerAnswer<Value> | TransientFailure | RequestRefusal;

/** The timeout of a request, and the signal that aborts it. */
export interface RequestLimits {
  readonly timeoutMs: number;
  readonly signal: AbortSignal | undefined;
}

const NO_TOKENS: TokenUsage = { tokensIn: 0, tokensCached: 0, tokensOut: 0 };

/**
 * Calls a server, and retries temporary failures until the deadline. It respects the budget and the circuit breaker, and reports
 * each request. Throws the last failure, or the reason of the signal.
 */
export async function callServer<Value>(
  server: ModelServer,
  call: ServerCall,
  options: CallOptions,
  sendOnce: (limits: RequestLimits) => Promise<CallAttempt<Value>>,
): Promise<Value> {
  await checkBudget(server, call, options);
  return retryWithBackoff(server, options.signal, async (timeoutMs) => {
    const running = beginCall(server, call, options);
    let attempt: CallAttempt<Value>;
    try {
      attempt = await sendOnce({ timeoutMs, signal: options.signal });
    } catch (error) {
      running.end(options.signal?.aborted ? "aborted" : "failed");
      throw error;
    }
    if ("refused" in attempt) {
      running.end("rejected");
      throw attempt.refused;
    }
    if ("failed" in attempt) running.end(attempt.outcome);
    else running.end(attempt.outcome, attempt.usage);
    return attempt;
  });
}

/** Throws `over_quota` if a budget is used up. */
export async function checkBudget(
  server: ModelServer,
  call: ServerCall,
  options: CallOptions,
): Promise<void> {
  options.signal?.throwIfAborted();
  try {
    const { purpose, model, tokensIn, tokensOut } = call;
    await server.mayCall?.(purpose, options.scope, { model, tokensIn, tokensOut });
  } catch (error) {
    if (isMemoryError(error) && error.code === "over_quota")
      reportCall(server, call, options, "over_budget", 0);
    throw error;
  }
}

/** A request in progress. */
export interface RunningCall {
  end(outcome: CallOutcome, usage?: TokenUsage): void;
}

/** Begins a request. Throws `unavailable` if the circuit is open. */
export function beginCall(server: ModelServer, call: ServerCall, options: CallOptions): RunningCall {
  try {
    server.circuit.enter();
  } catch (error) {
    reportCall(server, call, options, "not_tried", 0);
    throw error;
  }
  const begun = performance.now();
  let isOver = false;
  return {
    end(outcome, usage) {
      if (isOver) return;
      isOver = true;
      server.circuit.recordOutcome(CIRCUIT_OUTCOMES[outcome] ?? "well");
      reportCall(server, call, options, outcome, performance.now() - begun, usage);
    },
  };
}

/** A server that answers is available, whatever its answer; except for failures that mean that it cannot answer now. */
const CIRCUIT_OUTCOMES: { readonly [outcome in CallOutcome]?: "badly" | "unknown" } = {
  failed: "badly",
  timeout: "badly",
  unreachable: "badly",
  rate_limited: "badly",
  aborted: "unknown",
};

function reportCall(
  server: ModelServer,
  { purpose, model, units }: ServerCall,
  { scope }: CallOptions,
  outcome: CallOutcome,
  ms: number,
  usage: TokenUsage = NO_TOKENS,
): void {
  server.onCall?.({ purpose, model, units, ...usage, host: server.url.host, ms, outcome }, scope);
}

/** Longer answers are rejected. */
const MOST_BYTES = 32_000_000;
/** How much of a refusal is read, to find its subject. */
const MOST_OF_A_REFUSAL = 20_000;

/**
 * Sends one request. Gives temporary failures (no answer, too many requests, a server error) and refusals as values, and throws the
 * reason of an aborted signal. No message contains the request, the key or the answer.
 */
export async function sendRequest(
  server: ModelServer,
  body: object,
  { timeoutMs, signal }: RequestLimits,
  accept = "application/json",
): Promise<{ readonly response: Response } | TransientFailure | RequestRefusal> {
  const isForm = body instanceof FormData;
  try {
    const response = await server.fetch(server.url, {
      method: "POST",
      redirect: "error",
      // The type of a form has its boundary, which only `fetch` knows.
      headers: { ...(isForm ? {} : { "content-type": "application/json" }), accept, ...server.headers },
      body: isForm ? body : JSON.stringify(body),
      signal: AbortSignal.any([AbortSignal.timeout(timeoutMs), ...(signal ? [signal] : [])]),
    });
    if (response.ok) return { response };
    const said = (await readResponseText(response, MOST_OF_A_REFUSAL, "cut")) ?? "";
    return toStatusFailure(server, response, said);
  } catch (error) {
    signal?.throwIfAborted();
    return toTransientFailure(error, server.place, timeoutMs);
  }
}

/** Sends one request and reads its whole answer. */
export async function sendAndReadText(
  server: ModelServer,
  body: object,
  limits: RequestLimits,
): Promise<{ readonly text: string } | TransientFailure | RequestRefusal> {
  const sent = await sendRequest(server, body, limits);
  if (!("response" in sent)) return sent;
  try {
    const text = await readResponseText(sent.response, MOST_BYTES, "give up");
    return text === undefined ? createFailure(server, "gave an answer that is too long") : { text };
  } catch (error) {
    limits.signal?.throwIfAborted();
    return toTransientFailure(error, server.place, limits.timeoutMs);
  }
}

/** The failure for an unusable answer. */
export function createFailure({ place }: Pick<ModelServer, "place">, what: string): TransientFailure {
  return { failed: new MemoryError("unavailable", `${place} ${what}. Try again later.`), outcome: "failed" };
}

/** The failure or refusal for a status other than success. */
function toStatusFailure(
  server: Pick<ModelServer, "place" | "keySetting">,
  { status, headers }: Pick<Response, "status" | "headers">,
  said: string,
): TransientFailure | RequestRefusal {
  const { place } = server;
  if (status === 429 && /insufficient_quota/.test(said)) {
    const credit = `${place} reports that the account has no credit left. Check its billing.`;
    return { refused: new MemoryError("unavailable", credit), said, status };
  }
  if (status === 408 || status === 409 || status === 425 || status === 429 || status >= 500) {
    const after = parseRetryAfter(headers);
    return {
      ...createFailure(server, `answered ${status}`),
      ...(status === 429 ? { outcome: "rate_limited" } : {}),
      ...(status === 408 ? { outcome: "timeout" } : {}),
      ...(after === undefined ? {} : { retryAfterMs: after }),
    };
  }
  return { refused: toRefusalError(status, server), said, status };
}

function toRefusalError(
  status: number,
  { place, keySetting }: Pick<ModelServer, "place" | "keySetting">,
): MemoryError {
  if (status === 401 || status === 403) {
    return new MemoryError("unavailable", `${place} rejects the key. Check ${keySetting}.`);
  }
  if (status === 400 || status === 413 || status === 422) {
    return invalid(`${place} rejects the request (${status}). Check the model and its settings.`);
  }
  return new MemoryError(
    "unavailable",
    `${place} answered ${status}. Check its address and the model's name.`,
  );
}

/** The text of an answer; if it is too long, its beginning or undefined. */
async function readResponseText(
  response: Response,
  most: number,
  longer: "cut" | "give up",
): Promise<string | undefined> {
  const decoder = new TextDecoder();
  let text = "";
  let bytes = 0;
  for await (const piece of response.body ?? []) {
    bytes += piece.byteLength;
    if (bytes > most && longer === "give up") return undefined;
    text += decoder.decode(piece, { stream: true });
    if (bytes > most) return text;
  }
  return text + decoder.decode();
}

/** A temporary failure. */
export interface TransientFailure {
  readonly failed: MemoryError;
  readonly outcome: Extract<CallOutcome, "failed" | "rate_limited" | "timeout" | "unreachable">;
  /** The retry delay that the server asks for, if any. */
  readonly retryAfterMs?: number;
}

/** A refusal: the same request would be refused again. */
export interface RequestRefusal {
  readonly refused: MemoryError;
  readonly status: number;
  /** The server's message, to find the subject of the refusal. It is never shown, because it may quote the request. */
  readonly said: string;
}

/** The failure of a request without an answer. It names the system's error code if there is one, because `fetch` gives no reason. */
export function toTransientFailure(error: unknown, place: string, timeoutMs: number): TransientFailure {
  if (error instanceof DOMException && error.name === "TimeoutError") {
    return {
      failed: new MemoryError(
        "unavailable",
        `${place} gave no answer within ${timeoutMs} ms. Try again later.`,
      ),
      outcome: "timeout",
    };
  }
  const cause = error instanceof Error ? error.cause : undefined;
  const code = isJsonObject(cause) ? cause.code : undefined;
  const word = typeof code === "string" && /^[A-Z_]{3,40}$/.test(code) ? ` (${code})` : "";
  return {
    failed: new MemoryError("unavailable", `${place} cannot be reached${word}. Try again later.`),
    outcome: "unreachable",
  };
}
