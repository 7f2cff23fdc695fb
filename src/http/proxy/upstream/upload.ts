import { Readable, Transform } from "node:stream";
import type { ReadableStream as WebStream } from "node:stream/web";
import { getNodeBindings, type RequestContext } from "../../app-types.ts";
import { refuse } from "../../problem.ts";

/** A body that goes on as it comes, without being kept. */
export interface UploadBody {
  readonly stream: Readable;
  /** Where the client says how long it is. */
  readonly bytes?: number;
}

/** Bytes of one body: the largest file that OpenAI takes, and the form around it. */
export const MAX_UPLOAD_BYTES = 537_919_488;

/**
 * The body of a request as a stream; undefined where there is none. The stream fails with a refusal (413) where the body is
 * longer than `MOST_UPLOAD_BYTES`, and with an `AbortError` where the client goes away in the middle of it.
 */
export function readUpload(exchange: RequestContext): UploadBody | undefined {
  const { req } = exchange;
  const length = req.header("content-length");
  const isChunked = req.header("transfer-encoding") !== undefined;
  if (!isChunked && (length === undefined || length === "0")) return undefined;
  const bytes = length !== undefined && /^\d{1,15}$/.test(length) && !isChunked ? Number(length) : undefined;
  if (bytes !== undefined && bytes > MAX_UPLOAD_BYTES) throw createTooLongError();
  const { incoming } = getNodeBindings(exchange);
  const source = incoming ?? (req.raw.body ? Readable.fromWeb(req.raw.body as WebStream) : undefined);
  if (!source) return undefined;
  return { stream: limitUpload(source), ...(bytes === undefined ? {} : { bytes }) };
}

function limitUpload(source: Readable): Readable {
  let size = 0;
  const stream = new Transform({
    transform(chunk: Uint8Array, _encoding, done) {
      size += chunk.length;
      if (size <= MAX_UPLOAD_BYTES) return done(null, chunk);
      // What comes after it is read and dropped, so that the client can read the refusal.
      source.unpipe(stream);
      source.resume();
      done(createTooLongError());
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

const CLIENT_GONE = new DOMException("The client went away.", "AbortError");

function createTooLongError(): Error {
  const detail = `The request is too long: at most ${MAX_UPLOAD_BYTES.toLocaleString("en")} bytes.`;
  return refuse({ status: 413, code: "invalid_input", detail, headers: { connection: "close" } });
}
