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

type ResponseFields = { readonly [field: string]: unknown };

/**
 * The answer of `POST /v1/responses`: a `response`, or, with `stream`, its typed events, numbered from 0 on.
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

/** An item of the output, and the events that bring it between `output_item.added` and `.done`. */
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
