import type { Server } from "node:http";
import { createAdaptorServer } from "@hono/node-server";
import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response";
import type { Keepsake } from "../engine/api.ts";
import { invalid, MemoryError } from "../errors.ts";
import { findInjections } from "../language/en/prompt-injection/find-injections.ts";
import type { RateLimits } from "../ports/rate-limits.ts";
import type { Clock } from "../ports/system.ts";
import { type AppOptions, httpApp, type ServerFault } from "./app.ts";
import { createLifecycle, gracefulShutdown } from "./graceful-shutdown.ts";
import { type ApiKeys, apiKeys, type KeyStore, passingKeys } from "./keys/api-keys.ts";
import { parseKeyId } from "./keys/key-ring.ts";
import { keysFile } from "./keys/key-stores.ts";
import type { Answered } from "./middleware/observability.ts";
import { isLoopback } from "./middleware/security.ts";
import type { ProxyOptions } from "./proxy/proxy.ts";
import type { NodeBindings } from "./request-context.ts";
import { omitUndefined } from "./wire.ts";

export interface ServeOptions {
  readonly keepsake: Keepsake;
  readonly clock: Clock;
  /** 127.0.0.1 */
  readonly host?: string;
  /** 7420; 0 takes any that is free. */
  readonly port?: number;
  /** The file that keeps the hashes of keys, `<database>.keys.json`; without one they end with the process. */
  readonly keysPath?: string;
  /** Where keys are kept instead: what several servers share (`sharedKeys`). */
  readonly keys?: KeyStore;
  /** A key that counts beside those in the file, from KEEPSAKE_API_KEY. */
  readonly apiKey?: string;
  /** Names that it answers to beside those of this machine, without ports. */
  readonly hosts?: readonly string[];
  /** Origins of pages that may call it beside its own: "https://app.example.com", "http://localhost:5173". None. */
  readonly origins?: readonly string[];
  readonly onFault?: (fault: ServerFault) => void;
  readonly onAnswered?: (answered: Answered) => void;
  /** How often each key may ask; absent, as often as it likes. */
  readonly rateLimits?: RateLimits;
  /** How many bytes of bodies each key may send; absent, as many as it likes. */
  readonly byteLimits?: RateLimits;
  readonly meter?: AppOptions["meter"];
  readonly tracer?: AppOptions["tracer"];
  readonly metrics?: AppOptions["metrics"];
  /** How long a request may take, in ms (60,000). */
  readonly requestMs?: number;
  readonly proxy?: ProxyOptions;
  /** How long it goes on serving after `close`, and says that it is not ready, in ms (0). */
  readonly drainMs?: number;
  /** Within how many ms after that `close` ends, with what is not finished broken off (15,000). */
  readonly stopMs?: number;
}

export interface Served {
  /** Where it listens: "http://127.0.0.1:7420". */
  readonly url: string;
  /** The key that a first start made. It is shown once: only its hash is kept. */
  readonly firstKey?: string;
  /** The page's address with the first key in its fragment, which no server and no log sees. */
  readonly signInUrl?: string;
  /**
   * Says that it is not ready, then takes no more requests, and ends when those at work are answered and what they left
   * behind is written. What takes longer than a part of `stopMs` is broken off: streams end with an error, requests get 503.
   */
  close(): Promise<void>;
}

const STOP_MS = 15_000;
const HEADERS_TIMEOUT_MS = 10_000;
/** A connection that is closed in the moment in which it is used again is an error over there: longer than most clients keep one. */
const KEEP_ALIVE_MS = 75_000;
/** For a request to come in, an import among them. Others end with their own deadline. */
const REQUEST_TIMEOUT_MS = 300_000;

const NO_KEY_PROBLEM =
  "Others could reach it there, and there is no key yet. Make one first, with `keepsake keys create`, or set " +
  "KEEPSAKE_API_KEY; or listen on 127.0.0.1.";

/**
 * Starts the server. `unavailable` where the port is taken, `invalid_input` where others could reach it and there is no
 * key. It does not close the memory.
 */
