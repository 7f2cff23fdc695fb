import {
  type ClientRequest,
  type IncomingMessage,
  Agent as PlainAgent,
  request as requestPlain,
} from "node:http";
import { Agent, request as requestSecure } from "node:https";
import { invalid } from "../../errors.ts";
import type {
  WebhookProblem,
  WebhookRequest,
  WebhookResponse,
  WebhookSender,
} from "../../ports/webhook-sender.ts";
import {
  type AddressGuard,
  createGuardedLookup,
  findAddresses,
  isAddress,
  REFUSED_ADDRESS,
  resolveHost,
  UNRESOLVED_HOST,
} from "../shared/address-guard.ts";

/** Options of `createWebhookSender`. */
export interface WebhookSenderOptions {
  /** Whether webhooks may go to this machine itself, also without TLS (false). */
  readonly allowsLoopback?: boolean;
  /** Time limit of a request, in ms (10,000). */
  readonly timeoutMs?: number;
  /** Gives the IP addresses of a host. Default: those that the system knows. */
  readonly resolve?: (host: string) => Promise<readonly string[]>;
}

const URL_BYTES = 2048;
const TIMEOUT_MS = 10_000;
/** Of an answer, this many bytes are read and dropped, so that the connection can be used again. */
const ANSWER_BYTES = 16_384;
const HEADER_BYTES = 16_384;
const CONNECTIONS_PER_HOST = 8;
const LONGEST_RETRY_AFTER_MS = 3_600_000;

/** Creates the sender: HTTPS to public addresses only. The server's DNS is asked at each new connection. */
export function createWebhookSender(options: WebhookSenderOptions = {}): WebhookSender & { close(): void } {
  const { allowsLoopback = false, timeoutMs = TIMEOUT_MS, resolve = resolveHost } = options;
  const guard: AddressGuard = { allowsLoopback, resolve };
  const agentOptions = { keepAlive: true, maxSockets: CONNECTIONS_PER_HOST, timeout: timeoutMs };
  const agents = { "https:": new Agent(agentOptions), "http:": new PlainAgent(agentOptions) };
  return {
    async check(text, signal) {
      const url = parseUrl(text, allowsLoopback);
      const found = await withinTime(findAddresses(guard, url), timeoutMs, signal);
      if (found === "unresolved_host")
        throw invalid("url: its host has no address. Check the name, or try again later.");
      if (found === "refused_address") throw invalid(REFUSAL);
      return url.href;
    },
    async send(request) {
      try {
        const url = parseUrl(request.url, allowsLoopback);
        return await post(url, request, { guard, agents, timeoutMs, isRepeated: false });
      } catch {
        return { problem: "refused_address" };
      }
    },
    close() {
      for (const agent of Object.values(agents)) agent.destroy();
    },
  };
}

const REFUSAL =
  "url: its host is in a private network, or this machine itself. Webhooks go to public addresses only; the setting " +
  "KEEPSAKE_WEBHOOKS=loopback allows this machine.";

/** Parses a URL that a webhook may have, whatever its host resolves to. */
function parseUrl(text: string, allowsLoopback: boolean): URL {
  if (Buffer.byteLength(text) > URL_BYTES) throw invalid(`url is too long: at most ${URL_BYTES} bytes.`);
  if (!URL.canParse(text)) throw invalid("url is not a URL. Send one such as https://example.com/hooks.");
  const url = new URL(text);
  if (url.protocol !== "https:" && !(allowsLoopback && url.protocol === "http:"))
    throw invalid("url must begin with https://.");
  if (url.username !== "" || url.password !== "")
    throw invalid("url must not contain a user name or a password. Check the signature instead.");
  url.hash = "";
  return url;
}

