import type { Scope } from "../domain/scope.ts";
import type { HttpAnswer, StoredAnswer } from "../domain/stored-answer.ts";
import type { IdempotentAnswers } from "../engine/api.ts";
import type { Operation, OperationRequest } from "./operation.ts";
import { refuse } from "./problem.ts";
import type { RequestContext } from "./request-context.ts";
import { omitUndefined } from "./wire.ts";

/** Larger answers are not kept; a request that gives one is carried out again. */
const MAX_ANSWER_BYTES = 4_194_304;
/** What belongs to an answer itself, and not to the connection that it went over. */
const STORED_HEADERS = ["content-type", "location"] as const;

/**
 * Carries a request out once: where it has an Idempotency-Key that was there before, for the same user and the same
 * request, the answer of then is given again. What fails is not kept, so that it can be sent again.
 */
export async function runIdempotently(
  operation: Operation,
  asked: OperationRequest,
  run: () => Promise<Response>,
): Promise<Response> {
  const key = operation.acceptsIdempotencyKey ? getIdempotencyKey(asked.exchange) : undefined;
  const user = key === undefined ? undefined : findUser(asked);
  if (key === undefined || user === undefined) return run();
  // Whose key may not reach this user learns nothing of what was answered.
  asked.memoryOf(user);
  const scope = { project: asked.project(), user };
  const { answers } = asked.services.keepsake;
  const request = JSON.stringify([operation.id, asked.path, asked.query, asked.body]);
  const abandonedMs = 2 * asked.services.requestMs;
  const kept = await answers.begin(scope, { key, request, abandonedMs });
  if (kept) return replayAnswer(kept, answers.isSame(kept, request));
  try {
    return await recordAnswer(await run(), { answers, scope, key, exchange: asked.exchange });
  } catch (error) {
    await answers.letGo(scope, key).catch(() => {});
    throw error;
  }
}

function getIdempotencyKey({ req }: RequestContext): string | undefined {
  const key = req.header("idempotency-key");
  if (key === undefined || /^[ -~]{1,512}$/.test(key)) return key;
  throw refuse({
    status: 400,
    code: "invalid_input",
    detail: "The Idempotency-Key must be 1 to 512 characters of ASCII.",
  });
}

/** The user whom a request is about. */
function findUser({ path, body }: OperationRequest): string | undefined {
  const { user_id, userId } = { ...(path as UserFields), ...(body as UserFields) };
  return user_id ?? userId;
}

interface UserFields {
  readonly user_id?: string;
  readonly userId?: string;
}

function replayAnswer(kept: StoredAnswer, isSame: boolean): Response {
  if (kept.state === "erased") {
    throw refuse({
      status: 410,
      code: "not_found",
      detail: "This was done, and its answer has been erased since. Nothing was done again.",
    });
  }
  if (!isSame) {
    throw refuse({
      status: 409,
      code: "conflict",
      detail: "This Idempotency-Key was used for something else: take a new one for a new request.",
    });
  }
  if (!kept.answer) {
    throw refuse({
      status: 409,
      code: "conflict",
      detail: "A request with this Idempotency-Key is still at work. Ask again in a moment.",
      headers: { "retry-after": "1" },
    });
  }
  const { status, headers, body } = kept.answer;
  return new Response(body, { status, headers: { ...headers, "idempotent-replayed": "true" } });
}

/** To be called by handlers whose work may erase: what they answer may then be kept after these erasures. */
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

/** The same answer, which is kept once it is whole. */
async function recordAnswer(
  response: Response,
  { answers, scope, key, exchange }: AnswerRecording,
): Promise<Response> {
  const end = async (body: string | undefined): Promise<void> => {
    const kept =
      body === undefined
        ? answers.letGo(scope, key)
        : answers.end(scope, key, { ...toAnswerHead(response), body }, exchange.get("erasures"));
    // What was done is done: whoever asked is told so, even where it cannot be told twice.
    await kept.catch(() => {});
  };
  if (response.status >= 400) await end(undefined);
  else if (isEventStream(response)) return captureStream(response, end);
  else await end(limitBody(await response.clone().text()));
  return response;
}

function toAnswerHead({ status, headers }: Response): Omit<HttpAnswer, "body"> {
  const kept = STORED_HEADERS.map((name) => [name, headers.get(name) ?? undefined]);
  return { status, headers: omitUndefined(Object.fromEntries(kept)) };
}

function isEventStream({ headers }: Response): boolean {
  return headers.get("content-type")?.startsWith("text/event-stream") ?? false;
}

function limitBody(body: string): string | undefined {
  return body.length <= MAX_ANSWER_BYTES ? body : undefined;
}

/** Hands a stream on, and its whole text to `end`; nothing, where it did not reach its end. */
function captureStream(response: Response, end: (body: string | undefined) => Promise<void>): Response {
  const decoder = new TextDecoder();
  let text = "";
  const through = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      text += decoder.decode(chunk, { stream: true });
      controller.enqueue(chunk);
    },
    // One that ends with an error may be sent again.
    flush: () => end(/^event: error$/m.test(text) ? undefined : limitBody(text)),
    cancel: () => end(undefined),
  });
  const body = response.body?.pipeThrough(through) ?? null;
  return new Response(body, { status: response.status, headers: response.headers });
}
