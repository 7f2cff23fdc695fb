import {
  type AnswerContext,
  createRefusal,
  formatArguments,
  listParts,
  type OpenaiAnswer,
  splitText,
  toCreatedTime,
  toDatedName,
} from "./answer.ts";
import type { RichReply } from "./script.ts";

/**
 * The answer of `POST /v1/chat/completions`: a `chat.completion`, or its chunks with `stream`.
 * https://platform.openai.com/docs/api-reference/chat
 */
export function createChatAnswer(making: AnswerContext): OpenaiAnswer {
  const { request, replies } = making;
  if (request.body.stream === true) return { frames: createChunks(making) };
  return {
    status: 200,
    body: {
      ...createHead(making, "chat.completion"),
      choices: replies.map((reply, index) => ({
        index,
        message: toMessage(reply, making.number),
        logprobs: null,
        finish_reason: toFinishReason(reply),
      })),
      usage: toUsage(making),
    },
  };
}

const createHead = ({ request, number }: AnswerContext, object: string): { [field: string]: unknown } => ({
  id: `chatcmpl-${String(number).padStart(8, "0")}`,
  object,
  created: toCreatedTime(number),
  model: toDatedName(request.body.model),
  service_tier: "default",
  system_fingerprint: "fp_0000000001",
});

function toMessage(reply: RichReply, number: number): { [field: string]: unknown } {
  const calls = (reply.toolCalls ?? []).map((call, index) => ({
    id: call.id ?? `call_${number}_${index}`,
    type: "function",
    function: { name: call.name, arguments: formatArguments(call) },
  }));
  return {
    role: "assistant",
    content: reply.text ?? (reply.parts ? reply.parts.join("") : null),
    ...(reply.reasoning === undefined ? {} : { reasoning_content: reply.reasoning }),
    ...(calls.length > 0 ? { tool_calls: calls } : {}),
    refusal: reply.refusal ?? null,
    annotations: [],
  };
}

const toFinishReason = ({ finish, toolCalls = [] }: RichReply): string =>
  finish ?? (toolCalls.length > 0 ? "tool_calls" : "stop");

const toUsage = ({ usage }: AnswerContext): { [field: string]: unknown } => ({
  prompt_tokens: usage.prompt,
  completion_tokens: usage.answer,
  total_tokens: usage.prompt + usage.answer,
  prompt_tokens_details: { cached_tokens: usage.cached, audio_tokens: 0 },
  completion_tokens_details: {
    reasoning_tokens: 0,
    audio_tokens: 0,
    accepted_prediction_tokens: 0,
    rejected_prediction_tokens: 0,
  },
});

type ChatDelta = { readonly [field: string]: unknown };

function createChunks(making: AnswerContext): string[] {
  const options = making.request.body.stream_options as { include_usage?: boolean } | undefined;
  const wantsUsage = options?.include_usage === true;
  const top = createHead(making, "chat.completion.chunk");
  const chunk = (index: number, delta: ChatDelta, finish: string | null = null): string =>
    formatFrame({
      ...top,
      choices: [{ index, delta, logprobs: null, finish_reason: finish }],
      ...(wantsUsage ? { usage: null } : {}),
    });
  return [
    ...making.replies.flatMap((reply, index) => [
      ...createDeltas(reply, making.number).map((delta) => chunk(index, delta)),
      chunk(index, {}, toFinishReason(reply)),
    ]),
    ...(wantsUsage ? [formatFrame({ ...top, choices: [], usage: toUsage(making) })] : []),
    "data: [DONE]\n\n",
  ];
}

function createDeltas(reply: RichReply, number: number): ChatDelta[] {
  const { refusal, reasoning, toolCalls = [] } = reply;
  const isText = toolCalls.length === 0 && refusal === undefined;
  return [
    { role: "assistant", content: isText ? "" : null, refusal: null },
    ...(reasoning === undefined ? [] : splitText(reasoning).map((piece) => ({ reasoning_content: piece }))),
    ...listParts(reply).map((content) => ({ content })),
    ...(refusal === undefined ? [] : splitText(refusal).map((piece) => ({ refusal: piece }))),
    ...toolCalls.flatMap((call, index) => [
      {
        tool_calls: [
          {
            index,
            id: call.id ?? `call_${number}_${index}`,
            type: "function",
            function: { name: call.name, arguments: "" },
          },
        ],
      },
      ...splitText(formatArguments(call)).map((piece) => ({
        tool_calls: [{ index, function: { arguments: piece } }],
      })),
    ]),
  ];
}

const formatFrame = (value: object): string => `data: ${JSON.stringify(value)}\n\n`;

type ResponseFields = { readonly [field: string]: unknown };

