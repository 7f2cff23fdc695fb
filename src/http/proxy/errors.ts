import type { Problem } from "../problem.ts";

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
export interface OpenAiError {
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
