import { createHash, randomUUID } from "node:crypto";
import { toStorableText } from "../../../domain/limits.ts";
import { stripPromptBlocks } from "../../../domain/text/prompt-safety.ts";
import { MemoryError } from "../../../errors.ts";
import { withTimeout } from "./remote-call.ts";

/** A message of a chat to store. */
export interface TurnMessage {
  readonly id: string;
  readonly role: "user" | "assistant";
  readonly content: string;
}

/** The calls of a user's memory with which a chat remembers. `memory.scope({ user })` has them. */
export interface ChatMemory {
  context(
    request: string,
    options: { readonly maxTokens: number; readonly shared: boolean },
  ): Promise<{ readonly text: string }>;
  remember(
    messages: readonly TurnMessage[],
    options: { readonly session: string },
  ): Promise<{ readonly erasures?: readonly unknown[] }>;
}

/** Options of adapters that put memory into a chat. */
export interface ChatMemoryOptions {
  /** Token budget for the memory in a prompt (default 1,500). */
  readonly maxTokens?: number;
  /** False: the model is given the memory, and nothing is stored (default true). */
  readonly stores?: boolean;
  /** How long a request waits for the memory, in ms (default 2,000). Then it goes on without. */
  readonly timeoutMs?: number;
  /** Called with each failure of the memory. The request goes on without it. */
  readonly onError?: (error: unknown) => void;
}

const TIMEOUT_MS = 2000;
const MAX_TOKENS = 1500;

/** A message of a prompt. */
export interface PromptMessage {
  readonly role: string;
  readonly content: unknown;
}

/** The newest turn of a prompt. */
export interface UserTurn {
  /** The place of the newest user message. */
  readonly place: number;
  /** What the user said: the new messages, or the one that the model works on with tools. */
  readonly text: string;
  /** The new messages: those after the last one of the model. */
  readonly messages: readonly TurnMessage[];
}

/** What a turn recalled. */
export interface RecalledTurn {
  /** What is relevant, for a prompt; empty for nothing. */
  readonly text: string;
  /** Whether the turn asked to forget something, and it was erased. */
  readonly hasErased: boolean;
}

/** A mark of memory in prompts. It cannot be guessed. */
export function createMemoryMark(): string {
  return `keepsake-${randomUUID().replaceAll("-", "").slice(0, 16)}`;
}

/** Recalls what is relevant to a turn, and stores the turn. A request to forget is carried out. */
export async function recallTurn(
  memory: ChatMemory,
  turn: UserTurn,
  { session, maxTokens = MAX_TOKENS, stores = true }: ChatMemoryOptions & { readonly session: string },
): Promise<RecalledTurn> {
  if (turn.text === "") return { text: "", hasErased: false };
  const recall = async () => (await memory.context(turn.text, { maxTokens, shared: false })).text;
  // Read before the turn is stored, so that it does not contain the turn itself.
  const text = await recall();
  if (!stores || turn.messages.length === 0) return { text, hasErased: false };
  const { erasures = [] } = await memory.remember(turn.messages, { session });
  return erasures.length === 0 ? { text, hasErased: false } : { text: await recall(), hasErased: true };
}

/** Waits for the memory as long as the options allow. Gives undefined, and tells `onError`, if it fails. */
export async function withoutFailing<Value>(
  work: () => Promise<Value>,
  { timeoutMs = TIMEOUT_MS, onError }: ChatMemoryOptions,
): Promise<Value | undefined> {
  try {
    const late = () => new MemoryError("unavailable", `The memory gave no result in ${timeoutMs} ms.`);
    return await withTimeout(work(), timeoutMs, late);
  } catch (error) {
    onError?.(error);
    return undefined;
  }
}

/** How a framework names its messages. */
interface MessageNames {
  readonly session: string;
  /** The framework, for ids that are made here. */
  readonly name: string;
  /** The id of the message at a place, if the framework has a lasting one. */
  readonly findId?: (place: number) => string | undefined;
}

/** Reads the newest turn. The same words at another place in a conversation are another turn. */
export function readTurn(
  prompt: readonly PromptMessage[],
  { session, name, findId = () => undefined }: MessageNames,
): UserTurn {
  const place = prompt.findLastIndex(({ role }) => role === "user");
  const begin = prompt.findLastIndex(({ role }) => role === "assistant") + 1;
  const chain = createHash("sha256").update(session);
  const messages: TurnMessage[] = [];
  for (const [i, { role, content }] of prompt.entries()) {
    if (role !== "user" && role !== "assistant") continue;
    const text = readText(content);
    chain.update(JSON.stringify([role, text]));
    const said = i >= begin && role === "user" ? toStoredText(text) : "";
    if (said === "") continue;
    messages.push({
      id: findId(i) ?? `${name}-${chain.copy().digest("base64url").slice(0, 32)}`,
      role: "user",
      content: said,
    });
  }
  const said = messages.map(({ content }) => content).join("\n");
  return { place, text: said || toStoredText(readText(prompt[place]?.content)), messages };
}

function readText(content: unknown): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  const texts = content.flatMap((part: { readonly type?: unknown; readonly text?: unknown } | null) =>
    part?.type === "text" && typeof part.text === "string" ? part.text : [],
  );
  return texts.join("\n");
}

/** A text to store, without memory that was put into it. */
export function toStoredText(text: string): string {
  return toStorableText(stripPromptBlocks(text)).text.trim();
}

/** Memory is part of the user's message: it must not have the rank of a system message. */
export function putBeforeMessage<Message extends PromptMessage>(
  prompt: readonly Message[],
  place: number,
  text: string,
): Message[] {
  return prompt.map((message, i) => {
    if (i !== place) return message;
    if (typeof message.content === "string") return { ...message, content: `${text}\n\n${message.content}` };
    return { ...message, content: [{ type: "text", text }, ...(message.content as readonly unknown[])] };
  });
}
