import type { ImportEntry } from "../../engine/api/transfer-types.ts";
import { fromEpochSeconds, toContentId, toLabels, toMessageEntry, toShortName } from "./entries.ts";
import { type ImportSource, isObjectValue } from "./import-source.ts";
import { describeTooLarge, readItemsByTime } from "./json-stream.ts";

type Fields = { readonly [field: string]: unknown };

export function isChatGptConversation(value: unknown): value is Fields {
  return isObjectValue(value) && isObjectValue(value.mapping);
}

/**
 * Reads `conversations.json` of a ChatGPT export: conversations, newest first there, each a graph of messages. It follows the branch
 * that the conversation shows, and takes what the user and the assistant said. Ids are `chatgpt:<conversation>:<message>`.
 */
export async function* readChatGpt(source: ImportSource): AsyncIterable<ImportEntry> {
  const items = readItemsByTime(source, (value) =>
    fromEpochSeconds(isObjectValue(value) && value.create_time),
  );
  for await (const { value, number, isTooLarge } of items) {
    const place = `conversation ${number}`;
    if (isTooLarge) yield { place, skipped: describeTooLarge(source, "a conversation") };
    else if (isChatGptConversation(value)) yield* readConversation(place, value);
    else yield { place, skipped: "a conversation without messages" };
  }
}

function* readConversation(place: string, conversation: Fields): Iterable<ImportEntry> {
  const mapping = conversation.mapping as Fields;
  const id = String(conversation.conversation_id ?? conversation.id ?? toContentId("untitled", mapping));
  const branch = listBranch(mapping, conversation.current_node);
  const title = toShortName(conversation.title);
  const onBranch = new Set(branch);
  for (const [key, node] of Object.entries(mapping)) {
    const isSpoken = isObjectValue(node) && isObjectValue(node.message) && !onBranch.has(key);
    if (isSpoken && readText(node.message as Fields).trim() !== "")
      yield { place, skipped: "a message on a branch that the conversation left" };
  }
  // A message without a time has that of the one before it, or of its conversation.
  let at = fromEpochSeconds(conversation.create_time) ?? fromEpochSeconds(conversation.update_time);
  for (const key of branch) {
    const message = (mapping[key] as Fields).message;
    if (!isObjectValue(message)) continue;
    at = fromEpochSeconds(message.create_time) ?? at;
    const context = { place, at, session: `chatgpt:${id}`, title };
    yield toEntry(context, `chatgpt:${id}:${String(message.id ?? key)}`, message);
  }
}

/** Ids of the nodes from the root to the current one. Without a current one: to the newest leaf. */
function listBranch(mapping: Fields, current: unknown): string[] {
  const branch: string[] = [];
  const seen = new Set<string>();
  let key: unknown =
    typeof current === "string" && isObjectValue(mapping[current]) ? current : findLeaf(mapping);
  while (typeof key === "string" && !seen.has(key)) {
    const node = mapping[key];
    if (!isObjectValue(node)) break;
    seen.add(key);
    branch.push(key);
    key = node.parent;
  }
  return branch.reverse();
}

function findLeaf(mapping: Fields): string | undefined {
  let leaf: string | undefined;
  let newest = -1;
  for (const [key, node] of Object.entries(mapping)) {
    if (!isObjectValue(node) || (Array.isArray(node.children) && node.children.length > 0)) continue;
    const time = isObjectValue(node.message) ? Number(node.message.create_time ?? 0) : 0;
    if (time >= newest) {
      newest = time;
      leaf = key;
    }
  }
  return leaf;
}

interface MessageContext {
  readonly place: string;
  readonly at: string | undefined;
  readonly session: string;
  readonly title: string | undefined;
}

function toEntry({ place, at, session, title }: MessageContext, id: string, message: Fields): ImportEntry {
  const role = isObjectValue(message.author) ? message.author.role : undefined;
  const metadata = isObjectValue(message.metadata) ? message.metadata : {};
  const type = isObjectValue(message.content) ? message.content.content_type : undefined;
  if (type === "user_editable_context")
    return toMessageEntry(place, {
      id: toContentId("chatgpt:about", readText(message)),
      role: "user",
      text: readText(message),
      at,
    });
  if (role === "system") return { place, skipped: "a system message" };
  if (role === "tool") return { place, skipped: "what a tool gave" };
  if (role !== "user" && role !== "assistant") return { place, skipped: "a message of an unknown author" };
  if (metadata.is_visually_hidden_from_conversation === true) return { place, skipped: "a hidden message" };
  if (role === "assistant" && typeof message.recipient === "string" && message.recipient !== "all")
    return { place, skipped: "a call of a tool" };
  if (type === "thoughts" || type === "reasoning_recap")
    return { place, skipped: "the assistant's thoughts" };
  return toMessageEntry(place, {
    id,
    role,
    text: readText(message),
    at,
    session,
    metadata: toLabels({ title }),
  });
}

/** The words of a message. Of parts that are not text, a transcript of speech counts as words. */
function readText({ content }: Fields): string {
  if (!isObjectValue(content)) return "";
  if (content.content_type === "user_editable_context") {
    return [content.user_profile, content.user_instructions]
      .filter((one) => typeof one === "string")
      .join("\n");
  }
  if (!Array.isArray(content.parts)) {
    const text = content.text ?? content.result;
    return typeof text === "string" ? text : "";
  }
  return content.parts.flatMap(readPart).join("\n");
}

function readPart(part: unknown): string | [] {
  if (typeof part === "string") return part;
  return isObjectValue(part) && typeof part.text === "string" ? part.text : [];
}
