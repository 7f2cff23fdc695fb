import type { ToolCall, Turn } from "./script.ts";

type TurnFields = { readonly [field: string]: unknown };

const toFields = (value: unknown): TurnFields =>
  typeof value === "object" && value !== null ? { ...value } : {};
const toFieldsList = (value: unknown): TurnFields[] => (Array.isArray(value) ? value.map(toFields) : []);

/** The turns of a chat completions request. */
export function readChatTurns(body: TurnFields): Turn[] {
  return toFieldsList(body.messages).map((message) => {
    const calls = toFieldsList(message.tool_calls).map((call): ToolCall => {
      const { name, arguments: given } = toFields(call.function);
      return { id: String(call.id), name: String(name), arguments: String(given) };
    });
    return toTurn(String(message.role), message.content, calls, message.tool_call_id);
  });
}

/** The turns of a responses request: its instructions, what came before it, and its input, a text or a list of items. */
export function readResponsesTurns(body: TurnFields, earlier: readonly Turn[]): Turn[] {
  const instructions = typeof body.instructions === "string" ? [toTurn("system", body.instructions)] : [];
  const input =
    typeof body.input === "string" ? [toTurn("user", body.input)] : toFieldsList(body.input).map(toItemTurn);
  return [...instructions, ...earlier, ...input];
}

function toItemTurn(item: TurnFields): Turn {
  if (item.type === "function_call") {
    const call = { id: String(item.call_id), name: String(item.name), arguments: String(item.arguments) };
    return toTurn("assistant", "", [call]);
  }
  if (item.type === "function_call_output") return toTurn("tool", item.output, [], item.call_id);
  return toTurn(String(item.role ?? item.type), item.content);
}

function toTurn(role: string, content: unknown, calls: readonly ToolCall[] = [], answers?: unknown): Turn {
  const parts = typeof content === "string" ? [{ text: content, type: "text" }] : toFieldsList(content);
  return {
    role,
    text: parts.flatMap(({ text, refusal }) => text ?? refusal ?? []).join("\n"),
    images: parts.filter(({ type }) => type === "image_url" || type === "input_image").length,
    ...(calls.length > 0 ? { toolCalls: calls } : {}),
    ...(answers === undefined ? {} : { toolCallId: String(answers) }),
  };
}
