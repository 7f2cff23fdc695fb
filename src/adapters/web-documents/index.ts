import { type IncomingMessage, request as requestPlain } from "node:http";
import { request as requestSecure } from "node:https";
import { invalid, isMemoryError, MemoryError } from "../../errors.ts";
import type { DocumentFetcher, FetchedDocument } from "../../ports/document-fetcher.ts";
import {
  type AddressGuard,
  createGuardedLookup,
  findAddresses,
  isAddress,
  resolveHost,
} from "../shared/address-guard.ts";

/** Options of `createDocumentFetcher`. */
export interface DocumentFetcherOptions {
  /** Whether documents may come from this machine itself, also without TLS (false). */
  readonly allowsLoopback?: boolean;
  /** Time limit of a request, in ms (5,000). */
  readonly timeoutMs?: number;
  /** The most bytes of a document (10,240). */
  readonly maxBytes?: number;
  /** Gives the IP addresses of a host. Default: those that the system knows. */
  readonly resolve?: (host: string) => Promise<readonly string[]>;
}

const TIMEOUT_MS = 5_000;
const MAX_BYTES = 10_240;
const MAX_URL_BYTES = 1_024;
const MAX_HEADER_BYTES = 16_384;
const JSON_TYPE = /^application\/(?:[\w.-]+\+)?json *(?:;|$)/i;

/** Creates the fetcher: HTTPS from public addresses only. The connection goes to the address that was checked. */
export function createDocumentFetcher(options: DocumentFetcherOptions = {}): DocumentFetcher {
  const {
    allowsLoopback = false,
    timeoutMs = TIMEOUT_MS,
    maxBytes = MAX_BYTES,
    resolve = resolveHost,
  } = options;
  const guard: AddressGuard = { allowsLoopback, resolve };
  return {
    async fetch(text, signal) {
      const url = parseUrl(text, allowsLoopback);
      // A literal address is never looked up by the connection, so it is checked here.
      if (isAddress(url.hostname) && !Array.isArray(await findAddresses(guard, url))) throw invalid(REFUSED);
      const timeout = AbortSignal.timeout(timeoutMs);
      try {
        return await get(url, {
          guard,
          maxBytes,
          signal: signal ? AbortSignal.any([signal, timeout]) : timeout,
        });
      } catch (error) {
        if (isMemoryError(error)) throw error;
        if ((error as { readonly code?: string }).code === "ERR_REFUSED_ADDRESS") throw invalid(REFUSED);
        throw new MemoryError(
          "unavailable",
          "the document could not be fetched: its server did not answer.",
          {
            cause: error,
          },
        );
      }
    },
  };
}

const REFUSED = "the document is in a private network, or on this machine itself.";

function parseUrl(text: string, allowsLoopback: boolean): URL {
  if (Buffer.byteLength(text) > MAX_URL_BYTES)
    throw invalid(`the URL is too long: at most ${MAX_URL_BYTES} bytes.`);
  if (!URL.canParse(text)) throw invalid("the URL is not valid.");
  const url = new URL(text);
  if (url.protocol !== "https:" && !(allowsLoopback && url.protocol === "http:"))
    throw invalid("the URL must begin with https://.");
  if (url.username !== "" || url.password !== "")
    throw invalid("the URL must not contain a user name or a password.");
  return url;
}

interface GetOptions {
  readonly guard: AddressGuard;
  readonly maxBytes: number;
  readonly signal: AbortSignal;
}

function get(url: URL, { guard, maxBytes, signal }: GetOptions): Promise<FetchedDocument> {
  return new Promise((resolve, reject) => {
    const settings = {
      method: "GET",
      headers: { accept: "application/json", "user-agent": "Keepsake" },
      lookup: createGuardedLookup(guard, url),
      maxHeaderSize: MAX_HEADER_BYTES,
      signal,
      // No connection is kept: these hosts are called rarely.
      agent: false as const,
    };
    const call = url.protocol === "https:" ? requestSecure(url, settings) : requestPlain(url, settings);
    call.on("error", reject);
    call.on("response", (answer) => {
      readAnswer(answer, maxBytes).then(resolve, (error: unknown) => {
        call.destroy();
        reject(error);
      });
    });
    call.end();
  });
}

async function readAnswer(answer: IncomingMessage, maxBytes: number): Promise<FetchedDocument> {
  const { statusCode, headers } = answer;
  if (statusCode !== 200) throw invalid(`its server answered with ${statusCode}, not with the document.`);
  if (!JSON_TYPE.test(headers["content-type"] ?? "")) throw invalid("the document is not JSON.");
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of answer as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > maxBytes) throw invalid(`the document is too long: at most ${maxBytes} bytes.`);
    chunks.push(chunk);
  }
  return {
    text: Buffer.concat(chunks).toString("utf8"),
    maxAgeSeconds: parseMaxAge(headers["cache-control"]),
  };
}

function parseMaxAge(header: string | undefined): number | undefined {
  if (header === undefined) return undefined;
  if (/\bno-(?:store|cache)\b/i.test(header)) return 0;
  const seconds = /\bmax-age=(\d{1,9})\b/i.exec(header)?.[1];
  return seconds === undefined ? undefined : Number(seconds);
}
