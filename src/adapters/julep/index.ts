import { randomUUID } from "node:crypto";
import { invalid, MemoryError } from "../../errors.ts";
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
import { readSessionMessages, type SessionMemory } from "../shared/session-items.ts";

export type { ChatMemory, ChatMemoryOptions, TurnMessage } from "../shared/model-calls/chat-turns.ts";
export type { SessionMemory, StoredItemMessage } from "../shared/session-items.ts";

/** The calls of a user's memory with which a chat of Julep remembers. `memory.scope({ user })` has them. */
export interface JulepMemory extends ChatMemory, Pick<SessionMemory, "session"> {}

/** Options of the chat. */
export interface JulepChatOptions extends ChatMemoryOptions {
  /** How many earlier messages of the session go with each turn, the newest of them (default 40; 0 for none). */
  readonly maxMessages?: number;
}

/** The part of Julep's parameters of a chat that is read or set. */
export interface JulepChatParams {
  readonly messages: readonly { readonly role: string; readonly content?: unknown }[];
  readonly save?: boolean;
  readonly stream?: boolean;
}

/** The part of Julep's client that is used: its `sessions`. */
export interface JulepSessions<Params extends JulepChatParams, Reply, RequestOptions> {
  chat(sessionId: string, params: Params, options?: RequestOptions): PromiseLike<Reply>;
}

/** `sessions.chat` of Julep's client, with a user's memory. */
export type JulepChat<Params extends JulepChatParams, Reply, RequestOptions> = (
  sessionId: string,
  params: Params,
  options?: RequestOptions,
) => Promise<Reply>;

const MAX_MESSAGES = 40;

/** What the memory gives for a turn. */
interface JulepTurn {
  readonly recalled: RecalledTurn;
  /** Earlier messages of the session, oldest first. */
  readonly earlier: readonly PromptMessage[];
}

/** A turn that Julep has not answered. */
interface UnansweredTurn {
  readonly turn: UserTurn;
  readonly hasErased: boolean;
}

/**
 * Gives the chats of a Julep session a user's memory, in the form of `sessions.chat`. It stores what the user and the model
 * say, and puts what is relevant before the newest user message. A request to forget is carried out before the model is
 * called. Keepsake keeps the conversation, and sends its earlier messages with each turn; Julep saves nothing (`save: false`),
 * as its API cannot erase a single message. If the memory fails, the chat goes on without it. The chat throws
 * `invalid_input` for `save: true`, and `unsupported` for `stream: true`.
 *
 * @example
 * ```ts
 * import { createMemory } from "keepsake";
 * import { createJulepChat } from "keepsake/adapters/julep";
 *
 * await using memory = await createMemory({ path: ":memory:" });
 * const ana = memory.scope({ user: "ana" });
 * await ana.remember("I live in Porto.");
 * const sessions = {
 *   async chat(id: string, { messages }: { messages: { role: string; content?: string }[] }) {
 *     return { messages: messages.length, knows: messages[0]?.content?.includes("Porto") };
 *   },
 * };
 * const chat = createJulepChat(ana, sessions);
 * const content = "What is the weather where I live?";
 * console.log(await chat("4a7c", { messages: [{ role: "user", content }] }));
 * ```
 *
 * ```text
 * { messages: 1, knows: true }
 * ```
 */
export function createJulepChat<Params extends JulepChatParams, Reply, RequestOptions = unknown>(
  memory: JulepMemory,
  sessions: JulepSessions<Params, Reply, RequestOptions>,
  options: JulepChatOptions = {},
): JulepChat<Params, Reply, RequestOptions> {
  const { stores = true } = options;
  const mark = createMemoryMark();
  const unanswered = new Map<string, UnansweredTurn>();
  return async (session, params, requestOptions) => {
    checkParams(params);
    const prompt = params.messages.map(toPromptMessage);
    const read = readTurn(prompt, { session, name: "julep", findId: createMessageId });
    // What is sent again after a failure is the same turn: it keeps its ids, and so is stored once.
    const before = unanswered.get(session);
    const same = before?.turn.text === read.text ? before : undefined;
    const turn = same ? { ...same.turn, place: read.place } : read;
    const given = await withoutFailing(() => readMemory(memory, turn, { ...options, session }), options);
    const hasErased = same?.hasErased || given?.recalled.hasErased || false;
    unanswered.set(session, { turn, hasErased });
    const sent = { ...params, messages: toSentMessages(prompt, turn, given, mark), save: false };
    const reply = await sessions.chat(session, sent as Params, requestOptions);
    unanswered.delete(session);
    const content = toStoredText(readReply(reply));
    // A reply to a request to forget may say again what was erased.
    if (stores && content !== "" && !hasErased) {
      const message = { id: createMessageId(), role: "assistant" as const, content };
      await withoutFailing(() => memory.remember([message], { session }), options);
    }
    return reply;
  };
}