/**
 * The answer of `POST /v1/responses`: a `response`, or its typed events with `stream`, numbered from 0.
 * https://platform.openai.com/docs/api-reference/responses
 */
export function createResponsesAnswer(making: AnswerContext): OpenaiAnswer {
  const items = (making.replies[0] ? toItems(making.replies[0], making.number) : []).map(
    ({ whole }) => whole,
  );
  if (making.request.body.stream === true) return { frames: createEvents(making) };
  return { status: 200, body: toResponse(making, toStatus(making), items) };
}

export const toResponseId = (number: number): string => `resp_${String(number).padStart(8, "0")}`;

const toStatus = ({ replies }: AnswerContext): string =>
  replies[0]?.finish === "length" ? "incomplete" : "completed";

function toResponse(
  making: AnswerContext,
  status: string,
  output: readonly ResponseFields[],
): ResponseFields {
  const { request, number, usage } = making;
  const asked = request.body;
  return {
    id: toResponseId(number),
    object: "response",
    created_at: toCreatedTime(number),
    status,
    background: false,
    error: null,
    incomplete_details: status === "incomplete" ? { reason: "max_output_tokens" } : null,
    instructions: asked.instructions ?? null,
    max_output_tokens: asked.max_output_tokens ?? null,
    max_tool_calls: null,
    model: toDatedName(asked.model),
    output,
    parallel_tool_calls: true,
    previous_response_id: asked.previous_response_id ?? null,
    prompt_cache_key: null,
    reasoning: { effort: null, summary: null },
    safety_identifier: null,
    service_tier: "default",
    store: asked.store ?? true,
    temperature: asked.temperature ?? 1,
    text: asked.text ?? { format: { type: "text" }, verbosity: "medium" },
    tool_choice: asked.tool_choice ?? "auto",
    tools: asked.tools ?? [],
    top_logprobs: 0,
    top_p: 1,
    truncation: "disabled",
    usage:
      status === "in_progress"
        ? null
        : {
            input_tokens: usage.prompt,
            input_tokens_details: { cached_tokens: usage.cached },
            output_tokens: usage.answer,
            output_tokens_details: { reasoning_tokens: 0 },
            total_tokens: usage.prompt + usage.answer,
          },
    user: null,
    metadata: asked.metadata ?? {},
  };
}

/** An item of the output, and the events between its `output_item.added` and `.done`. */
interface OutputItem {
  readonly begun: ResponseFields;
  readonly whole: ResponseFields;
  readonly events: readonly ResponseFields[];
}

function toItems(reply: RichReply, number: number): OutputItem[] {
  const calls = (reply.toolCalls ?? []).map((call, index): OutputItem => {
    const id = `fc_${number}_${index}`;
    const given = formatArguments(call);
    const item = {
      id,
      type: "function_call",
      call_id: call.id ?? `call_${number}_${index}`,
      name: call.name,
    };
    return {
      begun: { ...item, status: "in_progress", arguments: "" },
      whole: { ...item, status: "completed", arguments: given },
      events: [
        ...splitText(given).map((delta) => ({
          type: "response.function_call_arguments.delta",
          item_id: id,
          delta,
        })),
        { type: "response.function_call_arguments.done", item_id: id, arguments: given },
      ],
    };
  });
  const says = reply.text !== undefined || reply.parts !== undefined || reply.refusal !== undefined;
  return [...(says || calls.length === 0 ? [toMessageItem(reply, number)] : []), ...calls];
}

function toMessageItem(reply: RichReply, number: number): OutputItem {
  const id = `msg_${String(number).padStart(8, "0")}`;
  const text = reply.text ?? reply.parts?.join("") ?? "";
  const { refusal } = reply;
  const part =
    refusal === undefined
      ? { type: "output_text", annotations: [], logprobs: [], text }
      : { type: "refusal", refusal };
  const empty = refusal === undefined ? { ...part, text: "" } : { ...part, refusal: "" };
  const place = { item_id: id, content_index: 0 };
  const deltas =
    refusal === undefined
      ? listParts(reply).map((delta) => ({
          type: "response.output_text.delta",
          ...place,
          delta,
          logprobs: [],
        }))
      : splitText(refusal).map((delta) => ({ type: "response.refusal.delta", ...place, delta }));
  const done =
    refusal === undefined
      ? { type: "response.output_text.done", ...place, text, logprobs: [] }
      : { type: "response.refusal.done", ...place, refusal };
  const item = { id, type: "message", role: "assistant" };
  return {
    begun: { ...item, status: "in_progress", content: [] },
    whole: {
      ...item,
      status: reply.finish === "length" ? "incomplete" : "completed",
      content: [part],
    },
    events: [
      { type: "response.content_part.added", ...place, part: empty },
      ...deltas,
      done,
      { type: "response.content_part.done", ...place, part },
    ],
  };
}

