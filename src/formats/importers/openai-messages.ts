import type { ImportEntry } from "../../engine/api/transfer-types.ts";
import { toContentId, toMessageEntry, toShortName } from "./entries.ts";
import { type ImportSource, isObjectValue, parseObject, readLines } from "./import-source.ts";

type Fields = { readonly [field: string]: unknown };

/** Whether a line is a conversation in the shape of OpenAI's chat API. */
function isOpenAiConversation(value: unknown): value is Fields & { readonly messages: readonly unknown[] } {
  if (!isObjectValue(value) || !Array.isArray(value.messages)) return false;
  return isObjectValue(value.messages[0]) && typeof value.messages[0].role === "string";
}

/** Reads JSON lines; each is `{ messages: [{ role, content }, …] }`, as for fine-tuning. Each line is a session. */
export async function* readOpenAiMessages(source: ImportSource): AsyncIterable<ImportEntry> {
  for await (const line of readLines(source)) {
    const place = `line ${line.number}`;
    const conversation = parseObject(line);
    if (!isOpenAiConversation(conversation)) {
      yield { place, skipped: "a line without messages" };
      continue;
    }
    const session = toContentId("openai", conversation.messages);
    for (const [i, message] of conversation.messages.entries())
      yield isObjectValue(message)
        ? toEntry(place, `${session}:${i + 1}`, session, message)
        : { place, skipped: "a message of an unknown shape" };
  }
}

function toEntry(place: string, id: string, session: string, message: Fields): ImportEntry {
  const { role, content } = message;
  if (role === "system" || role === "developer") return { place, skipped: "a system message" };
  if (role === "tool" || role === "function") return { place, skipped: "what a tool gave" };
  if (role !== "user" && role !== "assistant") return { place, skipped: "a message of an unknown author" };
  const parts = Array.isArray(content) ? content.filter(isObjectValue) : [];
  const text =
    typeof content === "string"
      ? content
      : parts.flatMap((part) => (typeof part.text === "string" ? part.text : [])).join("\n");
  if (text === "" && Array.isArray(message.tool_calls)) return { place, skipped: "a call of a tool" };
  return toMessageEntry(place, { id, role, text, session, name: toShortName(message.name) });
}
