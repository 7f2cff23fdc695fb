import { estimateTokens } from "../../../domain/tokens.ts";
import { fieldsOf } from "../replies/reply.ts";
import { BUILT_IN, type BuiltInAnswer, type Form, wordsOf } from "./built-in-answer.ts";

/** As a `chat.completion`, or its chunks. https://platform.openai.com/docs/api-reference/chat */
export function chatAnswer({ text, created, id, body, words }: BuiltInAnswer): Form {
  const prompt = estimateTokens(words);
  const completion = estimateTokens(text);
  const usage = {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
  };
  const head = { id: `chatcmpl-${id}`, created, model: BUILT_IN };
  const wantsUsage = fieldsOf(body.stream_options).include_usage === true;
  const chunk = (delta: object, finish: string | null = null): string =>
    frame({
      ...head,
      object: "chat.completion.chunk",
      choices: [{ index: 0, delta, logprobs: null, finish_reason: finish }],
      ...(wantsUsage ? { usage: null } : {}),
    });
  const message = { role: "assistant", content: text, refusal: null };
  return {
    whole: {
      ...head,
      object: "chat.completion",
      choices: [{ index: 0, message, logprobs: null, finish_reason: "stop" }],
      usage,
    },
    frames: [
      chunk({ role: "assistant", content: "" }),
      ...wordsOf(text).map((content) => chunk({ content })),
      chunk({}, "stop"),
      ...(wantsUsage ? [frame({ ...head, object: "chat.completion.chunk", choices: [], usage })] : []),
      "data: [DONE]\n\n",
    ],
  };
}

function frame(value: object): string {
  return `data: ${JSON.stringify(value)}\n\n`;
}