const createMessageId = (): string => `julep-${randomUUID()}`;

function checkParams({ save, stream }: JulepChatParams): void {
  if (save === true) {
    throw invalid(
      "save: leave it out. Keepsake keeps the conversation, as Julep cannot erase single messages.",
    );
  }
  if (stream === true) {
    throw new MemoryError(
      "unsupported",
      "stream: Julep's client does not read streams of chats. Leave it out.",
    );
  }
}

/** A message of Julep. A list of texts becomes parts, to which a part can be added. */
function toPromptMessage(message: JulepChatParams["messages"][number]): PromptMessage {
  const { content } = message;
  if (!Array.isArray(content)) return { ...message, content };
  const parts: unknown[] = content.map((part) =>
    typeof part === "string" ? { type: "text", text: part } : part,
  );
  return { ...message, content: parts };
}

async function readMemory(
  memory: JulepMemory,
  turn: UserTurn,
  options: JulepChatOptions & { readonly session: string },
): Promise<JulepTurn> {
  const recalled = await recallTurn(memory, turn, options);
  const { session, maxMessages = MAX_MESSAGES } = options;
  if (maxMessages <= 0) return { recalled, earlier: [] };
  // Read after a request to forget was carried out.
  const ids = new Set(turn.messages.map(({ id }) => id));
  const kept = await readSessionMessages(memory, session);
  const earlier = kept
    .filter(({ id, role }) => !ids.has(id) && (role === "user" || role === "assistant"))
    .map(({ role, content }) => ({ role, content: breakTemplates(String(content)) }))
    .filter(({ content }) => content.trim() !== "");
  return { recalled, earlier: earlier.slice(-maxMessages) };
}

/** Earlier messages, and the new ones with the memory in the newest of the user. */
function toSentMessages(
  prompt: readonly PromptMessage[],
  turn: UserTurn,
  given: JulepTurn | undefined,
  mark: string,
): PromptMessage[] {
  const text = given?.recalled.text ?? "";
  const block = breakTemplates(formatMemoryBlock(text, mark));
  const sent = text === "" ? prompt : putBeforeMessage(prompt, turn.place, block);
  return [...withoutRepeated(given?.earlier ?? [], prompt), ...sent];
}

/** Earlier messages without the user's newest ones that are sent again, such as with the results of tools. */
function withoutRepeated(
  earlier: readonly PromptMessage[],
  prompt: readonly PromptMessage[],
): readonly PromptMessage[] {
  const said = prompt.filter(({ role }) => role === "user");
  const texts = new Set(
    said.map(({ content }) => breakTemplates(toStoredText(readTexts(content).join("\n")))),
  );
  const end = earlier.findLastIndex(({ role, content }) => role !== "user" || !texts.has(String(content)));
  return earlier.slice(0, end + 1);
}

/** What the model says in a reply; empty for calls of tools alone. */
function readReply(reply: unknown): string {
  const { choices } = (reply ?? {}) as { readonly choices?: readonly JulepChoice[] };
  const { message, messages = message ? [message] : [] } = choices?.[0] ?? {};
  return messages
    .filter(({ role }) => role === "assistant")
    .flatMap(({ content }) => readTexts(content))
    .join("\n");
}

/** A choice of a reply: one message, or several. */
interface JulepChoice {
  readonly message?: PromptMessage;
  readonly messages?: readonly PromptMessage[];
}

function readTexts(content: unknown): string[] {
  const parts: readonly unknown[] = Array.isArray(content) ? content : [content];
  return parts.flatMap((part) => {
    if (typeof part === "string") return part;
    const { text } = (part ?? {}) as { readonly text?: unknown };
    return typeof text === "string" ? text : [];
  });
}

/** Julep renders messages as Jinja templates: what comes from the memory must not run as one. */
function breakTemplates(text: string): string {
  return text.replace(/\{(?=[{%#])/g, "{ ");
}