/** Waits for a resolution, at most as long as a request may take. */
async function withinTime<Result>(
  work: Promise<Result>,
  timeoutMs: number,
  signal: AbortSignal | undefined,
): Promise<Result | "unresolved_host"> {
  const stop = AbortSignal.any([AbortSignal.timeout(timeoutMs), ...(signal ? [signal] : [])]);
  const ended = new Promise<"unresolved_host">((resolve) => {
    stop.addEventListener("abort", () => resolve("unresolved_host"), { once: true });
    if (stop.aborted) resolve("unresolved_host");
  });
  return Promise.race([work, ended]);
}

interface PostOptions {
  readonly guard: AddressGuard;
  readonly agents: { readonly "https:": Agent; readonly "http:": PlainAgent };
  readonly timeoutMs: number;
  /** Whether the request was sent over a connection that the receiver had closed, and is sent again. */
  readonly isRepeated: boolean;
}

async function post(url: URL, request: WebhookRequest, options: PostOptions): Promise<WebhookResponse> {
  const { guard, agents, timeoutMs } = options;
  const timeout = AbortSignal.timeout(timeoutMs);
  // A literal address is never looked up by the connection, so it is checked here.
  if (isAddress(url.hostname) && !Array.isArray(await findAddresses(guard, url)))
    return { problem: "refused_address" };
  const body = Buffer.from(request.body);
  const settings = {
    method: "POST",
    headers: { ...request.headers, "content-length": String(body.length) },
    agent: agents[url.protocol as "https:" | "http:"],
    lookup: createGuardedLookup(guard, url),
    maxHeaderSize: HEADER_BYTES,
    signal: AbortSignal.any([request.signal, timeout]),
  };
  let call: ClientRequest | undefined;
  try {
    return await new Promise<WebhookResponse>((resolve, reject) => {
      call = url.protocol === "https:" ? requestSecure(url, settings) : requestPlain(url, settings);
      call.on("error", reject);
      call.on("response", (answer) => {
        resolve(toWebhookResponse(answer));
        dropBody(answer);
      });
      call.end(body);
    });
  } catch (error) {
    if (request.signal.aborted) return { problem: "stopped" };
    if (timeout.aborted) return { problem: "timeout" };
    const isStale = call?.reusedSocket === true && !options.isRepeated;
    if (isStale) return post(url, request, { ...options, isRepeated: true });
    return { problem: toProblem(error, call) };
  }
}

function toWebhookResponse({ statusCode = 0, headers }: IncomingMessage): WebhookResponse {
  const seconds = /^\d{1,9}$/.exec(headers["retry-after"] ?? "")?.[0];
  if (seconds === undefined) return { status: statusCode };
  return { status: statusCode, retryAfterMs: Math.min(LONGEST_RETRY_AFTER_MS, Number(seconds) * 1000) };
}

/** Reads a short body to its end, so that the connection can be used again. Cuts a long one. */
function dropBody(answer: IncomingMessage): void {
  let bytes = 0;
  answer.on("error", () => {});
  answer.on("data", (piece: Buffer) => {
    bytes += piece.length;
    if (bytes > ANSWER_BYTES) answer.destroy();
  });
}

const CONNECTION_CODES =
  /^(?:ECONNREFUSED|EHOSTUNREACH|ENETUNREACH|EHOSTDOWN|ENETDOWN|EADDRNOTAVAIL|EACCES|EPERM|ETIMEDOUT)$/;
const TLS_CODES = /^(?:ERR_TLS|ERR_SSL|CERT_|UNABLE_TO|DEPTH_ZERO|SELF_SIGNED|HOSTNAME_MISMATCH|EPROTO)/;

function toProblem(error: unknown, call: ClientRequest | undefined): WebhookProblem {
  const { code = "", errors } = error as { readonly code?: string; readonly errors?: readonly unknown[] };
  if (code === REFUSED_ADDRESS) return "refused_address";
  if (code === UNRESOLVED_HOST) return "unresolved_host";
  if (TLS_CODES.test(code)) return "tls";
  // A host with several addresses; none answered.
  if (CONNECTION_CODES.test(code) || errors !== undefined) return "no_connection";
  return call === undefined ? "no_connection" : "broken_off";
}
