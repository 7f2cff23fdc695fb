import { estimateTokens } from "../../../domain/tokens.ts";
import { toFields } from "../replies/reply.ts";
import { BUILT_IN_MODEL, type BuiltInAnswer, type BuiltInReply, splitIntoWords } from "./built-in-answer.ts";

/** As a `chat.completion`, or its chunks. https://platform.openai.com/docs/api-reference/chat */
export function toChatCompletion({ text, created, id, body, words }: BuiltInAnswer): BuiltInReply {
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