function createEvents(making: AnswerContext): string[] {
  const items = making.replies[0] ? toItems(making.replies[0], making.number) : [];
  const begun = toResponse(making, "in_progress", []);
  const end = toStatus(making);
  const whole = toResponse(
    making,
    end,
    items.map((item) => item.whole),
  );
  const all: ResponseFields[] = [
    { type: "response.created", response: begun },
    { type: "response.in_progress", response: begun },
    ...items.flatMap((item, place) => [
      { type: "response.output_item.added", output_index: place, item: item.begun },
      ...item.events.map((event) => ({ ...event, output_index: place })),
      { type: "response.output_item.done", output_index: place, item: item.whole },
    ]),
    { type: `response.${end}`, response: whole },
  ];
  return all.map(
    (event, place) =>
      `event: ${String(event.type)}\ndata: ${JSON.stringify({ ...event, sequence_number: place })}\n\n`,
  );
}

type EmbeddingsFields = { readonly [field: string]: unknown };

/** OpenAI's limits: texts per request, tokens per text, tokens per request. */
const MOST_TEXTS = 2048;
const MOST_TOKENS = 8191;
const MOST_TOKENS_AT_ONCE = 300_000;
const NATURAL: { readonly [model: string]: number } = {
  "text-embedding-3-small": 1536,
  "text-embedding-3-large": 3072,
  "text-embedding-ada-002": 1536,
  "nomic-embed-text": 768,
};

/**
 * The answer of `POST /v1/embeddings`, with the real server's input checks. Vectors are made of hashed words,
 * so texts that share words are near. https://platform.openai.com/docs/api-reference/embeddings
 */
export function createEmbeddingsAnswer(
  body: EmbeddingsFields,
  tokensOf: (text: string) => number,
  mostTexts: number = MOST_TEXTS,
): OpenaiAnswer {
  const texts = typeof body.input === "string" ? [body.input] : body.input;
  const problem = findProblem(body, texts, mostTexts);
  if (problem !== undefined || !Array.isArray(texts))
    return createRefusal(400, problem ?? "'$.input' is invalid");
  const model = String(body.model);
  const dimensions = Number(body.dimensions ?? NATURAL[model] ?? 256);
  const written = body.encoding_format === "base64" ? toBase64 : (vector: number[]): number[] => vector;
  const tokens = texts.reduce((sum: number, text) => sum + tokensOf(String(text)), 0);
  return {
    status: 200,
    body: {
      object: "list",
      data: texts.map((text, index) => ({
        object: "embedding",
        index,
        embedding: written(hashToVector(String(text), dimensions)),
      })),
      model,
      usage: { prompt_tokens: tokens, total_tokens: tokens },
    },
  };
}

function findProblem(body: EmbeddingsFields, input: unknown, mostTexts: number): string | undefined {
  const { model, encoding_format: format = "float" } = body;
  if (typeof model !== "string") return "you must provide a model parameter";
  if (format !== "float" && format !== "base64") return "'encoding_format' must be 'float' or 'base64'";
  if (!Array.isArray(input) || input.length === 0) return "'$.input' is invalid";
  if (input.length > mostTexts) return "array too long";
  const texts = input.map(String);
  if (texts.some((text) => text === "")) return "'$.input' is invalid: an empty string";
  if (texts.some((text) => !text.isWellFormed())) return "could not parse the JSON body";
  // Never fewer than a real tokenizer counts.
  const tokens = texts.map((text) => Buffer.byteLength(text));
  if (tokens.some((count) => count > MOST_TOKENS)) return "maximum context length is 8192 tokens";
  return tokens.reduce((sum, count) => sum + count, 0) > MOST_TOKENS_AT_ONCE
    ? "max 300000 tokens"
    : undefined;
}

/** Little-endian 32-bit floats. */
const toBase64 = (vector: readonly number[]): string =>
  Buffer.from(Float32Array.from(vector).buffer).toString("base64");

/** Of unit length, like OpenAI's: each word counts in three components. */
export function hashToVector(text: string, dimensions: number): number[] {
  const vector = new Array<number>(dimensions).fill(0);
  for (const word of text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [text]) {
    for (let seed = 1; seed <= 3; seed += 1) {
      let hash = seed * 7919;
      for (const letter of word) hash = (hash * 31 + (letter.codePointAt(0) ?? 0)) % 1_000_003;
      const place = hash % dimensions;
      vector[place] = (vector[place] ?? 0) + (hash % 2 === 0 ? 1 : -1);
    }
  }
  const length = Math.hypot(...vector);
  return length === 0 ? vector : vector.map((part) => part / length);
}
