import { randomUUID } from "node:crypto";
import { estimateTokens } from "../../domain/text/split-text.ts";
import type { OperationRequest } from "../operation.ts";
import { refuseField } from "../problem.ts";
import { toToldId } from "./conversation/conversation-store.ts";
import { type ConversationInput, type MemoryTurnState, toMemoryHeaders } from "./memory/memory-turn.ts";
import { limitToStorable } from "./memory/memory-writer.ts";
import type { OpenAiProxy, Provider } from "./proxy.ts";
import type { ProxyDialect } from "./request/dialects.ts";
import type { MemoryAccess } from "./request/memory-access.ts";
import type { ProxyRequest } from "./request/proxy-request.ts";
import { type BodyFields, toArray, toFields, toText, type UpstreamReply } from "./request/reply-reader.ts";
import { hasClientKey } from "./upstream/upstream-request.ts";

/**
 * Whether the built-in model answers: the request names it, or there is no upstream. Throws a 404 error if only Anthropic's
 * upstream is missing: another model than the configured one must not answer then.
 */
export function isBuiltInRequest(
  asked: Pick<OperationRequest, "exchange">,
  { providers }: OpenAiProxy,
  { name, upstream }: Provider,
  { model }: BodyFields,
): boolean {
  if (model === BUILT_IN_MODEL) return true;
  if (upstream !== undefined || hasClientKey(asked, name)) return false;
  if (name === "anthropic" && providers.openai.upstream)
    throw refuseField("model", NO_ANTHROPIC_PROBLEM, 404);
  return true;
}

interface BuiltInRequest {
  readonly request: ProxyRequest;
  readonly dialect: ProxyDialect;
  readonly who: MemoryAccess;
  readonly spoken: ConversationInput;
  readonly held: MemoryTurnState | undefined;
}

/**
 * Runs a turn with the built-in model: stores and executes the message, and composes the answer from memory. Memory is the
 * model here, so its errors fail the request.
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
  const form = FORMATS[dialect.name](answer);
  await held.storage?.complete(held.memory(), held.conversation.session, toStoredReply(form.body, text));
  const headers = { ...toMemoryHeaders(who), "cache-control": "no-store" };
  if (request.body.stream !== true)
    return exchange.body(JSON.stringify(form.body), 200, { ...headers, "content-type": "application/json" });
  return exchange.body(streamFrames(form.eventFrames), 200, {
    ...headers,
    "content-type": "text/event-stream; charset=utf-8",
  });
}

/** Gives the answer as a reply whose items are stored. */
function toStoredReply(body: object, text: string): UpstreamReply {
  const { id, output } = toFields(body);
  return { text, calls: [], isComplete: true, id: toText(id), items: toArray(output) };
}

function requireMemory({ who, spoken, request, held, dialect }: BuiltInRequest): MemoryTurnState {
  const userField = dialect.name === "messages" ? "metadata.user_id" : "user";
  const model = `The built-in model "${BUILT_IN_MODEL}"`;
  if (who.user === undefined)
    throw refuseField("user", `${model} answers from memory: set "${userField}" to name the user.`);
  if (!held) throw refuseField("x-keepsake-memory", `${model} answers from memory, and memory is off.`);
  if (spoken.words.trim() === "")
    throw refuseField("messages", "The request contains no user text to answer.");
  if (requestsJson(request.body))
    throw refuseField("response_format", `${model} answers only in plain text.`);
  return held;
}

function requestsJson({ response_format, text, output_config, output_format }: BodyFields): boolean {
  const format = response_format ?? output_format ?? toFields(text).format ?? toFields(output_config).format;
  const { type } = toFields(format);
  return type === "json_object" || type === "json_schema";
}

