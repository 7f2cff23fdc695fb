import { Agent, type IncomingMessage, type OutgoingHttpHeaders, request as plainRequest } from "node:http";
import { Agent as SecureAgent, request as secureRequest } from "node:https";
import { Readable, Transform } from "node:stream";
import type { ReadableStream as WebStream } from "node:stream/web";
import { MemoryError } from "../../../errors.ts";
import { type BodyObserver, NO_BODY_OBSERVER } from "../../body-quota.ts";
import { refuse } from "../../problem.ts";
import { getNodeBindings, type RequestContext } from "../../request-context.ts";

/** The upstream server. Only the settings can name it, never a request. */
export interface Upstream {
  /** Ends with the version: "https://api.openai.com/v1". */
  readonly baseUrl: string;
  /** The server's key. If absent, requests are forwarded without one. */
  readonly apiKey?: string;
}

interface UpstreamRequest {
  readonly method: string;
  /** The path after the base URL, with its query: "/chat/completions". */
  readonly path: string;
  readonly headers: OutgoingHttpHeaders;
  readonly body?: Uint8Array | UploadBody;
  /** Aborts the request: the client has disconnected, or the time limit is reached. */
  readonly signal: AbortSignal;
}

/** Sends requests to one upstream over keep-alive connections. */
export interface UpstreamClient {
  readonly host: string;
  /**
   * Gives the beginning of the response, with any status; the caller must read or destroy its body. Throws `unavailable` if
   * there is none. Rejects with the reason of an aborted signal, or the error of a failed stream. Does not follow redirects.
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
        // A stream cannot be resent, so it never uses a connection that may just have been closed.
        agent: body === undefined || body instanceof Uint8Array ? agent : false,
      };
      let failure: Error | undefined;
      const request = isSecure ? secureRequest(target) : plainRequest(target);
      // The option `signal` does the same, but takes a third of a millisecond per request.
      const stop = (): void => void request.destroy(signal.reason);
      signal.addEventListener("abort", stop, { once: true });
      request.once("close", () => signal.removeEventListener("abort", stop));
      request.once("response", resolve);
      request.on("error", (error: NodeJS.ErrnoException) => {
        if (failure) reject(failure);
        else if (signal.aborted) reject(signal.reason);
        // The upstream closed the idle connection: it has read nothing of this request.
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
  return new MemoryError("unavailable", `${host} does not respond (${cause.code ?? cause.message}).`, {
    cause,
  });
}

function splitPath(path: string): [string, string] {
  const mark = path.indexOf("?");
  return mark < 0 ? [path, ""] : [path.slice(0, mark), path.slice(mark + 1)];
}

function joinQueries(...queries: readonly string[]): string {
  const given = queries.filter((query) => query !== "");
  return given.length === 0 ? "" : `?${given.join("&")}`;
}

/** A body that is forwarded as a stream. */
export interface UploadBody {
  readonly stream: Readable;
  /** The length, if the client declares it. */
  readonly bytes?: number;
}

/** Maximum bytes of a body: the largest file that OpenAI accepts, and its form. */
export const MAX_UPLOAD_BYTES = 537_919_488;

/**
 * Gives the body of a request as a stream; undefined if there is none. Its bytes count against the limit of the key: a declared
 * length at once, any other as it comes. Throws 429 above that limit and 413 above `MAX_UPLOAD_BYTES`; if that shows later, the
 * stream fails so. It fails with an `AbortError` if the client disconnects.
 */
export async function readUpload(exchange: RequestContext): Promise<UploadBody | undefined> {
  const { req } = exchange;
  const length = req.header("content-length");
  const isChunked = req.header("transfer-encoding") !== undefined;
  if (!isChunked && (length === undefined || length === "0")) return undefined;
  const bytes = length !== undefined && /^\d{1,15}$/.test(length) && !isChunked ? Number(length) : undefined;
  if (bytes !== undefined && bytes > MAX_UPLOAD_BYTES) throw createTooLongError();
  const { incoming } = getNodeBindings(exchange);
  const source = incoming ?? (req.raw.body ? Readable.fromWeb(req.raw.body as WebStream) : undefined);
  if (!source) return undefined;
  const intake = exchange.get("intake") ?? NO_BODY_OBSERVER;
  await intake.begin(bytes);
  return { stream: limitUpload(source, intake), ...(bytes === undefined ? {} : { bytes }) };
}

function limitUpload(source: Readable, intake: BodyObserver): Readable {
  let size = 0;
  const fail = (error: Error, done: (error: Error) => void): void => {
    // The rest is read and dropped, so that the client can read the refusal.
    source.unpipe(stream);
    source.resume();
    done(error);
  };
  const stream = new Transform({
    transform(chunk: Uint8Array, _encoding, done) {
      size += chunk.length;
      if (size > MAX_UPLOAD_BYTES) return fail(createTooLongError(), done);
      intake.pass(chunk.length).then(
        () => done(null, chunk),
        (error: Error) => fail(error, done),
      );
    },
    flush(done) {
      intake.end().then(() => done(), done);
    },
  });
  let isWhole = false;
  source.once("end", () => {
    isWhole = true;
  });
  source.once("error", () => stream.destroy(CLIENT_GONE));
  source.once("close", () => {
    if (!isWhole) stream.destroy(CLIENT_GONE);
  });
  return source.pipe(stream);
}

const CLIENT_GONE = new DOMException("The client disconnected.", "AbortError");

function createTooLongError(): Error {
  const detail = `The request is too large: at most ${MAX_UPLOAD_BYTES.toLocaleString("en")} bytes.`;
  return refuse({ status: 413, code: "invalid_input", detail, headers: { connection: "close" } });
}
