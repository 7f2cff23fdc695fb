import { Agent, type IncomingMessage, type OutgoingHttpHeaders, request as plainRequest } from "node:http";
import { Agent as SecureAgent, request as secureRequest } from "node:https";
import { isMemoryError, MemoryError } from "../../../errors.ts";
import type { UploadBody } from "./upload.ts";

/** The model's server that requests are passed on to. Only the settings name it, never a request. */
export interface Upstream {
  /** With the version at its end: "https://api.openai.com/v1". */
  readonly baseUrl: string;
  /** The server's own key; where it is absent, requests go on without one. */
  readonly apiKey?: string;
}

export interface UpstreamRequest {
  readonly method: string;
  /** What follows the base: "/chat/completions", with its query. */
  readonly path: string;
  readonly headers: OutgoingHttpHeaders;
  readonly body?: Uint8Array | UploadBody;
  /** Breaks it off: the client has gone, or the time is up. */
  readonly signal: AbortSignal;
}

/** Sends requests to one upstream, over connections that are kept. */
export interface UpstreamClient {
  readonly host: string;
  /**
   * The answer as it begins, whatever its status; its body is the caller's to read or to destroy. `unavailable` where
   * none can be had; an aborted signal rejects with its reason, and a stream that fails with its own. Redirects are not followed.
   */
  send(sending: UpstreamRequest): Promise<IncomingMessage>;
  close(): void;
}

export function createUpstreamClient({ baseUrl }: Pick<Upstream, "baseUrl">): UpstreamClient {
  const base = new URL(baseUrl);
  const isSecure = base.protocol === "https:";
  const agent = isSecure ? new SecureAgent({ keepAlive: true }) : new Agent({ keepAlive: true });
  const prefix = base.pathname.replace(/\/+$/, "");
  const once = ({ method, path, headers, body, signal }: UpstreamRequest): Promise<IncomingMessage> =>
    new Promise((resolve, reject) => {
      signal.throwIfAborted();
      const [name = "", query] = splitPath(path);
      const target = {
        protocol: base.protocol,
        hostname: base.hostname.replace(/^\[|\]$/g, ""),
        port: base.port,
        path: `${prefix}${name}${joinQueries(base.search.slice(1), query)}`,
        method,
        headers: { ...headers, host: base.host, ...toLengthHeader(body) },
        // A stream cannot be sent again, so it never goes over a connection that may just have been closed.
        agent: body === undefined || body instanceof Uint8Array ? agent : false,
      };
      let failure: Error | undefined;
      const request = isSecure ? secureRequest(target) : plainRequest(target);
      // As the option `signal` does it, but that takes a third of a millisecond of every request.
      const stop = (): void => void request.destroy(signal.reason);
      signal.addEventListener("abort", stop, { once: true });
      request.once("close", () => signal.removeEventListener("abort", stop));
      request.once("response", resolve);
      request.on("error", (error: NodeJS.ErrnoException) => {
        if (failure) reject(failure);
        else if (signal.aborted) reject(signal.reason);
        // It was closed over there while it was idle here: nothing of this request was read.
        else if (request.reusedSocket && /^(?:ECONNRESET|EPIPE)$/.test(error.code ?? ""))
          reject(STALE_CONNECTION);
        else reject(createUnreachableError(base.host, error));
      });
      if (body === undefined || body instanceof Uint8Array) request.end(body);
      else {
        body.stream.once("error", (error) => {
          failure = error;
          request.destroy();
        });
        body.stream.pipe(request);
      }
    });
  return {
    host: base.host,
    async send(sending) {
      for (let tries = 0; ; tries += 1) {
        try {
          return await once(sending);
        } catch (error) {
          if (error !== STALE_CONNECTION) throw error;
          if (tries === 3) throw createUnreachableError(base.host, STALE_CONNECTION);
        }
      }
    },
    close: () => agent.destroy(),
  };
}

function toLengthHeader(body: UpstreamRequest["body"]): OutgoingHttpHeaders {
  if (body === undefined) return {};
  const bytes = body instanceof Uint8Array ? body.byteLength : body.bytes;
  return bytes === undefined ? {} : { "content-length": bytes };
}

const STALE_CONNECTION = new Error("the connection had been closed");

function createUnreachableError(host: string, cause: NodeJS.ErrnoException): MemoryError {
  return new MemoryError("unavailable", `${host} gives no answer (${cause.code ?? cause.message}).`, {
    cause,
  });
}

export function isUnreachable(error: unknown): boolean {
  return isMemoryError(error) && error.code === "unavailable";
}

function splitPath(path: string): [string, string] {
  const mark = path.indexOf("?");
  return mark < 0 ? [path, ""] : [path.slice(0, mark), path.slice(mark + 1)];
}

function joinQueries(...queries: readonly string[]): string {
  const given = queries.filter((query) => query !== "");
  return given.length === 0 ? "" : `?${given.join("&")}`;
}
