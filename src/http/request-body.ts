import { createHash } from "node:crypto";
import type { IncomingMessage } from "node:http";
import type * as z from "zod";
import { type BodyObserver, NO_BODY_OBSERVER } from "./body-quota.ts";
import { createJsonScan } from "./json-scan.ts";
import { type FieldProblem, refuse } from "./problem.ts";
import { getNodeBindings, type RequestContext } from "./request-context.ts";

/** Maximum bytes of one request. A text may have 1,000,000 bytes; the rest is for its JSON. */
const MAX_JSON_BODY_BYTES = 1_048_576;

/**
 * Reads the JSON body of a request and validates it against a schema. Limits are checked while the body is received, to
 * bound memory and parsing time. Throws 415 for another content type, 413 above `MAX_JSON_BODY_BYTES`, and 400 for a body
 * that is not UTF-8, not JSON, too deep, has too many values or the wrong shape. Errors name fields, never values.
 */
export async function readBody<Shape>(exchange: RequestContext, schema: z.ZodType<Shape>): Promise<Shape> {
  checkContentType(exchange);
  return checkShape(schema, parseJsonBody(await readJsonBytes(exchange)));
}

/** Like `readBody`, but gives undefined if there is no body. */
export async function readOptionalBody<Shape>(
  exchange: RequestContext,
  schema: z.ZodType<Shape>,
): Promise<Shape | undefined> {
  const bytes = await readJsonBytes(exchange);
  if (bytes.length === 0) return undefined;
  checkContentType(exchange);
  return checkShape(schema, parseJsonBody(bytes));
}

/** A file in the body of a request. As JSON, by which requests are compared, it is its digest. */
export interface FileBody {
  readonly mediaType: string;
  readonly bytes: Uint8Array;
  toJSON(): string;
}

/** Reads a body that is a file. Throws 415 for a media type that is not listed, and 413 above `mostBytes`. */
export async function readFileBody(
  exchange: RequestContext,
  mediaTypes: readonly string[],
  mostBytes: number,
): Promise<FileBody> {
  const type = exchange.req.header("content-type")?.split(";")[0]?.trim().toLowerCase();
  const mediaType = mediaTypes.find((one) => one === type);
  if (mediaType === undefined) {
    throw refuse({
      status: 415,
      code: "invalid_input",
      detail: `Send the file with the header content-type: ${mediaTypes.join(", or ")}.`,
    });
  }
  const bytes = await readBodyBytes(exchange, { mostBytes });
  return { mediaType, bytes, toJSON: () => createHash("sha256").update(bytes).digest("hex") };
}

const MAX_FORM_BYTES = 32_768;

/** Reads a body that is a form. Throws 415 for another content type, and 413 above `MAX_FORM_BYTES`. */
export async function readFormBody(exchange: RequestContext): Promise<URLSearchParams> {
  const type = exchange.req.header("content-type")?.split(";")[0]?.trim().toLowerCase();
  if (type !== "application/x-www-form-urlencoded") {
    throw refuse({
      status: 415,
      code: "invalid_input",
      detail: "Send a form with the header content-type: application/x-www-form-urlencoded.",
    });
  }
  const bytes = await readBodyBytes(exchange, { mostBytes: MAX_FORM_BYTES });
  return new URLSearchParams(Buffer.from(bytes).toString("utf8"));
}

function checkContentType({ req }: RequestContext): void {
  const type = req.header("content-type")?.split(";")[0]?.trim().toLowerCase();
  if (type === "application/json") return;
  throw refuse({
    status: 415,
    code: "invalid_input",
    detail: "Send JSON with the header content-type: application/json.",
  });
}

/** Reads a JSON body unparsed, within the limits of `readBody`. */
export function readJsonBytes(exchange: RequestContext): Promise<Uint8Array> {
  const scan = createJsonScan();
  return readBodyBytes(exchange, { mostBytes: MAX_JSON_BODY_BYTES, onPiece: scan.take });
}

function parseJsonBody(bytes: Uint8Array): unknown {
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw refuse({ status: 400, code: "invalid_input", detail: "The body is not UTF-8." });
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw refuse({ status: 400, code: "invalid_input", detail: "The body is not JSON." });
  }
  if (hasPrototypeField(value)) {
    throw refuse({ status: 400, code: "invalid_input", detail: "No field may be named __proto__." });
  }
  return value;
}

/** Whether a field is named `__proto__`, which JavaScript would silently drop. */
function hasPrototypeField(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  return Object.hasOwn(value, "__proto__") || Object.values(value).some(hasPrototypeField);
}

