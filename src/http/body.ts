import type { Context } from "hono";
import type * as z from "zod";
import { type FieldProblem, refuse } from "./problem.ts";

/** Bytes of one request. A text may have 1,000,000 bytes; the rest is room for its JSON. */
export const MOST_BYTES = 1_048_576;
const DEEPEST = 32;

/**
 * The JSON body of a request in the shape asked for. It is measured while it streams in, so that nobody makes us hold
 * more than `MOST_BYTES`. Refuses another content type (415), too much (413), and what is no UTF-8, no JSON, or
 * another shape (400), naming fields and never values.
 */
export async function readBody<Shape>(context: Context, schema: z.ZodType<Shape>): Promise<Shape> {
  checkType(context);
  const bytes = await readBytes(context.req.raw);
  return check(schema, parseJson(bytes));
}

/** As `readBody`, where there may be none: then `undefined`. */
export async function readOptionalBody<Shape>(
  context: Context,
  schema: z.ZodType<Shape>,
): Promise<Shape | undefined> {
  const bytes = await readBytes(context.req.raw);
  if (bytes.length === 0) return undefined;
  checkType(context);
  return check(schema, parseJson(bytes));
}

function checkType(context: Context): void {
  const type = context.req.header("content-type")?.split(";")[0]?.trim().toLowerCase();
  if (type === "application/json") return;
  throw refuse({
    status: 415,
    code: "invalid_input",
    detail: "Send JSON, with the header content-type: application/json.",
  });
}

/** A body piece by piece, as far as it may go: 413 beyond. What says that it is longer is not read at all. */
export async function* bodyWithin(request: Request, mostBytes: number): AsyncGenerator<Uint8Array> {
  if (Number(request.headers.get("content-length") ?? 0) > mostBytes) throw tooLong(mostBytes);
  let size = 0;
  for await (const chunk of request.body ?? []) {
    size += chunk.length;
    if (size > mostBytes) throw tooLong(mostBytes);
    yield chunk;
  }
}

async function readBytes(request: Request): Promise<Uint8Array> {
  const length = Number(request.headers.get("content-length") ?? Number.NaN);
  // The server takes no more than that off the line; to read it as a stream takes several times as long.
  if (length <= MOST_BYTES) return new Uint8Array(await request.arrayBuffer());
  const chunks: Uint8Array[] = [];
  for await (const chunk of bodyWithin(request, MOST_BYTES)) chunks.push(chunk);
  return Buffer.concat(chunks);
}

function tooLong(mostBytes: number): Error {
  return refuse({
    status: 413,
    code: "invalid_input",
    detail: `The request is too long: at most ${mostBytes.toLocaleString("en")} bytes. Split it.`,
    // The rest of it is still on its way; nobody will read it.
    headers: { connection: "close" },
  });
}

function parseJson(bytes: Uint8Array): unknown {
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
  if (isDeeper(value, DEEPEST)) {
    throw refuse({
      status: 400,
      code: "invalid_input",
      detail: `The body is nested deeper than ${DEEPEST} levels.`,
    });
  }
  if (hasForeignPrototype(value)) {
    throw refuse({ status: 400, code: "invalid_input", detail: "No field may be called __proto__." });
  }
  return value;
}

/** Whether a field has the one name that JavaScript takes for something else: it would be lost without a word. */
function hasForeignPrototype(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  return Object.hasOwn(value, "__proto__") || Object.values(value).some(hasForeignPrototype);
}

function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  return levels === 0 || Object.values(value).some((inner) => isDeeper(inner, levels - 1));
}

/** What came, in the shape asked for. Refuses another one (400), naming fields and never values. */
export function check<Shape>(schema: z.ZodType<Shape>, value: unknown): Shape {
  const checked = schema.safeParse(value);
  if (checked.success) return checked.data;
  const errors = checked.error.issues.flatMap(problemsOf).slice(0, 20);
  const first = errors[0];
  const detail = first ? `${first.field}: ${first.problem}` : "The request has the wrong shape.";
  throw refuse({ status: 400, code: "invalid_input", detail, errors });
}

function problemsOf(issue: z.core.$ZodIssue): FieldProblem[] {
  const place = issue.path.map(String).join(".");
  if (issue.code === "unrecognized_keys") {
    return issue.keys.map((key) => ({
      field: [place, nameOf(key)].filter(Boolean).join("."),
      problem: "is not known",
    }));
  }
  return [{ field: place || "body", problem: wordsOf(issue) }];
}

/** A name of a field is told back only where it looks like one. */
function nameOf(key: string): string {
  return /^[A-Za-z][A-Za-z0-9_]{0,39}$/.test(key) ? key : "a field";
}

function wordsOf(issue: z.core.$ZodIssue): string {
  if (issue.code === "invalid_type") return `must be given, as ${issue.expected}`;
  if (issue.code === "invalid_value") return `must be one of ${issue.values.map(String).join(", ")}`;
  if (issue.code === "too_small") return `must be at least ${issue.minimum}`;
  if (issue.code === "too_big") return `must be at most ${issue.maximum}`;
  if (issue.code === "invalid_format" && !/^Invalid/.test(issue.message)) return issue.message;
  if (issue.code === "custom" && issue.message) return issue.message;
  return "has the wrong shape";
}
