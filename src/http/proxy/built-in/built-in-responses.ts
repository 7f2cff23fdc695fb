import { estimateTokens } from "../../../domain/tokens.ts";
import { toText } from "../replies/reply.ts";
import { BUILT_IN_MODEL, type BuiltInAnswer, type BuiltInReply, splitIntoWords } from "./built-in-answer.ts";

/** As a `response`, or its events. https://platform.openai.com/docs/api-reference/responses */
export function toResponseReply(answer: BuiltInAnswer): BuiltInReply {
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
