import { INPUT_LIMITS, replaceControls } from "../../../domain/limits.ts";
import type { Part } from "../../../domain/message.ts";
import { stripPromptBlocks } from "../../../domain/text/prompt-safety.ts";
import type { InputMessage, ScopedMemory } from "../../../engine/api.ts";
import { MemoryError } from "../../../errors.ts";
import type { RequestTurn } from "../request/dialects.ts";
import { toArray, toFields, toText, type UpstreamReply } from "../request/reply-reader.ts";

/** Stores what is said, and lets later requests of the same user wait for it. */
export interface MemoryWriter {
  /** Runs a write of a user's in a moment, behind the earlier ones, and gives whether it was done. Its failure is told to `onTrouble`. */
  write(user: string, write: () => Promise<unknown>): Promise<boolean>;
  /**
   * Waits until what the user said before is stored, or could not be; gives up after a moment, at once where writes fail.
   * False where it is not known to be stored.
   */
  waitForWrites(user: string): Promise<boolean>;
  /** The same for all users. */
  waitForAllWrites(): Promise<void>;
}

/** How long a request waits for what the same user said just before it. Nobody types so fast; programs do. */
const WRITE_WAIT_MS = 3000;
/** The same while the record takes no writes. */
const FAILING_WRITE_WAIT_MS = 5;
/**
 * Understanding keeps the processor busy for a moment. What is written to the client now goes first, and where the client runs
 * on the same machine it gets to read it: without this rest it got its first byte two milliseconds later.
 */
const WRITE_DELAY_MS = 2;
/** Writes that wait at once, over all users. A record that never answers must not fill the memory of this process. */
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

/** One turn of the user's to be stored, and under which id. */
export interface StoredTurn {
  readonly id: string;
  readonly turn: RequestTurn;
}

/** Stores the user's own words. What came out of a memory is taken out of them first. */
export async function storeUserTurns(
  memory: ScopedMemory,
  session: string,
  turns: readonly StoredTurn[],
): Promise<void> {
  const messages = turns.flatMap(({ id, turn: said }): InputMessage[] => {
    const content = toContent(said);
    const isEmpty = typeof content === "string" ? content.trim() === "" : content.length === 0;
    if (isEmpty) return [];
    return [{ id, role: "user", content, ...(said.name === undefined ? {} : { name: said.name }) }];
  });
  if (messages.length > 0)
    await memory.remember(messages, { session, signal: AbortSignal.timeout(WRITE_TIMEOUT_MS) });
}

/** Stores what the model answered: its text, and the tools that it called. */
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

/** The text, and the parts that are no text, without files: they belong to the request, not to a memory of words. */
function toContent({ text, content }: RequestTurn): string | Part[] {
  const plain = limitToStorable(text);
  const others = toArray(content).flatMap((part): Part[] => {
    const { type } = toFields(part);
    if (typeof type !== "string" || type === "text" || type === "input_text") return [];
    const isSmall = JSON.stringify(part).length <= 4096;
    return [isSmall ? (part as Part) : { type, left_out: true }];
  });
  if (others.length === 0) return plain;
  return [...(plain.trim() === "" ? [] : [{ type: "text", text: plain }]), ...others];
}

/** A text as it can be stored: well-formed, without control characters, and not longer than a message may be. */
export function limitToStorable(text: string): string {
  const plain = replaceControls(toText(text).toWellFormed());
  if (Buffer.byteLength(plain) <= INPUT_LIMITS.textBytes) return plain;
  return Buffer.from(plain)
    .subarray(0, INPUT_LIMITS.textBytes - 4)
    .toString("utf8")
    .replace(/\ufffd+$/, "");
}

/** The value, if it comes in time. What comes later is dropped, and so is its failure. */
export async function rejectAfter<Value>(ms: number, coming: Promise<Value>): Promise<Value> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new MemoryError("unavailable", `nothing came within ${ms} ms.`)), ms);
  });
  coming.catch(() => {});
  try {
    return await Promise.race([coming, late]);
  } finally {
    clearTimeout(timer);
  }
}
