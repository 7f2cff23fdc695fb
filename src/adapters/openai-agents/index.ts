import { randomUUID } from "node:crypto";
import {
  eraseSession,
  fromItemMessage,
  readSessionMessages,
  type SessionMemory,
  toItemMessage,
} from "../shared/session-items.ts";
import { AGENT_ITEM_FORMAT } from "./item-messages.ts";

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
