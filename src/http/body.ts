import type * as z from "zod";
import type { RequestContext } from "./app-types.ts";
import { readBodyBytes } from "./body-bytes.ts";
import { createJsonScan } from "./json-scan.ts";
import { type FieldProblem, refuse } from "./problem.ts";

/** Bytes of one request. A text may have 1,000,000 bytes; the rest is room for its JSON. */
export const MAX_JSON_BODY_BYTES = 1_048_576;

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
