import type { Context } from "hono";
import { HTTPException } from "hono/http-exception";
import type { ContentfulStatusCode } from "hono/utils/http-status";
import { ERROR_CODES, type ErrorCode, isMemoryError } from "../errors.ts";

/** A fault of one field of a request: where and what, never the value. */
export interface FieldProblem {
  readonly field: string;
  readonly problem: string;
}

/** Something wrong with a request itself, before the memory is asked. */
interface Problem {
  readonly status: ContentfulStatusCode;
  readonly code: ErrorCode;
  readonly detail: string;
  readonly errors?: readonly FieldProblem[];
  readonly headers?: Readonly<Record<string, string>>;
}

const PROBLEM_TITLES: { readonly [code in ErrorCode]: string } = {
  invalid_input: "The request is not right",
  forbidden: "This is not allowed",
  not_found: "There is no such thing",
  conflict: "This conflicts with what is there",
  over_quota: "Too much at once",
  corrupt: "Something here is broken",
  unsupported: "This cannot be done",
  unavailable: "Not available now",
};

/** Faults on our side may name files; whoever asks learns no more than this. */
const INTERNAL_ERROR_DETAIL =
  "Something went wrong here. The server's own messages say more, under this request's id.";
const UNAVAILABLE_DETAIL = "The memory cannot be read or written now. Try again in a moment.";

/** An RFC 9457 problem document; under `/v1` with the member `error`, which is what OpenAI's clients read. */
export function toProblemResponse(context: Context, problem: Problem): Response {
  const body = {
    type: `urn:keepsake:problem:${problem.code}`,
    title: PROBLEM_TITLES[problem.code],
    status: problem.status,
    detail: problem.detail,
    code: problem.code,
    ...(problem.errors && problem.errors.length > 0 ? { errors: problem.errors } : {}),
    request_id: context.get("requestId"),
    ...(isOpenAiPath(context.req.path) ? { error: toOpenAiError(problem) } : {}),
  };
  return context.body(JSON.stringify(body), problem.status, {
    "content-type": "application/problem+json",
    "cache-control": "no-store",
    ...getRetryAfter(problem.status),
    ...problem.headers,
  });
}

/** When to come again, in seconds, where the problem itself does not know. */
function getRetryAfter(status: number): { readonly [header: string]: string } {
  if (status === 503) return { "retry-after": "1" };
  return status === 429 ? { "retry-after": "60" } : {};
}

/** Stops a request with a problem. Caught by the app's error handler alone. */
export function refuse(problem: Problem): HTTPException {
  return new HTTPException(problem.status, { cause: problem });
}

/** Refuses a body (400); `what` goes on from "The body". */
export function refuseBody(what: string): HTTPException {
  const errors = [{ field: "body", problem: what }];
  // The rest of it may still be on its way; nobody will read it.
  const headers = { connection: "close" };
  return refuse({ status: 400, code: "invalid_input", detail: `The body ${what}.`, errors, headers });
}

/** Whether it was thrown to answer so, and not because something went wrong. */
export function isRefusal(error: unknown): boolean {
  return error instanceof HTTPException && isProblem(error.cause);
}

/** What a thrown error says to whoever asked. */
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

/** Whether an address belongs to OpenAI's protocol, whose clients read errors in their own form. */
export function isOpenAiPath(path: string): boolean {
  return path === "/v1" || path.startsWith("/v1/");
}

export const PASS_THROUGH_HINT: string =
  "With this server's key, only chat/completions, responses, embeddings and models are passed on under /v1. For the rest of " +
  "the API, send your own key of the model's server in x-keepsake-upstream-key.";

const OPENAI_ERROR_TYPES: { readonly [status: number]: string } = {
  401: "authentication_error",
  403: "permission_error",
  429: "rate_limit_error",
};

/** An error as OpenAI tells it: the member `error` of an answer, or of an event. */
interface OpenAiError {
  readonly message: string;
  readonly type: string;
  readonly param: string | null;
  readonly code: string;
}

/** A problem as OpenAI tells it. https://platform.openai.com/docs/guides/error-codes */
export function toOpenAiError({ status, code, detail, errors }: Omit<Problem, "headers">): OpenAiError {
  const type = OPENAI_ERROR_TYPES[status] ?? (status < 500 ? "invalid_request_error" : "server_error");
  return { message: detail, type, param: errors?.[0]?.field ?? null, code };
}

/** Refuses a request that cannot be right, naming the field. */
export function refuseField(field: string, detail: string, status: 400 | 404 = 400): Error {
  return refuse({
    status,
    code: status === 404 ? "not_found" : "invalid_input",
    detail,
    errors: [{ field, problem: detail }],
  });
}

/** The upstream gave no answer. The client may try again: nothing came of this request. */
export function createGatewayError(detail: string, status: 502 | 504 = 502): Error {
  return refuse({ status, code: "unavailable", detail, headers: { "retry-after": "1" } });
}