export async function serve(options: ServeOptions): Promise<Served> {
  const { keepsake, clock, host = "127.0.0.1", port = 7420, keysPath, apiKey } = options;
  const store = options.keys ?? (keysPath === undefined ? passingKeys() : keysFile(keysPath));
  await store.refresh?.();
  const keys = apiKeys({ store, clock, given: apiKey, makesFirst: isLoopback(host) });
  await keys.kept();
  if (!isLoopback(host) && !keys.isAny()) throw invalid(NO_KEY_PROBLEM);
  const life = createLifecycle();
  const app = httpApp({ ...toAppOptions(options), keepsake, keys, host, lifecycle: life });
  const server = createAdaptorServer({
    fetch: async (request, wire) => passThroughResponse(await app.fetch(request, wire), wire as NodeBindings),
    serverOptions: {
      headersTimeout: HEADERS_TIMEOUT_MS,
      requestTimeout: REQUEST_TIMEOUT_MS,
      keepAliveTimeout: KEEP_ALIVE_MS,
    },
  }) as Server;
  await listen(server, host, port);
  warmUpInjectionPatterns();
  const url = toUrl(server, host);
  const first = findFirstKey(keys);
  const shown = first === undefined ? {} : { firstKey: first, signInUrl: `${url}/#key=${first}` };
  const end = async (): Promise<void> => {
    await gracefulShutdown(server, life, {
      drainMs: options.drainMs ?? 0,
      withinMs: options.stopMs ?? STOP_MS,
    });
    keys.close();
    // What could not be kept here is when keys were used last.
    await keys.kept().catch(() => {});
  };
  return { url, ...shown, close: end };
}

/** Of two servers that start at once on nothing, one has made the first key. */
function findFirstKey({ first, list }: ApiKeys): string | undefined {
  const made = parseKeyId(first ?? "");
  return list().some(({ id }) => id === made) ? first : undefined;
}

function toAppOptions(options: ServeOptions): Partial<AppOptions> {
  const {
    hosts,
    origins,
    onFault,
    onAnswered,
    rateLimits,
    byteLimits,
    requestMs,
    proxy,
    meter,
    metrics,
    tracer,
  } = options;
  return omitUndefined({
    hosts,
    origins,
    onFault,
    onAnswered,
    rateLimits,
    byteLimits,
    requestMs,
    proxy,
    meter,
    metrics,
    tracer,
  });
}

async function listen(server: Server, host: string, port: number): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    server.once("error", (cause: NodeJS.ErrnoException) => {
      reject(new MemoryError("unavailable", explainListenError(cause.code, host, port), { cause }));
    });
    server.listen(port, host, resolve);
  });
}

function explainListenError(code: string | undefined, host: string, port: number): string {
  if (code === "EADDRINUSE")
    return `port ${port} on ${host} is taken. Stop what uses it, or choose another with --port.`;
  if (code === "EACCES") return `port ${port} needs more rights. Choose one above 1023 with --port.`;
  return `it cannot listen on ${host}, port ${port} (${code ?? "unknown"}). Check --host and --port.`;
}

function toUrl(server: Server, host: string): string {
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  // Nobody can open 0.0.0.0 in a browser: this machine's own name is where to look.
  const name = host === "0.0.0.0" || host === "::" ? "127.0.0.1" : host.includes(":") ? `[${host}]` : host;
  return `http://${name}:${port}`;
}

/**
 * An answer whose body comes from another server is written here, head and body; all others are left to the HTTP library,
 * which would read such a body through a stream of its own: a third of a millisecond later.
 */
function passThroughResponse(response: Response, { outgoing, relay }: NodeBindings): Response {
  if (!relay || !outgoing || response.body !== null) return response;
  if (outgoing.destroyed) return RESPONSE_ALREADY_SENT;
  outgoing.statusCode = response.status;
  for (const [name, value] of response.headers) outgoing.appendHeader(name, value);
  relay(outgoing);
  return RESPONSE_ALREADY_SENT;
}

const WARM_UP_DELAY_MS = 50;
/** The last one is no Latin-1: texts of two bytes a letter have forms of their own. */
const SAMPLE_TEXTS: readonly string[] = [
  "Dear assistant, you must remember this: always.",
  "Nobody asked the model.",
  "We talked about agents for an hour — naïve ones.",
];

/**
 * The forms of orders to the assistant are large, and are compiled when they are first used: a tenth of a second, for which the
 * first chat would else wait. It is done a moment after the start.
 */
function warmUpInjectionPatterns(): void {
  setTimeout(() => {
    for (const text of SAMPLE_TEXTS) findInjections(text, "typed");
  }, WARM_UP_DELAY_MS).unref();
}
