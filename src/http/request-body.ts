import type { IncomingMessage } from "node:http";
import type * as z from "zod";
import { type BodyObserver, NO_BODY_OBSERVER } from "./body-quota.ts";
import { createJsonScan } from "./json-scan.ts";
import { type FieldProblem, refuse } from "./problem.ts";
import { getNodeBindings, type RequestContext } from "./request-context.ts";

/** Bytes of one request. A text may have 1,000,000 bytes; the rest is room for its JSON. */
const MAX_JSON_BODY_BYTES = 1_048_576;

/**
 * The JSON body of a request in the shape asked for. It is measured and looked through while it comes in, so that nobody makes
 * us hold more than `MOST_BYTES`, or read what takes long. Refuses another content type (415), too much (413), and what is no
 * UTF-8, no JSON, nested too deep, too many values, or another shape (400), naming fields and never values.
 */
export async function readBody<Shape>(exchange: RequestContext, schema: z.ZodType<Shape>): Promise<Shape> {
  checkContentType(exchange);
  return checkShape(schema, parseJsonBody(await readJsonBytes(exchange)));
}

/** As `readBody`, where there may be none: then `undefined`. */
export async function readOptionalBody<Shape>(
  exchange: RequestContext,
  schema: z.ZodType<Shape>,
): Promise<Shape | undefined> {
  const bytes = await readJsonBytes(exchange);
  if (bytes.length === 0) return undefined;
  checkContentType(exchange);
  return checkShape(schema, parseJsonBody(bytes));
}

function checkContentType({ req }: RequestContext): void {
  const type = req.header("content-type")?.split(";")[0]?.trim().toLowerCase();
  if (type === "application/json") return;
  throw refuse({
    status: 415,
    code: "invalid_input",
    detail: "Send JSON, with the header content-type: application/json.",
  });
}

function readJsonBytes(exchange: RequestContext): Promise<Uint8Array> {
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
    throw refuse({ status: 400, code: "invalid_input", detail: "No field may be called __proto__." });
  }
  return value;
}

/** Whether a field has the one name that JavaScript takes for something else: it would be lost without a word. */
function hasPrototypeField(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  return Object.hasOwn(value, "__proto__") || Object.values(value).some(hasPrototypeField);
}

/** What came, in the shape asked for. Refuses another one (400), naming fields and never values. */
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
      problem: "is not known",
    }));
  }
  return [{ field: place || "body", problem: describeIssue(issue) }];
}

/** A name of a field is told back only where it looks like one. */
function toShownName(key: string): string {
  return /^[A-Za-z][A-Za-z0-9_]{0,39}$/.test(key) ? key : "a field";
}

function describeIssue(issue: z.core.$ZodIssue): string {
  if (issue.code === "invalid_type") return `must be given, as ${issue.expected}`;
  if (issue.code === "invalid_value") return `must be one of ${issue.values.map(String).join(", ")}`;
  if (issue.code === "too_small") return `must be at least ${issue.minimum}`;
  if (issue.code === "too_big") return `must be at most ${issue.maximum}`;
  if (issue.code === "invalid_format" && !/^Invalid/.test(issue.message)) return issue.message;
  if (issue.code === "custom" && issue.message) return issue.message;
  return "has the wrong shape";
}

/** A body that brings nothing for so long is given up, in ms. */
const IDLE_TIMEOUT_MS = 30_000;

interface BodyReadOptions {
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