async function composeReply(
  { signal }: OperationRequest,
  { writer: keeper }: OpenAiProxy,
  { who, spoken, held }: BuiltInRequest & { readonly held: MemoryTurnState },
): Promise<string> {
  const { key, memory, conversation, turns } = held;
  await keeper.waitForWrites(key);
  keeper.checkForgotten(key);
  const words = limitToStorable(spoken.words);
  if (who.mode === "read") return (await memory().answer(words, { signal })).text;
  const options = { session: conversation.session, signal };
  // Each is a message of its own, so that it can be erased by itself.
  const said = turns.map(({ id, turn }) => ({ id: toToldId(id), content: limitToStorable(turn.text) }));
  const told = said.filter(({ content }) => content.trim() !== "");
  const last = told.pop();
  if (told.length > 0)
    await memory().remember(
      told.map((one) => ({ ...one, role: "user" })),
      options,
    );
  // A retry gets the same answer, and the message is stored once.
  const again = last ? { idempotencyKey: last.id, messageId: last.id } : {};
  return (await memory().converse(last?.content ?? words, { ...options, ...again })).text;
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

/** The name of the built-in model. It answers from memory, without a key or a network. */
export const BUILT_IN_MODEL = "keepsake";

const NO_ANTHROPIC_PROBLEM =
  "The Messages API needs an upstream: set ANTHROPIC_API_KEY or ANTHROPIC_BASE_URL on the server, send your own key in " +
  `x-keepsake-upstream-key, or use the model "${BUILT_IN_MODEL}".`;

/** An answer of the built-in model, before formatting. */
interface BuiltInAnswer {
  readonly text: string;
  /** Unix time, in seconds. */
  readonly created: number;
  readonly id: string;
  readonly body: BodyFields;
  /** The text that was read. */
  readonly words: string;
}

/** The answer as one document and as server-sent events. */
interface BuiltInReply {
  readonly body: object;
  readonly eventFrames: readonly string[];
}

/** Splits a text into words, the parts of a stream. */
function splitIntoWords(text: string): string[] {
  return text.match(/\s*\S+\s*/g) ?? [];
}

/** Formats an answer as a `chat.completion` or its chunks. https://platform.openai.com/docs/api-reference/chat */
function toChatCompletion({ text, created, id, body, words }: BuiltInAnswer): BuiltInReply {
  const prompt = estimateTokens(words);
  const completion = estimateTokens(text);
  const usage = {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
  };
  const head = { id: `chatcmpl-${id}`, created, model: BUILT_IN_MODEL };
  const wantsUsage = toFields(body.stream_options).include_usage === true;
  const chunk = (delta: object, finish: string | null = null): string =>
    toEventFrame({
      ...head,
      object: "chat.completion.chunk",
      choices: [{ index: 0, delta, logprobs: null, finish_reason: finish }],
      ...(wantsUsage ? { usage: null } : {}),
    });
  const message = { role: "assistant", content: text, refusal: null };
  return {
    body: {
      ...head,
      object: "chat.completion",
      choices: [{ index: 0, message, logprobs: null, finish_reason: "stop" }],
      usage,
    },
    eventFrames: [
      chunk({ role: "assistant", content: "" }),
      ...splitIntoWords(text).map((content) => chunk({ content })),
      chunk({}, "stop"),
      ...(wantsUsage ? [toEventFrame({ ...head, object: "chat.completion.chunk", choices: [], usage })] : []),
      "data: [DONE]\n\n",
    ],
  };
}

function toEventFrame(value: object): string {
  return `data: ${JSON.stringify(value)}\n\n`;
}

/** Formats an answer as a `response` or its events. https://platform.openai.com/docs/api-reference/responses */
function toResponseReply(answer: BuiltInAnswer): BuiltInReply {
  const { text, id } = answer;
  const place = { item_id: `msg_${id}`, output_index: 0, content_index: 0 };
  const part = { type: "output_text", annotations: [], logprobs: [], text };
  const item = { id: place.item_id, type: "message", role: "assistant" };
  const done = { ...item, status: "completed", content: [part] };
  const begun = createResponseBody(answer, "in_progress", []);
  const whole = createResponseBody(answer, "completed", [done]);
  const events = [
    { type: "response.created", response: begun },
    { type: "response.in_progress", response: begun },
    {
      type: "response.output_item.added",
      output_index: 0,
      item: { ...item, status: "in_progress", content: [] },
    },
    { type: "response.content_part.added", ...place, part: { ...part, text: "" } },
    ...splitIntoWords(text).map((delta) => ({
      type: "response.output_text.delta",
      ...place,
      delta,
      logprobs: [],
    })),
    { type: "response.output_text.done", ...place, text, logprobs: [] },
    { type: "response.content_part.done", ...place, part },
    { type: "response.output_item.done", output_index: 0, item: done },
    { type: "response.completed", response: whole },
  ];
  return {
    body: whole,
    eventFrames: events.map(
      (event, sequence_number) =>
        `event: ${event.type}\ndata: ${JSON.stringify({ ...event, sequence_number })}\n\n`,
    ),
  };
}

function createResponseBody(
  { id, created, body, words, text }: BuiltInAnswer,
  status: "in_progress" | "completed",
  output: readonly object[],
): object {
  const [input, answered] = [estimateTokens(words), estimateTokens(text)];
  const usage = {
    input_tokens: input,
    input_tokens_details: { cached_tokens: 0 },
    output_tokens: answered,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: input + answered,
  };
  return {
    id: `resp_${id}`,
    object: "response",
    created_at: created,
    status,
    error: null,
    incomplete_details: null,
    instructions: toText(body.instructions) || null,
    max_output_tokens: null,
    model: BUILT_IN_MODEL,
    output,
    parallel_tool_calls: true,
    previous_response_id: toText(body.previous_response_id) || null,
    reasoning: { effort: null, summary: null },
    store: false,
    temperature: 1,
    text: { format: { type: "text" } },
    tool_choice: "auto",
    tools: [],
    top_p: 1,
    truncation: "disabled",
    usage: status === "completed" ? usage : null,
    user: toText(body.user) || null,
    metadata: {},
  };
}

/** Formats an answer as a `message` or its events. https://docs.claude.com/en/api/messages */
function toMessage({ text, id, words }: BuiltInAnswer): BuiltInReply {
  const usage = {
    input_tokens: estimateTokens(words),
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: 0,
    output_tokens: estimateTokens(text),
  };
  const head = { id: `msg_${id}`, type: "message", role: "assistant", model: BUILT_IN_MODEL };
  const end = { stop_reason: "end_turn", stop_sequence: null };
  const begun = { stop_reason: null, stop_sequence: null, usage: { ...usage, output_tokens: 0 } };
  const events = [
    { type: "message_start", message: { ...head, content: [], ...begun } },
    { type: "content_block_start", index: 0, content_block: { type: "text", text: "", citations: null } },
    ...splitIntoWords(text).map((word) => ({
      type: "content_block_delta",
      index: 0,
      delta: { type: "text_delta", text: word },
    })),
    { type: "content_block_stop", index: 0 },
    { type: "message_delta", delta: end, usage: { output_tokens: usage.output_tokens } },
    { type: "message_stop" },
  ];
  return {
    body: { ...head, content: [{ type: "text", text, citations: null }], ...end, usage },
    eventFrames: events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`),
  };
}

const FORMATS: { readonly [name in ProxyDialect["name"]]: (answer: BuiltInAnswer) => BuiltInReply } = {
  chat: toChatCompletion,
  responses: toResponseReply,
  messages: toMessage,
};
