import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { createAdaptorServer } from "@hono/node-server";
import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response";
import type { Keepsake } from "../engine/api/keepsake.ts";
import { invalid, MemoryError } from "../errors.ts";
import type { PromptGuard } from "../ports/language/prompt-guard.ts";
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
import { omitUndefined } from "./schemas/wire.ts";

/** Options of `serve`. */
export interface ServeOptions {
  /** The memory to serve. It stays open when the server closes. */
  readonly keepsake: Keepsake;
  /** The current time: `systemClock` of `keepsake/adapters/system`. */
  readonly clock: Clock;
  /** The address to listen on (127.0.0.1). */
  readonly host?: string;
  /** The port (7420); 0 picks a free one. */
  readonly port?: number;
  /** The file of key hashes, `<database>.keys.json`. Without it, keys end with the process. */
  readonly keysPath?: string;
  /** A store of keys instead of the file, shared by several servers (`sharedKeys`). */
  readonly keys?: KeyStore;
  /** A valid key in addition to the stored ones, from KEEPSAKE_API_KEY. */
  readonly apiKey?: string;
  /** Accepted host names in addition to those of this machine, without ports. */
  readonly hosts?: readonly string[];
  /** Origins of other pages that may call the server: "https://app.example.com", "http://localhost:5173" (none). */
  readonly origins?: readonly string[];
  /** Called with each internal error. */
  readonly onFault?: (fault: ServerFault) => void;
  /** Called after each request. */
  readonly onAnswered?: (answered: Answered) => void;
  /** Limits of requests per key. If absent, there are none. */
  readonly rateLimits?: RateLimits;
  /** Limits of request bytes per key. If absent, there are none. */
  readonly byteLimits?: RateLimits;
  /** Records metrics of requests and of the proxy. */
  readonly meter?: AppOptions["meter"];
  /** Records a span for each request. */
  readonly tracer?: AppOptions["tracer"];
  /** Gives all metrics as Prometheus text, at `GET /metrics`. */
  readonly metrics?: AppOptions["metrics"];
  /** Time limit of a request, in ms (60,000). */
  readonly requestMs?: number;
  /** Options of the OpenAI-compatible proxy. */
  readonly proxy?: ProxyOptions;
  /** Gives messages for the operator, for `GET /api/v1/ready`, in addition to those of the memory. */
  readonly notices?: () => readonly string[];
  /** The settings as they are in force, without secrets, for `GET /api/v1/settings` (none). */
  readonly settings?: AppOptions["settings"];
  /** Whether `onAnswered` gets paths as requested, with the ids of users (false). */
  readonly showsPaths?: boolean;
  /** Loads the answers to MCP clients at `/mcp`. */
  readonly mcp?: AppOptions["mcp"];
  /** Accepts access tokens of OAuth at `/mcp`, beside keys. */
  readonly oauth?: AppOptions["oauth"];
  /** How long a request may bring nothing more of itself, in ms (300,000). Then its connection is cut. */
  readonly idleMs?: number;
  /** How long the server keeps serving after `close`, while it reports that it is not ready, in ms (0). */
  readonly drainMs?: number;
  /** Time limit of the shutdown after that, in ms (15,000). Unfinished work is ended. */
  readonly stopMs?: number;
}

/** A running server. */
export interface Served {
  /** The URL of the server: "http://127.0.0.1:7420". */
  readonly url: string;
  /** The key created at a first start. Show it now: only its hash is stored. */
  readonly firstKey?: string;
  /** The URL of the page with the first key in its fragment, which no server or log sees. */
  readonly signInUrl?: string;
  /**
   * Stops the server: it reports that it is not ready, refuses new requests, and waits for requests and writes in progress.
   * Work that takes longer than a part of `stopMs` is ended: streams with an error, requests with 503.
   */
  close(): Promise<void>;
}

const STOP_MS = 15_000;
const HEADERS_TIMEOUT_MS = 10_000;
/** Longer than most clients keep a connection: closing one while a client reuses it causes an error there. */
const KEEP_ALIVE_MS = 75_000;

const NO_KEY_PROBLEM =
  "Other machines could reach the server, and there is no key yet. Create one with `keepsake keys create`, set " +
  "KEEPSAKE_API_KEY, or listen on 127.0.0.1.";

