import { checkCount } from "../../domain/limits.ts";
import type { CallOutcome, CallPurpose, TokenUsage } from "../../domain/model-usage.ts";
import { invalid, isMemoryError, MemoryError } from "../../errors.ts";
import type { CallOptions } from "../../ports/call-options.ts";
import type { CallHooks } from "../../ports/language/model-calls.ts";
import { type CircuitBreaker, createCircuitBreaker } from "../shared/circuit-breaker.ts";
import { parseRetryAfter, retryWithBackoff } from "../shared/remote-call.ts";
import { isJsonObject } from "./lenient-json.ts";

/** What every part of the protocol needs to know of its server. */
export interface ModelServerOptions extends CallHooks {
  /**
   * Up to and with "/v1": "https://api.openai.com/v1" where absent. Of Azure's: "https://NAME.openai.azure.com/openai/v1", or with
   * `apiVersion` "https://NAME.openai.azure.com", where the model is the name of the deployment.
   */
  readonly baseUrl?: string;
  /** Needed by OpenAI, and by most others. Azure's is sent in its own header. */
  readonly apiKey?: string;
  /** Of Azure's older form, with deployments in the path: "2024-10-21". */
  readonly apiVersion?: string;
  /** How long one request may take, with its whole answer, in ms. */
  readonly timeoutMs?: number;
  /** How often a request is tried before its failure is told of. */
  readonly tries?: number;
  /** How long all tries of a call may take together, with the pauses between them, in ms (180,000). */
  readonly deadlineMs?: number;
  /** In place of the global one. */
  readonly fetch?: typeof globalThis.fetch;
}

/** Where and how a server is asked. */
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
  readonly onCall: CallHooks["onCall"] | undefined;
  readonly mayCall: CallHooks["mayCall"] | undefined;
}

/** What is asked of it. */
interface ModelEndpoint {
  readonly path: "embeddings" | "chat/completions";
  /** "embedding server", "model's server". */
  readonly label: string;
  readonly model: string;
  readonly timeoutMs: number;
  readonly tries: number;
}

/** `invalid_input` for options that cannot work; its message begins with the option's name, and shows no secret. */
export function createModelServer(options: ModelServerOptions, endpoint: ModelEndpoint): ModelServer {
  const url = toEndpointUrl(options, endpoint);
  const { apiKey, fetch, onCall, mayCall, onCircuit } = options;
  if (apiKey !== undefined && !/^[\x21-\x7e]+$/.test(apiKey)) {
    throw invalid("apiKey: a key is visible ASCII characters, without a space or a line break.");
  }
  if (apiKey === undefined && url.host === "api.openai.com") {
    throw invalid("apiKey: OpenAI needs a key (OPENAI_API_KEY), or name another server (OPENAI_BASE_URL).");
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
    throw invalid('baseUrl: give an address such as "https://api.openai.com/v1".');
  }
  if (base.username !== "" || base.password !== "") {
    throw invalid("baseUrl: it holds a password. Give the key as apiKey.");
  }
  const folder = base.pathname.replace(/\/+$/, "");
  if (apiVersion === undefined) return new URL(`${base.origin}${folder}/${path}`);
  if (!/^[\w-]{1,40}$/.test(apiVersion)) throw invalid('apiVersion: give one such as "2024-10-21".');
  const deployments = `${folder.replace(/\/openai(\/deployments.*)?$/, "")}/openai/deployments`;
  return new URL(
    `${base.origin}${deployments}/${encodeURIComponent(model)}/${path}?api-version=${apiVersion}`,
  );
}

/** What is asked of a server, as the ledger wants to know it. */
export interface ServerCall {
  readonly purpose: CallPurpose;
  readonly model: string;
  readonly units: number;
  /** Tokens of what is sent, estimated, and of the answer at most. */
  readonly tokensIn: number;
  readonly tokensOut: number;
}

/** An answer, and how it is to be set down: one in no usable form is an answer too. */
interface ServerAnswer<Value> {
  readonly value: Value;
  readonly outcome: Extract<CallOutcome, "ok" | "invalid" | "refused" | "cut">;
  readonly usage: TokenUsage;
}

export type CallAttempt<Value> = ServerAnswer<Value> | TransientFailure | RequestRefusal;

/** How long a request may take, and the signal that ends it. */
export interface RequestLimits {
  readonly timeoutMs: number;
  readonly signal: AbortSignal | undefined;
}

