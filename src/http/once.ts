import type { GivenAnswer, KeptAnswer } from "../domain/kept-answer.ts";
import type { Scope } from "../domain/scope.ts";
import type { Answers } from "../engine/surface.ts";
import type { Exchange } from "./app-types.ts";
import type { Asked, Operation } from "./operation.ts";
import { refuse } from "./problem.ts";
import { given } from "./wire.ts";

/** Larger answers are not kept; a request that gives one is carried out again. */
const MOST_BYTES = 4_194_304;
/** What belongs to an answer itself, and not to the connection that it went over. */
const HEADERS = ["content-type", "location"] as const;

/**
 * Carries a request out once: where it has an Idempotency-Key that was there before, for the same user and the same
 * request, the answer of then is given again. What fails is not kept, so that it can be sent again.
 */
export async function once(
  operation: Operation,
  asked: Asked,
  run: () => Promise<Response>,
): Promise<Response> {
  const key = operation.takesKey ? keyOf(asked.exchange) : undefined;
  const user = key === undefined ? undefined : userOf(asked);
  if (key === undefined || user === undefined) return run();
  // Whose key may not reach this user learns nothing of what was answered.
  asked.memoryOf(user);
  const scope = { project: asked.project(), user };
  const { answers } = asked.services.keepsake;
  const request = JSON.stringify([operation.id, asked.path, asked.query, asked.body]);
  const abandonedMs = 2 * asked.services.requestMs;
  const kept = await answers.begin(scope, { key, request, abandonedMs });
  if (kept) return again(kept, answers.isSame(kept, request));
  try {
    return await keeping(await run(), { answers, scope, key, exchange: asked.exchange });
  } catch (error) {
    await answers.letGo(scope, key).catch(() => {});
    throw error;
  }
}

function keyOf({ req }: Exchange): string | undefined {
  const key = req.header("idempotency-key");
  if (key === undefined || /^[ -~]{1,512}$/.test(key)) return key;
  throw refuse({
    status: 400,
    code: "invalid_input",
    detail: "The Idempotency-Key must be 1 to 512 characters of ASCII.",
  });
}

/** The user whom a request is about. */
function userOf({ path, body }: Asked): string | undefined {
  const { user_id, userId } = { ...(path as Named), ...(body as Named) };
  return user_id ?? userId;
}

interface Named {
  readonly user_id?: string;
  readonly userId?: string;
}

function again(kept: KeptAnswer, isSame: boolean): Response {
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
export function noteErasures(exchange: Exchange, receipts: readonly { readonly id: string }[] = []): void {
  exchange.set("erasures", [...(exchange.get("erasures") ?? []), ...receipts.map(({ id }) => id)]);
}

interface Keeping {
  readonly answers: Answers;
  readonly scope: Scope;
  readonly key: string;
  readonly exchange: Exchange;
}

/** The same answer, which is kept once it is whole. */
async function keeping(response: Response, { answers, scope, key, exchange }: Keeping): Promise<Response> {
  const end = async (body: string | undefined): Promise<void> => {
    const kept =
      body === undefined
        ? answers.letGo(scope, key)
        : answers.end(scope, key, { ...headOf(response), body }, exchange.get("erasures"));
    // What was done is done: whoever asked is told so, even where it cannot be told twice.
    await kept.catch(() => {});
  };
  if (response.status >= 400) await end(undefined);
  else if (isStream(response)) return captured(response, end);
  else await end(bounded(await response.clone().text()));
  return response;
}

function headOf({ status, headers }: Response): Omit<GivenAnswer, "body"> {
  const kept = HEADERS.map((name) => [name, headers.get(name) ?? undefined]);
  return { status, headers: given(Object.fromEntries(kept)) };
}

function isStream({ headers }: Response): boolean {
  return headers.get("content-type")?.startsWith("text/event-stream") ?? false;
}

function bounded(body: string): string | undefined {
  return body.length <= MOST_BYTES ? body : undefined;
}

/** Hands a stream on, and its whole text to `end`; nothing, where it did not reach its end. */
function captured(response: Response, end: (body: string | undefined) => Promise<void>): Response {
  const decoder = new TextDecoder();
  let text = "";
  const through = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      text += decoder.decode(chunk, { stream: true });
      controller.enqueue(chunk);
    },
    // One that ends with an error may be sent again.
    flush: () => end(/^event: error$/m.test(text) ? undefined : bounded(text)),
    cancel: () => end(undefined),
  });
  const body = response.body?.pipeThrough(through) ?? null;
  return new Response(body, { status: response.status, headers: response.headers });
}