/**
 * Starts the server. Throws `unavailable` if the port is taken, and `invalid_input` if other machines could reach it and
 * there is no key. It does not close the memory.
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
      // It would cut an import that takes longer, although it goes on arriving.
      requestTimeout: 0,
      keepAliveTimeout: KEEP_ALIVE_MS,
    },
  }) as Server;
  cutIdleRequests(server, options.idleMs);
  await listen(server, host, port);
  warmUpInjectionPatterns(keepsake.promptGuard);
  const url = toUrl(server, host);
  const first = findFirstKey(keys);
  const shown = first === undefined ? {} : { firstKey: first, signInUrl: `${url}/#key=${first}` };
  const end = async (): Promise<void> => {
    await gracefulShutdown(server, life, {
      drainMs: options.drainMs ?? 0,
      withinMs: options.stopMs ?? STOP_MS,
    });
    keys.close();
    // Only times of last use could not be stored.
    await keys.kept().catch(() => {});
  };
  return { url, ...shown, close: end };
}

/** Gives the first key, if this server created it: of two servers that start at once, only one does. */
function findFirstKey({ first, list }: ApiKeys): string | undefined {
  const createdId = parseKeyId(first ?? "");
  return list().some(({ id }) => id === createdId) ? first : undefined;
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
    notices,
    settings,
    showsPaths,
    mcp,
    oauth,
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
    notices,
    settings,
    showsPaths,
    mcp,
    oauth,
  });
}

/** How long a request may bring nothing more, in ms. */
const REQUEST_IDLE_MS = 300_000;

/**
 * Cuts connections whose request stops arriving, with 408 if nothing was answered yet. A request that is being served may take
 * as long as it needs while more of it arrives: an import of a large file waits for the memory. One that was answered already
 * has `idleMs` for the rest. Node's own limit (`requestTimeout`) is for the whole request, and has to be off.
 */
function cutIdleRequests(server: Server, idleMs: number = REQUEST_IDLE_MS): void {
  server.on("request", (incoming, outgoing) => {
    if (hasBody(incoming)) watchRequest(incoming, outgoing, idleMs);
  });
}

function hasBody({ headers }: IncomingMessage): boolean {
  const { "content-length": length = "0", "transfer-encoding": encoding } = headers;
  return encoding !== undefined || length !== "0";
}

function watchRequest(incoming: IncomingMessage, outgoing: ServerResponse, idleMs: number): void {
  const { socket } = incoming;
  let received = socket.bytesRead;
  const look = (): void => {
    const isArriving = socket.bytesRead > received && !outgoing.writableEnded;
    received = socket.bytesRead;
    if (isArriving) return;
    clearInterval(timer);
    if (!incoming.complete) cutConnection(socket, outgoing);
  };
  // Reads first what has come while this process was busy.
  const timer = setInterval(() => setImmediate(look), idleMs);
  timer.unref();
  incoming.once("end", () => clearInterval(timer));
  incoming.once("close", () => clearInterval(timer));
}

function cutConnection(socket: Socket, { headersSent: isAnswered }: ServerResponse): void {
  if (isAnswered || !socket.writable) socket.destroy();
  else
    socket.end("HTTP/1.1 408 Request Timeout\r\nConnection: close\r\nContent-Length: 0\r\n\r\n", () =>
      socket.destroy(),
    );
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
    return `port ${port} on ${host} is in use. Stop the program that uses it, or choose another port with --port.`;
  if (code === "EACCES") return `no permission to listen on port ${port}. Choose one above 1023 with --port.`;
  return `cannot listen on ${host}, port ${port} (${code ?? "unknown"}). Check --host and --port.`;
}

function toUrl(server: Server, host: string): string {
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  // A browser cannot open 0.0.0.0, so the URL names this machine.
  const name = host === "0.0.0.0" || host === "::" ? "127.0.0.1" : host.includes(":") ? `[${host}]` : host;
  return `http://${name}:${port}`;
}

/**
 * Writes a response whose body comes from the upstream directly. The HTTP library writes all others; it would pipe such a
 * body through its own stream, which takes a third of a millisecond more.
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
/** The last one is not Latin-1: V8 compiles patterns separately for two-byte strings. */
const SAMPLE_TEXTS: readonly string[] = [
  "Dear assistant, you must remember this: always.",
  "Nobody asked the model.",
  "We talked about agents for an hour — naïve ones.",
];

/**
 * Compiles the patterns of prompt injection shortly after the start. They are large and compiled on first use, for which the
 * first chat would otherwise wait a tenth of a second.
 */
function warmUpInjectionPatterns(promptGuard: PromptGuard): void {
  setTimeout(() => {
    for (const text of SAMPLE_TEXTS) promptGuard.findInjections(text, "typed");
  }, WARM_UP_DELAY_MS).unref();
}
