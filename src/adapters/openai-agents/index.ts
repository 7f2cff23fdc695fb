import { randomUUID } from "node:crypto";
import type { Role } from "../../domain/message.ts";
import {
  eraseSession,
  fromItemMessage,
  type ItemFormat,
  readSessionMessages,
  type SessionMemory,
  toItemMessage,
} from "../shared/session-items.ts";

export type { SessionMemory, StoredItemMessage } from "../shared/session-items.ts";

/** Options of the session. */
export interface AgentSessionOptions {
  /** The name of the conversation, unique within the user (default: a new one). */
  readonly session?: string;
}

/** A `Session` of the OpenAI Agents SDK. `Item` is its `AgentInputItem`. */
export interface AgentSession<Item> {
  /** Gives the name of the conversation. */
  getSessionId(): Promise<string>;
  /** Gives the items, or the newest `limit`, in the order in which they were added. */
  getItems(limit?: number): Promise<Item[]>;
  /** Stores items. What the user says in them makes memories. */
  addItems(items: Item[]): Promise<void>;
  /** Erases the newest item, with what was learnt from it, and gives it. */
  popItem(): Promise<Item | undefined>;
  /** Erases the whole conversation, with what was learnt from it. */
  clearSession(): Promise<void>;
}

/**
 * Keeps a conversation of the OpenAI Agents SDK in a user's memory: `run(agent, input, { session })`. What the user says
 * makes memories, for every later conversation. What is forgotten anywhere is gone from the session, too.
 *
 * @example
 * ```ts
 * import { createMemory } from "keepsake";
 * import { createAgentSession } from "keepsake/adapters/openai-agents";
 *
 * await using memory = await createMemory({ path: ":memory:" });
 * const ana = memory.scope({ user: "ana" });
 * const session = createAgentSession(ana, { session: "chat-7" });
 * await session.addItems([{ type: "message", role: "user", content: "I live in Porto." }]);
 * console.log(await session.getItems());
 * console.log((await ana.answer("Where do I live?")).text);
 * ```
 *
 * ```text
 * [ { type: 'message', role: 'user', content: 'I live in Porto.' } ]
 * You live in Porto.
 * ```
 */
export function createAgentSession<Item extends object>(
  memory: SessionMemory,
  { session = randomUUID() }: AgentSessionOptions = {},
): AgentSession<Item> {
  const toItem = (message: Parameters<typeof fromItemMessage>[0]) =>
    fromItemMessage(message, AGENT_ITEM_FORMAT) as Item;
  return {
    getSessionId: async () => session,
    async getItems(limit) {
      if (limit !== undefined && limit <= 0) return [];
      const messages = await readSessionMessages(memory, session);
      return messages.slice(limit === undefined ? 0 : -limit).map(toItem);
    },
    async addItems(items) {
      const messages = items.map((item) => toItemMessage(item, AGENT_ITEM_FORMAT));
      if (messages.length > 0) await memory.remember(messages, { session });
    },
    async popItem() {
      const newest = (await readSessionMessages(memory, session)).at(-1);
      if (!newest) return undefined;
      await memory.forget({ ids: [newest.id] });
      return toItem(newest);
    },
    clearSession: () => eraseSession(memory, session),
  };
}

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
const AGENT_ITEM_FORMAT: ItemFormat = {
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
