import type { ToolCall, Turn } from "./script.ts";

type Fields = { readonly [field: string]: unknown };

const fieldsOf = (value: unknown): Fields =>
  typeof value === "object" && value !== null ? { ...value } : {};
const listOf = (value: unknown): Fields[] => (Array.isArray(value) ? value.map(fieldsOf) : []);

/** The turns of a chat completions request. */
export function chatTurns(body: Fields): Turn[] {
  return listOf(body.messages).map((message) => {
    const calls = listOf(message.tool_calls).map((call): ToolCall => {
      const { name, arguments: given } = fieldsOf(call.function);
      return { id: String(call.id), name: String(name), arguments: String(given) };
    });
    return turnOf(String(message.role), message.content, calls, message.tool_call_id);
  });
}

/** The turns of a responses request: its instructions, what came before it, and its input, a text or a list of items. */
export function responsesTurns(body: Fields, earlier: readonly Turn[]): Turn[] {
  const instructions = typeof body.instructions === "string" ? [turnOf("system", body.instructions)] : [];
  const input =
    typeof body.input === "string" ? [turnOf("user", body.input)] : listOf(body.input).map(itemTurn);
  return [...instructions, ...earlier, ...input];
}

function itemTurn(item: Fields): Turn {
  if (item.type === "function_call") {
    const call = { id: String(item.call_id), name: String(item.name), arguments: String(item.arguments) };
    return turnOf("assistant", "", [call]);
  }
  if (item.type === "function_call_output") return turnOf("tool", item.output, [], item.call_id);
  return turnOf(String(item.role ?? item.type), item.content);
}

function turnOf(role: string, content: unknown, calls: readonly ToolCall[] = [], answers?: unknown): Turn {
  const parts = typeof content === "string" ? [{ text: content, type: "text" }] : listOf(content);
  return {
    role,
    text: parts.flatMap(({ text, refusal }) => text ?? refusal ?? []).join("\n"),
    images: parts.filter(({ type }) => type === "image_url" || type === "input_image").length,
    ...(calls.length > 0 ? { toolCalls: calls } : {}),
    ...(answers === undefined ? {} : { toolCallId: String(answers) }),
  };
}
