import type { ImportEntry } from "../../engine/api/transfer-types.ts";
import { fromEpochSeconds, fromIsoTime, toLabels, toMessageEntry, toShortName } from "./entries.ts";
import { type ImportSource, isObjectValue } from "./import-source.ts";
import { describeTooLarge, PASS_LARGE_ELEMENTS, type PathChoice, readJsonItems } from "./json-stream.ts";

type Fields = { readonly [field: string]: unknown };

/** Where messages are: in the export of one chat, and in that of an account. */
const MESSAGES = ["messages[]", "chats.list[].messages[]", "left_chats.list[].messages[]"];

function choosePath(path: string): PathChoice {
  if (path === "" || MESSAGES.some((one) => one.startsWith(`${path}.`) || one.startsWith(`${path}[]`)))
    return "enter";
  const isOfChat = /^(?:(?:left_)?chats\.list\[\]\.)?(?:id|name|type)$/.test(path);
  return isOfChat || MESSAGES.includes(path) || path === "personal_information" ? "give" : "pass";
}

export function isTelegramMessage(value: unknown): value is Fields {
  return isObjectValue(value) && typeof value.type === "string" && ("text" in value || "action" in value);
}

/**
 * Reads `result.json` of Telegram Desktop: one chat, or all of an account. Each speaker is named. In the export of an account,
 * its owner's messages are the user's own. Ids are `telegram:<chat>:<message>`.
 */
export async function* readTelegram(source: ImportSource): AsyncIterable<ImportEntry> {
  let chat: ChatContext = { owner: undefined };
  for await (const { path, value, isTooLarge } of readJsonItems(source, choosePath, PASS_LARGE_ELEMENTS)) {
    if (isTooLarge) yield { place: "a message", skipped: describeTooLarge(source, "a message") };
    else if (!MESSAGES.includes(path)) chat = withField(chat, path, value);
    else if (isTelegramMessage(value)) yield toEntry(value, chat);
    else yield { place: "a message", skipped: "a message of an unknown shape" };
  }
}

interface ChatContext {
  readonly id?: string;
  readonly name?: string | undefined;
  readonly isSavedMessages?: boolean;
  /** The owner of the account, as messages name it: "user123". */
  readonly owner: string | undefined;
}

/**
 * Takes in a field other than the messages. A chat begins with its name, or with a field that the chat before has already: Saved
 * Messages have no name.
 */
function withField(chat: ChatContext, path: string, value: unknown): ChatContext {
  const { owner } = chat;
  if (path === "personal_information") return { ...chat, owner: toOwner(value) };
  if (path.endsWith("name")) return { name: toShortName(value), owner };
  if (path.endsWith("type")) {
    const isNext = chat.isSavedMessages !== undefined;
    return { ...(isNext ? { owner } : chat), isSavedMessages: value === "saved_messages" };
  }
  return { ...(chat.id === undefined ? chat : { owner }), id: String(value) };
}

function toOwner(value: unknown): string | undefined {
  return isObjectValue(value) && value.user_id !== undefined ? `user${String(value.user_id)}` : undefined;
}

function toEntry(message: Fields, { id = "chat", name, isSavedMessages, owner }: ChatContext): ImportEntry {
  const place = `message ${String(message.id)} of chat ${id}`;
  if (message.type !== "message") return { place, skipped: "a notice of the chat" };
  if (message.forwarded_from !== undefined) return { place, skipped: "a forwarded message" };
  const isOwn = isSavedMessages || (owner !== undefined && message.from_id === owner);
  const speaker = isOwn ? undefined : (toShortName(message.from) ?? "Deleted account");
  return toMessageEntry(place, {
    id: `telegram:${id}:${String(message.id)}`,
    role: "user",
    name: speaker,
    text: readText(message.text),
    at: fromEpochSeconds(message.date_unixtime) ?? fromIsoTime(message.date),
    session: `telegram:${id}`,
    metadata: toLabels({ title: name }),
  });
}

/** The text is a string, or a list of strings and formatted pieces. */
function readText(text: unknown): string {
  if (typeof text === "string") return text;
  if (!Array.isArray(text)) return "";
  return text
    .map((piece) => {
      if (typeof piece === "string") return piece;
      return isObjectValue(piece) && typeof piece.text === "string" ? piece.text : "";
    })
    .join("");
}
