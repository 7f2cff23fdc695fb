import { randomUUID } from "node:crypto";
import type { OperationRequest } from "../../operation.ts";
import type { OpenAiDialect } from "../asked/said.ts";
import type { ConversationInput } from "../asked/spoken.ts";
import type { ProxyRequest } from "../asked/take.ts";
import type { MemoryAccess } from "../asked/who.ts";
import { limitToStorable } from "../memory/keeping.ts";
import { type MemoryTurnState, toMemoryHeaders } from "../memory/turn.ts";
import { refuseField } from "../problems.ts";
import type { OpenAiProxy } from "../proxy.ts";
import type { BodyFields } from "../replies/reply.ts";
import { hasClientKey } from "../upstream/account.ts";
import { BUILT_IN_MODEL } from "./built-in-answer.ts";
import { toChatCompletion } from "./built-in-chat.ts";
import { toResponseReply } from "./built-in-responses.ts";

/** Whether the built-in model answers: it was asked for, or there is no other. */
export function isBuiltInRequest(
  asked: Pick<OperationRequest, "exchange">,
  { upstream }: OpenAiProxy,
  { model }: BodyFields,
): boolean {
  return model === BUILT_IN_MODEL || (upstream === undefined && !hasClientKey(asked));
}

interface BuiltInRequest {
  readonly request: ProxyRequest;
  readonly dialect: OpenAiDialect;
  readonly who: MemoryAccess;
  readonly spoken: ConversationInput;
  readonly held: MemoryTurnState | undefined;
}

/**
 * A turn with the built-in model: what was said is stored and acted on, and the answer is composed from memory. Here the
 * memory is the model, so that its errors are the request's.
 */
export async function answerFromMemory(
  asked: OperationRequest,
  proxy: OpenAiProxy,
  asking: BuiltInRequest,
): Promise<Response> {
  const { exchange } = asked;
  const { request, dialect, who, spoken } = asking;
  const held = requireMemory(asking);
  const text = await composeReply(asked, proxy, { ...asking, held });
  const answer = {
    text,
    created: Math.floor(proxy.clock().getTime() / 1000),
    id: randomUUID().replaceAll("-", ""),
    body: request.body,
    words: spoken.words,
  };
  const form = dialect.name === "chat" ? toChatCompletion(answer) : toResponseReply(answer);
  const headers = { ...toMemoryHeaders(who), "cache-control": "no-store" };
  if (request.body.stream !== true)
    return exchange.body(JSON.stringify(form.body), 200, { ...headers, "content-type": "application/json" });
  return exchange.body(streamFrames(form.eventFrames), 200, {
    ...headers,
    "content-type": "text/event-stream; charset=utf-8",
  });
}

function requireMemory({ who, spoken, request, held }: BuiltInRequest): MemoryTurnState {
  const model = `The built-in model "${BUILT_IN_MODEL}"`;
  if (who.user === undefined)
    throw refuseField("user", `${model} answers from memory: name whose, with "user".`);
  if (!held) throw refuseField("x-keepsake-memory", `${model} answers from memory, and memory is off.`);
  if (spoken.words.trim() === "") throw refuseField("messages", "There is no text of the user to answer.");
  if (requestsJson(request.body))
    throw refuseField("response_format", `${model} answers in plain text alone.`);
  return held;
}

function requestsJson({ response_format, text }: BodyFields): boolean {
  const format = response_format ?? (text as BodyFields | undefined | null)?.format;
  const type = (format as BodyFields | undefined | null)?.type;
  return type === "json_object" || type === "json_schema";
}

async function composeReply(
  { signal }: OperationRequest,
  { writer: keeper }: OpenAiProxy,
  { who, spoken, held }: BuiltInRequest & { readonly held: MemoryTurnState },
): Promise<string> {
  const { key, memory, conversation, turns: said } = held;
  await keeper.waitForWrites(key);
  const words = limitToStorable(spoken.words);
  if (who.mode === "read") return (await memory().answer(words, { signal })).text;
  const options = { session: conversation.session, signal };
  // A client that tries again has the answer again, and what was said is stored once.
  const id = said.at(-1)?.id;
  const again = id === undefined ? {} : { idempotencyKey: id };
  return (await memory().converse(words, { ...options, ...again })).text;
}

function streamFrames(frames: readonly string[]): ReadableStream<Uint8Array> {
  const coder = new TextEncoder();
  let next = 0;
  return new ReadableStream({
    pull(controller) {
      const frame = frames[next];
      next += 1;
      if (frame === undefined) controller.close();
      else controller.enqueue(coder.encode(frame));
    },
  });
}
