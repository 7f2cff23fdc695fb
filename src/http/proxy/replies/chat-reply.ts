import type { TokenUsage } from "../../../domain/model-call.ts";
import {
  capped,
  fieldsOf,
  listOf,
  parsed,
  type ReplyReader,
  type ToolCall,
  textOf,
  usageOf,
} from "./reply.ts";

/** Reads the answer of `/v1/chat/completions`: the first choice of it, whole or in chunks. */
export function chatReply(): ReplyReader {
  let text = "";
  let refusal = "";
  let usage: TokenUsage | undefined;
  let model: string | undefined;
  let id: string | undefined;
  let isWhole = false;
  const calls = new Map<unknown, ToolCall>();

  const take = (said: unknown): void => {
    const { content, refusal: refused, tool_calls } = fieldsOf(said);
    text = capped(text, content);
    refusal = capped(refusal, refused);
    for (const [i, call] of listOf(tool_calls).entries()) {
      const fields = fieldsOf(call);
      const { name, arguments: given } = fieldsOf(fields.function);
      const key = fields.index ?? i;
      const before = calls.get(key) ?? { id: "", name: "", arguments: "" };
      calls.set(key, {
        id: before.id || textOf(fields.id),
        name: before.name + textOf(name),
        arguments: capped(before.arguments, given),
      });
    }
  };
  const document = (value: unknown): void => {
    const fields = fieldsOf(value);
    usage = usageOf(fields.usage, { in: "prompt_tokens", out: "completion_tokens" }) ?? usage;
    model ??= textOf(fields.model) || undefined;
    id ??= textOf(fields.id) || undefined;
    const first = listOf(fields.choices).find((choice) => (fieldsOf(choice).index ?? 0) === 0);
    const choice = fieldsOf(first);
    take(choice.delta ?? choice.message);
    if (typeof choice.finish_reason === "string") isWhole = true;
  };
  return {
    document,
    event: (data) => document(parsed(data)),
    reply: () => ({
      text: text || refusal,
      calls: [...calls.values()],
      isWhole,
      ...(usage ? { usage } : {}),
      ...(model === undefined ? {} : { model }),
      ...(id === undefined ? {} : { id }),
      ...(refusal && !text ? { isRefusal: true } : {}),
    }),
  };
}
