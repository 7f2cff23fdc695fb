import { randomUUID } from "node:crypto";
import type { Role } from "../../domain/message.ts";
import { invalid } from "../../errors.ts";
import {
  eraseSession,
  fromItemMessage,
  type ItemFormat,
  readSessionMessages,
  type SessionMemory,
  toItemMessage,
} from "../shared/session-items.ts";

/** A message of LangChain. */
export interface LangChainMessage {
  /** Gives the message as LangChain stores it. */
  toDict(): { readonly type: string; readonly data: object };
}

/** What the history uses of `@langchain/core`. The caller imports it. */
export interface ChatHistoryClasses<History extends object, Stored extends object = never> {
  /** Of `@langchain/core/chat_history`. */
  readonly BaseListChatMessageHistory: abstract new () => History;
  /** Of `@langchain/core/messages`. */
  mapStoredMessagesToChatMessages(messages: Stored[]): LangChainMessage[];
}

/** Options of the history. */
export interface ChatHistoryOptions {
  /** The name of the conversation, unique within the user (default: a new one). */
  readonly session?: string;
}

const ROLES: { readonly [type: string]: Role } = {
  human: "user",
  ai: "assistant",
  system: "system",
  tool: "tool",
  function: "tool",
};
/** Fields of a stored message in which people, models and tools speak. */
const SPOKEN_FIELDS: ReadonlySet<string> = new Set([
  "content",
  "additional_kwargs",
  "tool_calls",
  "invalid_tool_calls",
  "artifact",
]);
/** Fields whose texts are all words, whatever their names are. */
const FREE_FIELDS: ReadonlySet<string> = new Set(["args", "arguments", "artifact"]);
/** Other fields that hold names, ids and files. */
const NAMES: ReadonlySet<string> = new Set([
  "id",
  "type",
  "name",
  "role",
  "tool_call_id",
  "url",
  "data",
  "mime_type",
  "mimeType",
  "source_type",
  "detail",
  "signature",
]);

const MESSAGE_FORMAT: ItemFormat = {
  partType: "langchain_message",
  isText([top = "", field = "", ...below]) {
    if (top !== "data" || !SPOKEN_FIELDS.has(field)) return false;
    return [field, ...below].some((name) => FREE_FIELDS.has(name)) || !NAMES.has(below.at(-1) ?? field);
  },
  toRole(item) {
    const { type, data } = item as { readonly type: string; readonly data: { readonly role?: unknown } };
    // The role of a generic message is any text: only these may count as words of the user.
    if (type === "generic") return data.role === "user" || data.role === "human" ? "user" : "assistant";
    const role = ROLES[type];
    if (!role) throw invalid(`a message of type ${JSON.stringify(type)} cannot be stored.`);
    return role;
  },
  toItem(role, content) {
    const type = role === "user" ? "human" : role === "system" ? "system" : "ai";
    return { type, data: { content, role: undefined, name: undefined, tool_call_id: undefined } };
  },
};

/**
 * Keeps a chat history of LangChain in a user's memory: a `BaseListChatMessageHistory`. What the user says makes memories, for
 * every later conversation. What is forgotten anywhere is gone from the history, too.
 *
 * @example
 * ```js
 * import { BaseListChatMessageHistory } from "@langchain/core/chat_history";
 * import { mapStoredMessagesToChatMessages } from "@langchain/core/messages";
 * import { createMemory } from "keepsake";
 * import { createChatHistory } from "keepsake/adapters/langchain";
 *
 * await using memory = await createMemory({ path: "memory.db" });
 * const langchain = { BaseListChatMessageHistory, mapStoredMessagesToChatMessages };
 * const history = createChatHistory(memory.scope({ user: "ana" }), langchain, { session: "chat-7" });
 * await history.addUserMessage("I live in Porto.");
 * ```
 */
export function createChatHistory<History extends object, Stored extends object>(
  memory: SessionMemory,
  langchain: ChatHistoryClasses<History, Stored>,
  { session = randomUUID() }: ChatHistoryOptions = {},
): History {
  const add = async (messages: readonly LangChainMessage[]): Promise<void> => {
    const stored = messages.map((one) => toItemMessage(one.toDict(), MESSAGE_FORMAT));
    if (stored.length > 0) await memory.remember(stored, { session });
  };
  const Base = langchain.BaseListChatMessageHistory as unknown as new () => object;
  class UserChatHistory extends Base {
    lc_namespace = ["keepsake", "chat_history"];

    async getMessages(): Promise<LangChainMessage[]> {
      const messages = await readSessionMessages(memory, session);
      const stored = messages.map((one) => fromItemMessage(one, MESSAGE_FORMAT) as StoredChatMessage);
      return langchain.mapStoredMessagesToChatMessages(
        withoutHalfPairs(stored) as readonly object[] as Stored[],
      );
    }

    addMessage(message: LangChainMessage): Promise<void> {
      return add([message]);
    }

    addMessages(messages: readonly LangChainMessage[]): Promise<void> {
      return add(messages);
    }

    clear(): Promise<void> {
      return eraseSession(memory, session);
    }
  }
  return new UserChatHistory() as History;
}

/** A message as LangChain stores it. */
export interface StoredChatMessage {
  readonly type: string;
  readonly data: { readonly [field: string]: unknown };
}

/**
 * Leaves out calls of tools without a result, and results without a call. An erasure may have removed the other half, and models
 * refuse a conversation with half of a pair. Calls after which nothing was said stay, as their results may follow.
 */
function withoutHalfPairs(messages: readonly StoredChatMessage[]): StoredChatMessage[] {
  const results = new Set(messages.flatMap(({ type, data }) => (type === "tool" ? data.tool_call_id : [])));
  const calls = new Set<unknown>();
  const newest = messages.findLastIndex(({ type }) => type !== "tool");
  return messages.flatMap((message, i) => {
    const { type, data } = message;
    if (type === "tool") return calls.has(data.tool_call_id) ? message : [];
    if (type !== "ai") return message;
    const ids = readCallIds(data.tool_calls);
    const isKept = (id: unknown): boolean => i === newest || results.has(id);
    for (const id of ids) if (isKept(id)) calls.add(id);
    return ids.every(isKept) ? message : (withoutCalls(message, isKept) ?? []);
  });
}

/** A message without some of its calls; undefined if nothing is left of it. */
function withoutCalls(
  { type, data }: StoredChatMessage,
  isKept: (id: unknown) => boolean,
): StoredChatMessage | undefined {
  const keep = (list: unknown): unknown =>
    Array.isArray(list) ? list.filter((one) => !isCall(one) || isKept(one.id)) : list;
  const kwargs = data.additional_kwargs as { readonly tool_calls?: unknown } | undefined;
  const rest = {
    ...data,
    tool_calls: keep(data.tool_calls),
    content: Array.isArray(data.content)
      ? data.content.filter((one) => one?.type !== "tool_use" || isKept(one.id))
      : data.content,
    ...(kwargs?.tool_calls === undefined
      ? {}
      : { additional_kwargs: { ...kwargs, tool_calls: keep(kwargs.tool_calls) } }),
  };
  const isEmpty = rest.content === "" || (Array.isArray(rest.content) && rest.content.length === 0);
  return isEmpty && readCallIds(rest.tool_calls).length === 0 ? undefined : { type, data: rest };
}

function readCallIds(calls: unknown): unknown[] {
  return Array.isArray(calls) ? calls.flatMap((one) => (isCall(one) ? one.id : [])) : [];
}

function isCall(value: unknown): value is { readonly id: unknown } {
  return typeof value === "object" && value !== null && "id" in value;
}
