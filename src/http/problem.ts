import type { Context } from "hono";
import { HTTPException } from "hono/http-exception";
import type { ContentfulStatusCode } from "hono/utils/http-status";
import { ERROR_CODES, type ErrorCode, isMemoryError } from "../errors.ts";

/** A problem of one field of a request. Never contains the value. */
export interface FieldProblem {
  readonly field: string;
  readonly problem: string;
}

/** A problem to send as the response. */
interface Problem {
  readonly status: ContentfulStatusCode;
  readonly code: ErrorCode;
  readonly detail: string;
  readonly errors?: readonly FieldProblem[];
  /** The import that was stored in part before the problem, and its newest revision. */
  readonly stored?: { readonly importId: string; readonly revision: number };
  /** The code in OpenAI's form, where its clients know one. */
  readonly openAiCode?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

const PROBLEM_TITLES: { readonly [code in ErrorCode]: string } = {
  invalid_input: "Invalid request",
  forbidden: "Not allowed",
  not_found: "Not found",
  conflict: "Conflict",
  over_quota: "Limit exceeded",
  corrupt: "Internal error",
  unsupported: "Not supported",
  unavailable: "Temporarily unavailable",
};

/** Internal errors may name files, so clients get only this text. */
const INTERNAL_ERROR_DETAIL = "Internal error. The server's log has details under this request id.";
const UNAVAILABLE_DETAIL = "The database cannot be read or written now. Try again in a moment.";

/**
 * Creates an RFC 9457 problem response; under `/v1` with the member `error` for OpenAI's clients, and for Anthropic's in
 * their own form alone.
 */
export function toProblemResponse(context: Context, problem: Problem): Response {
  if (isAnthropicPath(context.req.path)) {
    const body = { ...toAnthropicError(problem), request_id: context.get("requestId") };
    return sendProblem(context, problem, { body, type: "application/json" });
  }
  const body = {
    type: `urn:keepsake:problem:${problem.code}`,
    title: PROBLEM_TITLES[problem.code],
    status: problem.status,
    detail: problem.detail,
    code: problem.code,
    ...(problem.errors && problem.errors.length > 0 ? { errors: problem.errors } : {}),
    ...(problem.stored ? { import_id: problem.stored.importId, revision: problem.stored.revision } : {}),
    request_id: context.get("requestId"),
    ...(isOpenAiPath(context.req.path) ? { error: toOpenAiError(problem) } : {}),
  };
  return sendProblem(context, problem, { body, type: "application/problem+json" });
}

function sendProblem(
  context: Context,
  problem: Problem,
  { body, type }: { readonly body: object; readonly type: string },
): Response {
  return context.body(JSON.stringify(body), problem.status, {
    "content-type": type,
    "cache-control": "no-store",
    ...getRetryAfter(problem.status),
    ...problem.headers,
  });
}

/** Gives the default Retry-After header of a status. */
function getRetryAfter(status: number): { readonly [header: string]: string } {
  if (status === 503) return { "retry-after": "1" };
  return status === 429 ? { "retry-after": "60" } : {};
}

/** Creates an error that ends a request with a problem. The app's error handler catches it. */
export function refuse(problem: Problem): HTTPException {
  return new HTTPException(problem.status, { cause: problem });
}

/** Creates a 400 error for a body. `what` continues "The body". */
export function refuseBody(what: string): HTTPException {
  const errors = [{ field: "body", problem: what }];
  // The rest of the body is not read.
  const headers = { connection: "close" };
  return refuse({ status: 400, code: "invalid_input", detail: `The body ${what}.`, errors, headers });
}

/** Whether an error is a deliberate response and not a failure. */
export function isRefusal(error: unknown): boolean {
  return error instanceof HTTPException && isProblem(error.cause);
}

/** Turns a thrown error into a problem. */
export function toProblem(error: unknown): Problem {
  if (error instanceof HTTPException) {
    if (isProblem(error.cause)) return error.cause;
    const status = error.status as ContentfulStatusCode;
    return { status, code: status < 500 ? "invalid_input" : "unavailable", detail: UNAVAILABLE_DETAIL };
  }
  if (!isMemoryError(error)) return { status: 500, code: "unavailable", detail: INTERNAL_ERROR_DETAIL };
  const { status } = ERROR_CODES[error.code];
  if (error.code === "unavailable") {
    return { status, code: error.code, detail: UNAVAILABLE_DETAIL, headers: { "retry-after": "1" } };
  }
  return {
    status,
    code: error.code,
    detail: error.code === "corrupt" ? INTERNAL_ERROR_DETAIL : error.message,
  };
}

function isProblem(value: unknown): value is Problem {
  return typeof value === "object" && value !== null && "code" in value && "detail" in value;
}

/** Whether a path is under `/v1`: it belongs to a provider's protocol, whose clients expect errors in its form. */
export function isOpenAiPath(path: string): boolean {
  return path === "/v1" || path.startsWith("/v1/");
}

/** Whether a path belongs to Anthropic's Messages API. */
export function isAnthropicPath(path: string): boolean {
  return path === "/v1/messages" || path.startsWith("/v1/messages/");
}

export const PASS_THROUGH_HINT: string =
  "With this server's key, only chat/completions, responses, conversations, embeddings, models, messages and " +
  "messages/count_tokens are available under /v1. For the rest of " +
  "the API, send your own upstream key in x-keepsake-upstream-key.";

const OPENAI_ERROR_TYPES: { readonly [status: number]: string } = {
  401: "authentication_error",
  403: "permission_error",
  429: "rate_limit_error",
};

/** An error in OpenAI's form: the member `error` of a response or an event. */
interface OpenAiError {
  readonly message: string;
  readonly type: string;
  readonly param: string | null;
  readonly code: string;
}

/** Turns a problem into OpenAI's form. https://platform.openai.com/docs/guides/error-codes */
export function toOpenAiError(problem: Omit<Problem, "headers">): OpenAiError {
  const { status, code, detail, errors, openAiCode } = problem;
  const type = OPENAI_ERROR_TYPES[status] ?? (status < 500 ? "invalid_request_error" : "server_error");
  return { message: detail, type, param: errors?.[0]?.field ?? null, code: openAiCode ?? code };
}

const ANTHROPIC_ERROR_TYPES: { readonly [status: number]: string } = {
  401: "authentication_error",
  403: "permission_error",
  404: "not_found_error",
  413: "request_too_large",
  429: "rate_limit_error",
  503: "overloaded_error",
  504: "timeout_error",
};

/** An error in Anthropic's form: the body of a response, or the data of an event. */
interface AnthropicError {
  readonly type: "error";
  readonly error: { readonly type: string; readonly message: string };
}

/** Turns a problem into Anthropic's form. https://docs.claude.com/en/api/errors */
export function toAnthropicError({ status, detail }: Pick<Problem, "status" | "detail">): AnthropicError {
  const type = ANTHROPIC_ERROR_TYPES[status] ?? (status < 500 ? "invalid_request_error" : "api_error");
  return { type: "error", error: { type, message: detail } };
}

/** Creates an error for an invalid field. */
export function refuseField(field: string, detail: string, status: 400 | 404 = 400): Error {
  return refuse({
    status,
    code: status === 404 ? "not_found" : "invalid_input",
    detail,
    errors: [{ field, problem: detail }],
  });
}

/** Creates the error for an upstream without a response. The client may retry: the request had no effect. */
export function createGatewayError(detail: string, status: 502 | 504 = 502): Error {
  return refuse({ status, code: "unavailable", detail, headers: { "retry-after": "1" } });
}