/** Validates a value against a schema. Throws 400 with names of fields, never values. */
export function checkShape<Shape>(schema: z.ZodType<Shape>, value: unknown): Shape {
  const checked = schema.safeParse(value);
  if (checked.success) return checked.data;
  const errors = checked.error.issues.flatMap(toFieldProblems).slice(0, 20);
  const first = errors[0];
  const detail = first ? `${first.field}: ${first.problem}` : "The request has the wrong shape.";
  throw refuse({ status: 400, code: "invalid_input", detail, errors });
}

function toFieldProblems(issue: z.core.$ZodIssue): FieldProblem[] {
  const place = issue.path.map(String).join(".");
  if (issue.code === "unrecognized_keys") {
    return issue.keys.map((key) => ({
      field: [place, toShownName(key)].filter(Boolean).join("."),
      problem: "is unknown",
    }));
  }
  return [{ field: place || "body", problem: describeIssue(issue) }];
}

/** Gives a field name for an error, but only if it looks like one. */
function toShownName(key: string): string {
  return /^[A-Za-z][A-Za-z0-9_]{0,39}$/.test(key) ? key : "a field";
}

function describeIssue(issue: z.core.$ZodIssue): string {
  if (issue.code === "invalid_type") return `is required, as ${issue.expected}`;
  if (issue.code === "invalid_value") return `must be one of ${issue.values.map(String).join(", ")}`;
  if (issue.code === "too_small") return `must be at least ${issue.minimum}`;
  if (issue.code === "too_big") return `must be at most ${issue.maximum}`;
  if (issue.code === "invalid_format" && !/^Invalid/.test(issue.message)) return issue.message;
  if (issue.code === "custom" && issue.message) return issue.message;
  return "has the wrong shape";
}

/** Time without data after which a body is abandoned, in ms. */
const IDLE_TIMEOUT_MS = 30_000;
/** Time after which a body is abandoned that is read whole, in ms: each byte of it may come just in time. */
const WHOLE_BODY_TIMEOUT_MS = 300_000;

interface BodyReadOptions {
  /** A longer body throws 413. */
  readonly mostBytes: number;
  /** Called for each chunk. It may throw to refuse the body. */
  readonly onPiece?: (bytes: Uint8Array) => void;
}

/**
 * Reads the complete body of a request. Throws 413 above `mostBytes`, before reading if the declared length is larger, and
 * 408 if it stops arriving.
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

/** Gives the declared length of a body, if any. */
function getContentLength(exchange: RequestContext): number | undefined {
  const declared = exchange.req.header("content-length");
  const length = declared === undefined ? Number.NaN : Number(declared);
  return Number.isSafeInteger(length) && length >= 0 ? length : undefined;
}

/** Reads a body directly from its socket: converting it to a web stream takes longer than reading. */
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
    const late = setTimeout(() => stop(createTooSlowError()), WHOLE_BODY_TIMEOUT_MS);
    const stop = (error: Error): void => {
      isRefused = true;
      chunks.length = 0;
      clearTimeout(silent);
      clearTimeout(late);
      reject(error);
    };
    incoming.on("data", (chunk: Uint8Array) => {
      // The rest after a refusal is read and dropped, so that the client can read the refusal.
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
      clearTimeout(late);
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
  let size = 0;
  for await (const chunk of request.body ?? []) {
    size += chunk.length;
    if (size > mostBytes) throw createTooLongError(mostBytes);
    intake.add(chunk.length);
    onPiece?.(chunk);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/**
 * Streams a body in chunks, and counts it against the byte limit of its key. Throws 413 above `mostBytes`, before reading if the
 * declared length is larger, and 429 above the limit.
 */
export async function* streamBody(exchange: RequestContext, mostBytes: number): AsyncGenerator<Uint8Array> {
  const length = getContentLength(exchange);
  if (length !== undefined && length > mostBytes) throw createTooLongError(mostBytes);
  const intake = exchange.get("intake") ?? NO_BODY_OBSERVER;
  await intake.begin(length);
  let size = 0;
  for await (const chunk of exchange.req.raw.body ?? []) {
    size += chunk.length;
    if (size > mostBytes) throw createTooLongError(mostBytes);
    await intake.pass(chunk.length);
    yield chunk;
  }
  await intake.end();
}

const CLIENT_GONE = new DOMException("The client disconnected.", "AbortError");

function createTooLongError(mostBytes: number): Error {
  return refuse({
    status: 413,
    code: "invalid_input",
    detail: `The request is too long: at most ${mostBytes.toLocaleString("en")} bytes. Split it.`,
    // The rest of the body is not read.
    headers: { connection: "close" },
  });
}

function createTooSlowError(): Error {
  return refuse({
    status: 408,
    code: "unavailable",
    detail: "The body stopped arriving. Send the request again.",
    headers: { connection: "close" },
  });
}
