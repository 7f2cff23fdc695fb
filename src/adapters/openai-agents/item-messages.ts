import type { Role } from "../../domain/message.ts";
import type { ItemFormat } from "../shared/session-items.ts";

/** Fields of items with words of people, models and tools. Names, ids and files stay in the item. */
const TEXT_FIELDS: ReadonlySet<string> = new Set([
  "text",
  "content",
  "arguments",
  "output",
  "refusal",
  "transcript",
  "stdout",
  "stderr",
  "input",
  "query",
  "code",
]);

/** How items of the SDK are kept. */
export const AGENT_ITEM_FORMAT: ItemFormat = {
  partType: "openai_agents_item",
  isText: (path) => TEXT_FIELDS.has(path.at(-1) ?? ""),
  toRole(item) {
    const { type, role } = item as { readonly type?: unknown; readonly role?: unknown };
    if (role === "user" || role === "assistant" || role === "system") return role;
    return String(type).endsWith("_result") || String(type).endsWith("_output") ? "tool" : "assistant";
  },
  toItem(role: Role, text: string) {
    if (role === "system") return { type: "message", role, content: text };
    if (role === "user") return { type: "message", role, content: [{ type: "input_text", text }] };
    const content = [{ type: "output_text", text }];
    return { type: "message", role: "assistant", status: "completed", content };
  },
};
