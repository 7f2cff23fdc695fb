import { INPUT_LIMITS, replaceControls } from "../../../domain/limits.ts";
import type { Part } from "../../../domain/message.ts";
import type { Receipt } from "../../../domain/receipt.ts";
import { stripPromptBlocks } from "../../../domain/text/prompt-safety.ts";
import type { ScopedMemory } from "../../../engine/api/scoped-memory.ts";
import type { InputMessage } from "../../../engine/api/writing-types.ts";
import { MemoryError } from "../../../errors.ts";
import type { RequestTurn } from "../request/dialects.ts";
import { isToolResult } from "../request/messages-dialect.ts";
import { toArray, toFields, toText, type UpstreamReply } from "../request/reply-reader.ts";

/** Stores messages in the background. Later requests of the same user can wait for it. */
export interface MemoryWriter {
  /** Runs a write after the user's earlier ones. Gives whether it succeeded; reports a failure to `onTrouble`. */
  write(user: string, write: () => Promise<unknown>): Promise<boolean>;
  /**
   * Waits until the user's earlier messages are stored or have failed. Ends the wait after a short time, and at once if writes
   * fail. Gives false if they may not be stored.
   */
  waitForWrites(user: string): Promise<boolean>;
  /** Waits for the writes of all users. */
  waitForAllWrites(): Promise<void>;
}

/** How long a request waits for the user's previous write, in ms. Only programs send so fast. */
const WRITE_WAIT_MS = 3000;
/** The same while writes fail. */
const FAILING_WRITE_WAIT_MS = 5;
/**
 * A pause before a write, in ms, because extraction keeps the processor busy. Bytes for the client go out first, and a
 * client on the same machine can read them. Without the pause, the first byte arrived two milliseconds later.
 */
const WRITE_DELAY_MS = 2;
/** Maximum number of waiting writes of all users, so that a database that hangs does not exhaust memory. */
const MAX_WAITING_WRITES = 1000;

export function createMemoryWriter(onTrouble: (error: unknown) => void): MemoryWriter {
  const running = new Map<string, Promise<boolean>>();
  let waiting = 0;
  let isWell = true;
  const done = async (write: () => Promise<unknown>): Promise<boolean> => {
    try {
      await new Promise((resolve) => setTimeout(resolve, WRITE_DELAY_MS));
      await write();
      isWell = true;
      return true;
    } catch (error) {
      isWell = false;
      onTrouble(error);
      return false;
    }
  };
  return {
    write(user, write) {
      if (waiting >= MAX_WAITING_WRITES) {
        onTrouble(new Error("too many writes wait"));
        return Promise.resolve(false);
      }
      waiting += 1;
      const before = running.get(user);
      const kept = (before ? before.then(() => done(write)) : done(write)).then((isDone) => {
        waiting -= 1;
        if (running.get(user) === kept) running.delete(user);
        return isDone;
      });
      running.set(user, kept);
      return kept;
    },
    async waitForWrites(user) {
      const writing = running.get(user);
      if (!writing) return true;
      const isStored = await rejectAfter(isWell ? WRITE_WAIT_MS : FAILING_WRITE_WAIT_MS, writing).catch(
        () => undefined,
      );
      if (isStored === undefined) isWell = false;
      return isStored ?? false;
    },
    waitForAllWrites: async () => {
      await Promise.all(running.values());
    },
  };
}

const WRITE_TIMEOUT_MS = 60_000;

/** A turn of the user to store, with its id. */
export interface StoredTurn {
  readonly id: string;
  readonly turn: RequestTurn;
  /** Gives its content with complete files, which are read only to be stored. */
  readonly readContent: () => unknown;
  /** The content to store instead, which holds an item of the Responses API whole. */
  readonly content?: readonly Part[];
}

/** Stores the user's messages, without injected memory. */
export async function storeUserTurns(
  memory: ScopedMemory,
  session: string,
  turns: readonly StoredTurn[],
): Promise<Receipt | undefined> {
  const messages = turns.flatMap(({ id, turn: said, readContent, content: item }): InputMessage[] => {
    const content = item ?? toContent(said.text, readContent());
    const isEmpty = typeof content === "string" ? content.trim() === "" : content.length === 0;
    if (isEmpty) return [];
    return [{ id, role: "user", content, ...(said.name === undefined ? {} : { name: said.name }) }];
  });
  if (messages.length === 0) return undefined;
  return memory.remember(messages, { session, signal: AbortSignal.timeout(WRITE_TIMEOUT_MS) });
}

/** Stores the model's reply: its text and tool calls. */
export async function storeReply(
  memory: ScopedMemory,
  session: string,
  { text, calls, isComplete: isWhole }: UpstreamReply,
): Promise<void> {
  const plain = limitToStorable(stripPromptBlocks(text));
  const parts: Part[] = [
    ...(plain.trim() === "" ? [] : [{ type: "text", text: plain }]),
    ...calls.map((call) => ({ type: "tool_call", ...call, arguments: limitToStorable(call.arguments) })),
  ];
  if (parts.length === 0) return;
  const content = calls.length === 0 ? plain : parts;
  const metadata = isWhole ? {} : { metadata: { cut: true } };
  await memory.remember([{ role: "assistant", content, ...metadata }], {
    session,
    signal: AbortSignal.timeout(WRITE_TIMEOUT_MS),
  });
}

/** Parts whose files are kept apart from the message. What cannot be kept is left out when it is stored. */
const FILE_PART_TYPES: ReadonlySet<string> = new Set(["image", "image_url", "input_image", "input_audio"]);

/** Gives the text and other parts, without other files, which belong to the request only. */
function toContent(text: string, content: unknown): string | Part[] {
  const plain = limitToStorable(text);
  const others = toArray(content).flatMap((part): Part[] => {
    const { type } = toFields(part);
    if (typeof type !== "string" || type === "text" || type === "input_text" || isToolResult(part)) return [];
    if (FILE_PART_TYPES.has(type)) return [part as Part];
    const isSmall = JSON.stringify(part).length <= 4096;
    return [isSmall ? (part as Part) : { type, left_out: true }];
  });
  if (others.length === 0) return plain;
  return [...(plain.trim() === "" ? [] : [{ type: "text", text: plain }]), ...others];
}

/** Makes a text storable: well-formed, without control characters, and within the length limit. */
export function limitToStorable(text: string): string {
  const plain = replaceControls(toText(text).toWellFormed());
  if (Buffer.byteLength(plain) <= INPUT_LIMITS.textBytes) return plain;
  return Buffer.from(plain)
    .subarray(0, INPUT_LIMITS.textBytes - 4)
    .toString("utf8")
    .replace(/\ufffd+$/, "");
}

/** Gives the value of a promise. Rejects with `unavailable` after `ms` milliseconds; a later result or error is ignored. */
export async function rejectAfter<Value>(ms: number, coming: Promise<Value>): Promise<Value> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new MemoryError("unavailable", `no result within ${ms} ms.`)), ms);
  });
  coming.catch(() => {});
  try {
    return await Promise.race([coming, late]);
  } finally {
    clearTimeout(timer);
  }
}
