import { type Answer, argumentsOf, created, datedName, type Making, partsOf, pieces } from "./answer.ts";
import type { RichReply } from "./script.ts";

/**
 * The answer of `POST /v1/chat/completions`: a `chat.completion`, or, with `stream`, its chunks.
 * https://platform.openai.com/docs/api-reference/chat
 */
export function chatAnswer(making: Making): Answer {
  const { request, replies } = making;
  if (request.body.stream === true) return { frames: chunks(making) };
  return {
    status: 200,
    body: {
      ...head(making, "chat.completion"),
      choices: replies.map((reply, index) => ({
        index,
        message: message(reply, making.number),
        logprobs: null,
        finish_reason: finishOf(reply),
      })),
      usage: usageOf(making),
    },
  };
}

const head = ({ request, number }: Making, object: string): { [field: string]: unknown } => ({
  id: `chatcmpl-${String(number).padStart(8, "0")}`,
  object,
  created: created(number),
  model: datedName(request.body.model),
  service_tier: "default",
  system_fingerprint: "fp_0000000001",
});

function message(reply: RichReply, number: number): { [field: string]: unknown } {
  const calls = (reply.toolCalls ?? []).map((call, index) => ({
    id: call.id ?? `call_${number}_${index}`,
    type: "function",
    function: { name: call.name, arguments: argumentsOf(call) },
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

const finishOf = ({ finish, toolCalls = [] }: RichReply): string =>
  finish ?? (toolCalls.length > 0 ? "tool_calls" : "stop");

const usageOf = ({ usage }: Making): { [field: string]: unknown } => ({
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

type Delta = { readonly [field: string]: unknown };

function chunks(making: Making): string[] {
  const options = making.request.body.stream_options as { include_usage?: boolean } | undefined;
  const wantsUsage = options?.include_usage === true;
  const top = head(making, "chat.completion.chunk");
  const chunk = (index: number, delta: Delta, finish: string | null = null): string =>
    frame({
      ...top,
      choices: [{ index, delta, logprobs: null, finish_reason: finish }],
      ...(wantsUsage ? { usage: null } : {}),
    });
  return [
    ...making.replies.flatMap((reply, index) => [
      ...deltas(reply, making.number).map((delta) => chunk(index, delta)),
      chunk(index, {}, finishOf(reply)),
    ]),
    ...(wantsUsage ? [frame({ ...top, choices: [], usage: usageOf(making) })] : []),
    "data: [DONE]\n\n",
  ];
}

function deltas(reply: RichReply, number: number): Delta[] {
  const { refusal, reasoning, toolCalls = [] } = reply;
  const isText = toolCalls.length === 0 && refusal === undefined;
  return [
    { role: "assistant", content: isText ? "" : null, refusal: null },
    ...(reasoning === undefined ? [] : pieces(reasoning).map((piece) => ({ reasoning_content: piece }))),
    ...partsOf(reply).map((content) => ({ content })),
    ...(refusal === undefined ? [] : pieces(refusal).map((piece) => ({ refusal: piece }))),
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
      ...pieces(argumentsOf(call)).map((piece) => ({
        tool_calls: [{ index, function: { arguments: piece } }],
      })),
    ]),
  ];
}

const frame = (value: object): string => `data: ${JSON.stringify(value)}\n\n`;
