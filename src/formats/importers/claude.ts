import type { ImportEntry } from "../../engine/api/transfer-types.ts";
import { fromIsoTime, toContentId, toContentUuid, toLabels, toMessageEntry, toShortName } from "./entries.ts";
import { type ImportSource, isObjectValue } from "./import-source.ts";
import { describeTooLarge, readItemsByTime } from "./json-stream.ts";

type Fields = { readonly [field: string]: unknown };

export function isClaudeConversation(value: unknown): value is Fields {
  return isObjectValue(value) && Array.isArray(value.chat_messages);
}

export function isClaudeMemory(value: unknown): value is Fields {
  return isObjectValue(value) && ("conversations_memory" in value || "project_memories" in value);
}

/**
 * Reads `conversations.json` or `memories.json` of a Claude export. Ids are `claude:<conversation>:<message>`. Of what the
 * assistant remembered, each point becomes a memory.
 */
export async function* readClaude(source: ImportSource): AsyncIterable<ImportEntry> {
  for await (const { value, number, isTooLarge } of readItemsByTime(source, toTime)) {
    if (isTooLarge)
      yield { place: `conversation ${number}`, skipped: describeTooLarge(source, "a conversation") };
    else if (isClaudeConversation(value)) yield* readConversation(`conversation ${number}`, value);
    else if (isClaudeMemory(value)) yield* readMemories(`memory ${number}`, value);
    else yield { place: `entry ${number}`, skipped: "a conversation without messages" };
  }
}

function toTime(value: unknown): string | undefined {
  return isObjectValue(value) ? fromIsoTime(value.created_at) : undefined;
}

function* readConversation(place: string, conversation: Fields): Iterable<ImportEntry> {
  const id = String(conversation.uuid ?? toContentId("untitled", conversation.created_at, conversation.name));
  const title = toShortName(conversation.name);
  let at = fromIsoTime(conversation.created_at);
  for (const [i, message] of (conversation.chat_messages as readonly unknown[]).entries()) {
    if (!isObjectValue(message)) continue;
    at = fromIsoTime(message.created_at) ?? at;
    const role = message.sender === "human" ? "user" : "assistant";
    for (const skipped of listLeftOut(message)) yield { place, skipped };
    yield toMessageEntry(place, {
      id: `claude:${id}:${String(message.uuid ?? i)}`,
      role,
      text: readText(message),
      at,
      session: `claude:${id}`,
      metadata: toLabels({ title }),
    });
  }
}

/** The text blocks; the plain copy of them where there are none. */
function readText({ content, text }: Fields): string {
  const blocks = Array.isArray(content) ? content.filter(isObjectValue) : [];
  const texts = blocks.flatMap((one) =>
    one.type === "text" && typeof one.text === "string" ? one.text : [],
  );
  if (texts.length > 0) return texts.join("\n");
  return blocks.length === 0 && typeof text === "string" ? text : "";
}

function listLeftOut({ content, attachments, files }: Fields): string[] {
  const blocks = Array.isArray(content) ? content.filter(isObjectValue) : [];
  const count = [attachments, files].reduce<number>(
    (sum, one) => sum + (Array.isArray(one) ? one.length : 0),
    0,
  );
  return [
    ...blocks.flatMap(({ type }) => {
      if (type === "thinking") return "the assistant's thoughts";
      if (type === "tool_use") return "a call of a tool";
      return type === "tool_result" ? "what a tool gave" : [];
    }),
    ...Array.from({ length: count }, () => "an attachment"),
  ];
}

function* readMemories(place: string, value: Fields): Iterable<ImportEntry> {
  const projects = isObjectValue(value.project_memories) ? Object.entries(value.project_memories) : [];
  const texts: readonly (readonly [string, unknown])[] = [["", value.conversations_memory], ...projects];
  for (const [project, text] of texts) {
    if (typeof text !== "string") continue;
    for (const { heading, point } of splitPoints(text)) {
      const labels = toLabels({
        heading: toShortName(heading),
        project: project === "" ? undefined : project,
      });
      yield {
        place,
        memory: {
          id: toContentUuid("claude", project, point),
          text: point,
          kind: "context",
          ...(Object.keys(labels).length === 0 ? {} : { metadata: labels }),
        },
      };
    }
  }
}

/** Splits a text of Markdown into its points: list items, and the lines of paragraphs. Headings go with their points. */
export function* splitPoints(text: string): Iterable<{ heading: string | undefined; point: string }> {
  let heading: string | undefined;
  for (const line of text.split("\n")) {
    const point = line
      .replace(/^\s*(?:[-*•]|\d+[.)])\s+/, "")
      .replaceAll("**", "")
      .trim();
    const isHeading = /^\s*#{1,6}\s/.test(line) || /^\s*\*\*[^*]+\*\*:?\s*$/.test(line);
    if (isHeading) heading = point.replace(/^#+\s*/, "").replace(/:$/, "");
    else if (/\p{L}/u.test(point)) yield { heading, point };
  }
}
