import { checkCount } from "../../domain/limits.ts";
import { invalid } from "../../errors.ts";
import type { CallHooks } from "../../ports/calls.ts";
import { type CircuitBreaker, createCircuitBreaker } from "../shared/circuit.ts";

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
export interface ModelEndpoint {
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
