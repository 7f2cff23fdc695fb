import { createHash, randomUUID } from "node:crypto";
import {
  type ChatMemory,
  type ChatMemoryOptions,
  createMemoryMark,
  type PromptMessage,
  putBeforeMessage,
  type RecalledTurn,
  readTurn,
  recallTurn,
  toStoredText,
  type UserTurn,
  withoutFailing,
} from "../shared/model-calls/chat-turns.ts";
import { formatMemoryBlock } from "../shared/model-calls/prompt-data.ts";

export type {
  ChatMemory,
  ChatMemoryOptions,
  PromptMessage,
  TurnMessage,
} from "../shared/model-calls/chat-turns.ts";

/** Options of the processor. */
export interface MemoryProcessorOptions extends ChatMemoryOptions {
  /**
   * The name of the conversation, unique within the user (default: the thread of the messages; without a thread, a new one
   * for each processor).
   */
  readonly session?: string;
}

/** A message of Mastra. */
export interface MastraMessage {
  readonly id: string;
  readonly role: string;
  readonly threadId?: string;
  readonly content: { readonly parts: readonly object[] };
}

/** What Mastra keeps for a processor during a request. */
type ProcessorState = Record<string, unknown>;

/** A processor for `inputProcessors` and `outputProcessors` of an agent of Mastra. */
export interface MemoryProcessor {
  /** The processor's name in Mastra. */
  readonly id: "keepsake";
  /** Recalls what is relevant to what the user said, and stores what they said. Gives the messages as they are. */
  processInput<Message extends MastraMessage>(call: {
    readonly messages: Message[];
    readonly state: ProcessorState;
  }): Promise<Message[]>;
  /** Puts what was recalled before the newest user message of what is sent. Mastra's own history is without it. */
  processLLMRequest<Message extends PromptMessage>(call: {
    readonly prompt: Message[];
    readonly state: ProcessorState;
  }): { prompt: Message[] } | undefined;
  /** Stores what the model said. Gives the messages as they are. */
  processOutputResult<Message extends MastraMessage>(call: {
    readonly messages: Message[];
    readonly state: ProcessorState;
    readonly result: { readonly text: string };
  }): Promise<Message[]>;
}

/** A turn within a request, between the calls of the processor. */
interface ProcessedTurn {
  readonly session: string;
  /** Absent if the memory failed. */
  readonly recalled?: RecalledTurn;
}

/** The field of the state. */
const TURN = "keepsakeTurn";

/**
 * Gives an agent of Mastra a user's memory. What the user says is stored, once for each turn, and a request to forget is
 * carried out before the model is called. What the model says is stored, too, and makes no memories. If the memory fails,
 * the request goes on without it.
 *
 * @example
 * ```ts
 * import { createMemory } from "keepsake";
 * import { createMemoryProcessor } from "keepsake/adapters/mastra";
 *
 * await using memory = await createMemory({ path: ":memory:" });
 * const ana = memory.scope({ user: "ana" });
 * await ana.remember("I live in Porto.");
 * const processor = createMemoryProcessor(ana, { session: "chat-7" });
 * const parts = [{ type: "text", text: "What is the weather where I live?" }];
 * const state = {};
 * await processor.processInput({ messages: [{ id: "1", role: "user", content: { parts } }], state });
 * const sent = processor.processLLMRequest({ prompt: [{ role: "user", content: parts }], state });
 * console.log(JSON.stringify(sent).includes("Porto"));
 * ```
 *
 * ```text
 * true
 * ```
 */
export function createMemoryProcessor(
  memory: ChatMemory,
  options: MemoryProcessorOptions = {},
): MemoryProcessor {
  const own = randomUUID();
  const mark = createMemoryMark();
  const sessionOf = (messages: readonly MastraMessage[]): string =>
    options.session ?? messages.findLast(({ threadId }) => threadId !== undefined)?.threadId ?? own;
  return {
    id: "keepsake",
    async processInput({ messages, state }) {
      const session = sessionOf(messages);
      const turn = readMastraTurn(messages, session);
      const recalled = await withoutFailing(() => recallTurn(memory, turn, { ...options, session }), options);
      state[TURN] = { session, ...(recalled ? { recalled } : {}) } satisfies ProcessedTurn;
      return messages;
    },
    processLLMRequest({ prompt, state }) {
      const text = readState(state)?.recalled?.text ?? "";
      const place = prompt.findLastIndex(({ role }) => role === "user");
      if (text === "" || place < 0) return undefined;
      return { prompt: putBeforeMessage(prompt, place, formatMemoryBlock(text, mark)) };
    },
    async processOutputResult({ messages, state, result }) {
      const turn = readState(state);
      const content = toStoredText(result.text);
      // A reply to a request to forget may say again what was erased.
      const isStored = options.stores !== false && content !== "" && !turn?.recalled?.hasErased;
      if (!isStored) return messages;
      const session = turn?.session ?? sessionOf(messages);
      const id = toMessageId(session, messages.at(-1)?.id ?? randomUUID());
      await withoutFailing(() => memory.remember([{ id, role: "assistant", content }], { session }), options);
      return messages;
    },
  };
}

const readState = (state: ProcessorState): ProcessedTurn | undefined =>
  state[TURN] as ProcessedTurn | undefined;

const toMessageId = (session: string, id: string): string =>
  `mastra-${createHash("sha256")
    .update(JSON.stringify([session, id]))
    .digest("base64url")
    .slice(0, 32)}`;

/** In a thread, messages keep their ids. Without one, Mastra makes new ids for each request. */
function readMastraTurn(messages: readonly MastraMessage[], session: string): UserTurn {
  const prompt = messages.map(({ role, content }) => ({ role, content: content.parts }));
  const findId = (place: number): string | undefined => {
    const { id, threadId } = messages[place] ?? {};
    return id === undefined || threadId === undefined ? undefined : toMessageId(session, id);
  };
  return readTurn(prompt, { session, name: "mastra", findId });
}
