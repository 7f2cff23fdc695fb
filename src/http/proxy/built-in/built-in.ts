import { randomUUID } from "node:crypto";
import type { Asked } from "../../operation.ts";
import type { Dialect } from "../asked/said.ts";
import type { Spoken } from "../asked/spoken.ts";
import type { Taken } from "../asked/take.ts";
import type { Who } from "../asked/who.ts";
import { storable } from "../memory/keeping.ts";
import { type Held, headersOf } from "../memory/turn.ts";
import { wrong } from "../problems.ts";
import type { OpenAiProxy } from "../proxy.ts";
import type { Fields } from "../replies/reply.ts";
import { bringsKey } from "../upstream/account.ts";
import { BUILT_IN } from "./built-in-answer.ts";
import { chatAnswer } from "./built-in-chat.ts";
import { responsesAnswer } from "./built-in-responses.ts";

/** Whether the built-in model answers: it was asked for, or there is no other. */
export function isBuiltIn(
  asked: Pick<Asked, "exchange">,
  { upstream }: OpenAiProxy,
  { model }: Fields,
): boolean {
  return model === BUILT_IN || (upstream === undefined && !bringsKey(asked));
}

interface Asking {
  readonly request: Taken;
  readonly dialect: Dialect;
  readonly who: Who;
  readonly spoken: Spoken;
  readonly held: Held | undefined;
}

/**
 * A turn with the built-in model: what was said is stored and acted on, and the answer is composed from memory. Here the
 * memory is the model, so that its errors are the request's.
 */
export async function answeredByMemory(asked: Asked, proxy: OpenAiProxy, asking: Asking): Promise<Response> {
  const { exchange } = asked;
  const { request, dialect, who, spoken } = asking;
  const held = askable(asking);
  const text = await replyTo(asked, proxy, { ...asking, held });
  const answer = {
    text,
    created: Math.floor(proxy.clock().getTime() / 1000),
    id: randomUUID().replaceAll("-", ""),
    body: request.body,
    words: spoken.words,
  };
  const form = dialect.name === "chat" ? chatAnswer(answer) : responsesAnswer(answer);
  const headers = { ...headersOf(who), "cache-control": "no-store" };
  if (request.body.stream !== true)
    return exchange.body(JSON.stringify(form.whole), 200, { ...headers, "content-type": "application/json" });
  return exchange.body(streamOf(form.frames), 200, {
    ...headers,
    "content-type": "text/event-stream; charset=utf-8",
  });
}

function askable({ who, spoken, request, held }: Asking): Held {
  const model = `The built-in model "${BUILT_IN}"`;
  if (who.user === undefined) throw wrong("user", `${model} answers from memory: name whose, with "user".`);
  if (!held) throw wrong("x-keepsake-memory", `${model} answers from memory, and memory is off.`);
  if (spoken.words.trim() === "") throw wrong("messages", "There is no text of the user to answer.");
  if (wantsJson(request.body)) throw wrong("response_format", `${model} answers in plain text alone.`);
  return held;
}

function wantsJson({ response_format, text }: Fields): boolean {
  const format = response_format ?? (text as Fields | undefined | null)?.format;
  const type = (format as Fields | undefined | null)?.type;
  return type === "json_object" || type === "json_schema";
}

async function replyTo(
  { signal }: Asked,
  { keeper }: OpenAiProxy,
  { who, spoken, held }: Asking & { readonly held: Held },
): Promise<string> {
  const { key, memory, conversation, said } = held;
  await keeper.settled(key);
  const words = storable(spoken.words);
  if (who.mode === "read") return (await memory().answer(words, { signal })).text;
  const options = { session: conversation.session, signal };
  // A client that tries again has the answer again, and what was said is stored once.
  const id = said.at(-1)?.id;
  const again = id === undefined ? {} : { idempotencyKey: id };
  return (await memory().converse(words, { ...options, ...again })).text;
}

function streamOf(frames: readonly string[]): ReadableStream<Uint8Array> {
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
