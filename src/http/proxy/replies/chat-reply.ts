import type { TokenUsage } from "../../../domain/model-call.ts";
import {
  appendCapped,
  type ReplyReader,
  toArray,
  toFields,
  toText,
  toUsage,
  tryParseJson,
  type UpstreamToolCall,
} from "./reply.ts";

/** Reads the answer of `/v1/chat/completions`: the first choice of it, whole or in chunks. */
export function createChatReader(): ReplyReader {
  let text = "";
  let refusal = "";
  let usage: TokenUsage | undefined;
  let model: string | undefined;
  let id: string | undefined;
  let isWhole = false;
  const calls = new Map<unknown, UpstreamToolCall>();

  const take = (said: unknown): void => {
    const { content, refusal: refused, tool_calls } = toFields(said);
    text = appendCapped(text, content);
    refusal = appendCapped(refusal, refused);
    for (const [i, call] of toArray(tool_calls).entries()) {
      const fields = toFields(call);
      const { name, arguments: given } = toFields(fields.function);
      const key = fields.index ?? i;
      const before = calls.get(key) ?? { id: "", name: "", arguments: "" };
      calls.set(key, {
        id: before.id || toText(fields.id),
        name: before.name + toText(name),
        arguments: appendCapped(before.arguments, given),
      });
    }
  };
  const document = (value: unknown): void => {
    const fields = toFields(value);
    usage = toUsage(fields.usage, { in: "prompt_tokens", out: "completion_tokens" }) ?? usage;
    model ??= toText(fields.model) || undefined;
    id ??= toText(fields.id) || undefined;
    const first = toArray(fields.choices).find((choice) => (toFields(choice).index ?? 0) === 0);
    const choice = toFields(first);
    take(choice.delta ?? choice.message);
    if (typeof choice.finish_reason === "string") isWhole = true;
  };
  return {
    readDocument: document,
    readEvent: (data) => document(tryParseJson(data)),
    getReply: () => ({
      text: text || refusal,
      calls: [...calls.values()],
      isComplete: isWhole,
      ...(usage ? { usage } : {}),
      ...(model === undefined ? {} : { model }),
      ...(id === undefined ? {} : { id }),
      ...(refusal && !text ? { isRefusal: true } : {}),
    }),
  };
}
