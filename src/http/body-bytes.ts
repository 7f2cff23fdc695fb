import type { IncomingMessage } from "node:http";
import { getNodeBindings, type RequestContext } from "./app-types.ts";
import { type BodyObserver, NO_BODY_OBSERVER } from "./intake.ts";
import { refuse } from "./problem.ts";

/** A body that brings nothing for so long is given up, in ms. */
const IDLE_TIMEOUT_MS = 30_000;

export interface BodyReadOptions {
  /** 413 beyond. */
  readonly mostBytes: number;
  /** Hears of each piece; what it throws refuses the body. */
  readonly onPiece?: (bytes: Uint8Array) => void;
}

/**
 * The body of a request, whole. It is measured while it comes in, so that nobody makes the server hold more than
 * `mostBytes`; a body that says that it is longer is not read at all (413). 408 where it stops coming.
 */
export async function readBodyBytes(exchange: RequestContext, reading: BodyReadOptions): Promise<Uint8Array> {
  const length = getContentLength(exchange);
  if (length !== undefined && length > reading.mostBytes) throw createTooLongError(reading.mostBytes);
  const intake = exchange.get("intake") ?? NO_BODY_OBSERVER;
  await intake.begin(length);
  const { incoming } = getNodeBindings(exchange);
  const bytes = incoming
    ? await readFromSocket(incoming, reading, intake)
    : await readFromStream(exchange.req.raw, reading, intake);
  await intake.end();
  return bytes;
}

/** What a request says of the length of its body. */
export function getContentLength(exchange: RequestContext): number | undefined {
  const told = exchange.req.header("content-length");
  const length = told === undefined ? Number.NaN : Number(told);
  return Number.isSafeInteger(length) && length >= 0 ? length : undefined;
}

/** A body, read from its socket: to make a stream of the web's of it takes longer than the reading. */
function readFromSocket(
  incoming: IncomingMessage,
  { mostBytes, onPiece }: BodyReadOptions,
  intake: BodyObserver,
): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    const chunks: Uint8Array[] = [];
    let size = 0;
    let isRefused = false;
    const silent = setTimeout(() => stop(createTooSlowError()), IDLE_TIMEOUT_MS);
    const stop = (error: Error): void => {
      isRefused = true;
      chunks.length = 0;
      clearTimeout(silent);
      reject(error);
    };
    incoming.on("data", (chunk: Uint8Array) => {
      // What comes after a refusal is read and dropped, so that the refusal can be read over there.
      if (isRefused) return;
      silent.refresh();
      size += chunk.length;
      try {
        if (size > mostBytes) throw createTooLongError(mostBytes);
        intake.add(chunk.length);
        onPiece?.(chunk);
        chunks.push(chunk);
      } catch (error) {
        stop(error as Error);
      }
    });
    incoming.once("end", () => {
      clearTimeout(silent);
      resolve(Buffer.concat(chunks, isRefused ? 0 : size));
    });
    incoming.once("error", () => stop(CLIENT_GONE));
    incoming.once("close", () => stop(CLIENT_GONE));
  });
}

async function readFromStream(
  request: Request,
  { mostBytes, onPiece }: BodyReadOptions,
  intake: BodyObserver,
): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of streamBody(request, mostBytes)) {
    intake.add(chunk.length);
    onPiece?.(chunk);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** A body piece by piece, as far as it may go: 413 beyond. What says that it is longer is not read at all. */
export async function* streamBody(request: Request, mostBytes: number): AsyncGenerator<Uint8Array> {
  if (Number(request.headers.get("content-length") ?? 0) > mostBytes) throw createTooLongError(mostBytes);
  let size = 0;
  for await (const chunk of request.body ?? []) {
    size += chunk.length;
    if (size > mostBytes) throw createTooLongError(mostBytes);
    yield chunk;
  }
}

const CLIENT_GONE = new DOMException("The client went away.", "AbortError");

function createTooLongError(mostBytes: number): Error {
  return refuse({
    status: 413,
    code: "invalid_input",
    detail: `The request is too long: at most ${mostBytes.toLocaleString("en")} bytes. Split it.`,
    // The rest of it is still on its way; nobody will read it.
    headers: { connection: "close" },
  });
}

function createTooSlowError(): Error {
  return refuse({
    status: 408,
    code: "unavailable",
    detail: "The body stopped coming. Send the request again.",
    headers: { connection: "close" },
  });
}
