import type { HttpAnswer, StoredAnswer } from "../domain/operations/stored-answer.ts";
import type { Scope } from "../domain/scope.ts";
import type { IdempotentAnswers } from "../engine/api/keepsake.ts";
import type { Operation, OperationRequest } from "./operation.ts";
import { refuse } from "./problem.ts";
import type { RequestContext } from "./request-context.ts";
import { omitUndefined } from "./schemas/wire.ts";

/** Maximum size of a stored response. A request with a larger one is executed again. */
const MAX_ANSWER_BYTES = 4_194_304;
/** Headers that belong to the response, not to the connection. */
const STORED_HEADERS = ["content-type", "location"] as const;

/**
 * Executes a request once. If its Idempotency-Key was used before for the same user and request, it gives the stored
 * response. Failures are not stored, so that the request can be sent again.
 */
export async function runIdempotently(
  operation: Operation,
  call: OperationRequest,
  run: () => Promise<Response>,
): Promise<Response> {
  const key = operation.acceptsIdempotencyKey ? getIdempotencyKey(call.exchange) : undefined;
  const user = key === undefined ? undefined : (operation.findUser?.(call) ?? findUser(call));
  if (key === undefined || user === undefined) return run();
  // A key without access to this user must not learn the response.
  call.memoryOf(user);
  const scope = { project: call.project(), user };
  const { answers } = call.services.keepsake;
  const named = call.agent === undefined ? [] : [call.agent];
  const request = JSON.stringify([operation.id, call.path, call.query, call.body, ...named]);
  const abandonedMs = 2 * call.services.requestMs;
  const stored = await answers.begin(scope, { key, request, abandonedMs });
  if (stored) return replayAnswer(stored, answers.isSame(stored, request));
  try {
    return await recordAnswer(await run(), { answers, scope, key, exchange: call.exchange });
  } catch (error) {
    await answers.release(scope, key).catch(() => {});
    throw error;
  }
}

function getIdempotencyKey({ req }: RequestContext): string | undefined {
  const key = req.header("idempotency-key");
  if (key === undefined || /^[ -~]{1,512}$/.test(key)) return key;
  throw refuse({
    status: 400,
    code: "invalid_input",
    detail: "The Idempotency-Key must be 1 to 512 ASCII characters.",
  });
}

/** Gives the user of a request. */
function findUser({ path, body }: OperationRequest): string | undefined {
  const { user_id, userId } = { ...(path as UserFields), ...(body as UserFields) };
  return user_id ?? userId;
}

interface UserFields {
  readonly user_id?: string;
  readonly userId?: string;
}

function replayAnswer(stored: StoredAnswer, isSame: boolean): Response {
  if (stored.state === "erased") {
    throw refuse({
      status: 410,
      code: "not_found",
      detail: "This request was executed, and its response has been erased since. It was not executed again.",
    });
  }
  if (!isSame) {
    throw refuse({
      status: 409,
      code: "conflict",
      detail: "This Idempotency-Key was used for another request. Use a new key for a new request.",
    });
  }
  if (!stored.answer) {
    throw refuse({
      status: 409,
      code: "conflict",
      detail: "A request with this Idempotency-Key is still in progress. Try again in a moment.",
      headers: { "retry-after": "1" },
    });
  }
  const { status, headers, body } = stored.answer;
  // A response without a body must not have an empty one.
  return new Response(body === "" ? null : body, {
    status,
    headers: { ...headers, "idempotent-replayed": "true" },
  });
}

/** Records the erasures of a handler, so that its response may still be stored after them. */
export function noteErasures(
  exchange: RequestContext,
  receipts: readonly { readonly id: string }[] = [],
): void {
  exchange.set("erasures", [...(exchange.get("erasures") ?? []), ...receipts.map(({ id }) => id)]);
}

interface AnswerRecording {
  readonly answers: IdempotentAnswers;
  readonly scope: Scope;
  readonly key: string;
  readonly exchange: RequestContext;
}

/** Gives the response, and stores it once it is complete. */
async function recordAnswer(
  response: Response,
  { answers, scope, key, exchange }: AnswerRecording,
): Promise<Response> {
  const end = async (body: string | undefined): Promise<void> => {
    const saving =
      body === undefined
        ? answers.release(scope, key)
        : answers.end(scope, key, { ...toAnswerHead(response), body }, exchange.get("erasures"));
    // The request has been executed: the client gets the response even if it cannot be stored.
    await saving.catch(() => {});
  };
  if (response.status >= 400) await end(undefined);
  else if (isEventStream(response)) return captureStream(response, end);
  else await end(limitBody(await response.clone().text()));
  return response;
}

function toAnswerHead({ status, headers }: Response): Omit<HttpAnswer, "body"> {
  const entries = STORED_HEADERS.map((name) => [name, headers.get(name) ?? undefined]);
  return { status, headers: omitUndefined(Object.fromEntries(entries)) };
}

function isEventStream({ headers }: Response): boolean {
  return headers.get("content-type")?.startsWith("text/event-stream") ?? false;
}

function limitBody(body: string): string | undefined {
  return body.length <= MAX_ANSWER_BYTES ? body : undefined;
}

/** Forwards a stream and passes its text to `end`; `undefined` if the stream was cut off. */
function captureStream(response: Response, end: (body: string | undefined) => Promise<void>): Response {
  const decoder = new TextDecoder();
  let text = "";
  const through = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      text += decoder.decode(chunk, { stream: true });
      controller.enqueue(chunk);
    },
    // A request whose stream ends with an error may be sent again.
    flush: () => end(/^event: error$/m.test(text) ? undefined : limitBody(text)),
    cancel: () => end(undefined),
  });
  const body = response.body?.pipeThrough(through) ?? null;
  return new Response(body, { status: response.status, headers: response.headers });
}
