import {
  type AnswerContext,
  formatArguments,
  listParts,
  type OpenaiAnswer,
  splitText,
  toCreatedTime,
  toDatedName,
} from "./answer.ts";
import type { RichReply } from "./script.ts";

/**
 * The answer of `POST /v1/chat/completions`: a `chat.completion`, or, with `stream`, its chunks.
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