const NO_TOKENS: TokenUsage = { tokensIn: 0, tokensCached: 0, tokensOut: 0 };

/**
 * Asks a server, and again where a trouble may pass, until the deadline: within the budget, past the circuit, and with a
 * report of each request. Throws the last trouble, or the reason of the signal.
 */
export async function callServer<Value>(
  server: ModelServer,
  call: ServerCall,
  options: CallOptions,
  once: (limits: RequestLimits) => Promise<CallAttempt<Value>>,
): Promise<Value> {
  await checkBudget(server, call, options);
  return retryWithBackoff(server, options.signal, async (timeoutMs) => {
    const running = beginCall(server, call, options);
    let tried: CallAttempt<Value>;
    try {
      tried = await once({ timeoutMs, signal: options.signal });
    } catch (error) {
      running.end(options.signal?.aborted ? "aborted" : "failed");
      throw error;
    }
    if ("refused" in tried) {
      running.end("rejected");
      throw tried.refused;
    }
    if ("failed" in tried) running.end(tried.outcome);
    else running.end(tried.outcome, tried.usage);
    return tried;
  });
}

/** Throws `over_quota` where a budget is used up. */
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

/** A request that is on its way. */
export interface RunningCall {
  end(outcome: CallOutcome, usage?: TokenUsage): void;
}

/** Lets a request out; throws `unavailable` where the circuit is open. */
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

/** A server that answers is there, whatever it answers; but for the troubles that mean it cannot answer now. */
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

/** Longer answers than this are none: nobody asked for them. */
const MOST_BYTES = 32_000_000;
/** So much of a refusal is read, to find out what it is about. */
const MOST_OF_A_REFUSAL = 20_000;

/**
 * Sends one request. What may pass (no answer, too many requests, a fault of the server) and what will not (a refusal) is
 * given back; an aborted signal is thrown. Nothing says anything of what was sent, the key or the answer.
 */
export async function sendRequest(
  server: ModelServer,
  body: object,
  { timeoutMs, signal }: RequestLimits,
  accept = "application/json",
): Promise<{ readonly response: Response } | TransientFailure | RequestRefusal> {
  try {
    const response = await server.fetch(server.url, {
      method: "POST",
      redirect: "error",
      headers: { "content-type": "application/json", accept, ...server.headers },
      body: JSON.stringify(body),
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
    return text === undefined ? createFailure(server, "gave an answer without an end") : { text };
  } catch (error) {
    limits.signal?.throwIfAborted();
    return toTransientFailure(error, server.place, limits.timeoutMs);
  }
}

/** An answer that is none. */
export function createFailure({ place }: Pick<ModelServer, "place">, what: string): TransientFailure {
  return { failed: new MemoryError("unavailable", `${place} ${what}. Try again later.`), outcome: "failed" };
}

/** What a status that is no success comes to. */
function toStatusFailure(
  server: Pick<ModelServer, "place">,
  { status, headers }: Pick<Response, "status" | "headers">,
  said: string,
): TransientFailure | RequestRefusal {
  const { place } = server;
  if (status === 429 && /insufficient_quota/.test(said)) {
    const credit = `${place} says that the account has no credit left. Look at its billing.`;
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
  return { refused: toRefusalError(status, place), said, status };
}

function toRefusalError(status: number, place: string): MemoryError {
  if (status === 401 || status === 403) {
    return new MemoryError("unavailable", `${place} refuses the key. Check OPENAI_API_KEY.`);
  }
  if (status === 400 || status === 413 || status === 422) {
    return invalid(`${place} refuses what it was sent (${status}). Are the model and its settings right?`);
  }
  return new MemoryError(
    "unavailable",
    `${place} answers ${status}. Check its address and the model's name.`,
  );
}

/** The text of an answer; of a longer one its beginning, or nothing. */
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

/** A trouble that may pass. */
export interface TransientFailure {
  readonly failed: MemoryError;
  readonly outcome: Extract<CallOutcome, "failed" | "rate_limited" | "timeout" | "unreachable">;
  /** When the server wants to be asked again, where it says so. */
  readonly retryAfterMs?: number;
}

/** A refusal: the same request would meet it again. */
export interface RequestRefusal {
  readonly refused: MemoryError;
  readonly status: number;
  /** What the server said, to find out what it is about; never shown, for it may quote what was sent. */
  readonly said: string;
}

/** What a request that got no answer failed of, in the system's own word where there is one: `fetch` says nothing. */
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
