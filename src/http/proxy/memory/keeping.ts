import { withoutFences } from "../../../domain/fences.ts";
import { LIMITS, withoutControls } from "../../../domain/limits.ts";
import type { Part } from "../../../domain/message.ts";
import type { InputMessage, ScopedMemory } from "../../../engine/surface.ts";
import type { Said } from "../asked/said.ts";
import { fieldsOf, listOf, type Reply, textOf } from "../replies/reply.ts";
import { within } from "./within.ts";

/** Stores what is said, and lets later requests of the same user wait for it. */
export interface Keeper {
  /** Runs a write of a user's in a moment, behind the earlier ones, and gives whether it was done. Its failure is told to `onTrouble`. */
  keep(user: string, write: () => Promise<unknown>): Promise<boolean>;
  /**
   * Waits until what the user said before is stored, or could not be; gives up after a moment, at once where writes fail.
   * False where it is not known to be stored.
   */
  settled(user: string): Promise<boolean>;
  /** The same for all users. */
  allSettled(): Promise<void>;
}

/** How long a request waits for what the same user said just before it. Nobody types so fast; programs do. */
const SETTLED_MS = 3000;
/** The same while the record takes no writes. */
const HASTY_MS = 5;
/**
 * Understanding keeps the processor busy for a moment. What is written to the client now goes first, and where the client runs
 * on the same machine it gets to read it: without this rest it got its first byte two milliseconds later.
 */
const BREATH_MS = 2;
/** Writes that wait at once, over all users. A record that never answers must not fill the memory of this process. */
const MOST_WAITING = 1000;

export function keeper(onTrouble: (error: unknown) => void): Keeper {
  const running = new Map<string, Promise<boolean>>();
  let waiting = 0;
  let isWell = true;
  const done = async (write: () => Promise<unknown>): Promise<boolean> => {
    try {
      await new Promise((resolve) => setTimeout(resolve, BREATH_MS));
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
    keep(user, write) {
      if (waiting >= MOST_WAITING) {
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
    async settled(user) {
      const writing = running.get(user);
      if (!writing) return true;
      const isStored = await within(isWell ? SETTLED_MS : HASTY_MS, writing).catch(() => undefined);
      if (isStored === undefined) isWell = false;
      return isStored ?? false;
    },
    allSettled: async () => {
      await Promise.all(running.values());
    },
  };
}

const WRITE_MS = 60_000;

/** One turn of the user's to be stored, and under which id. */
export interface Keeping {
  readonly id: string;
  readonly said: Said;
}

/** Stores the user's own words. What came out of a memory is taken out of them first. */
export async function keepSaid(
  memory: ScopedMemory,
  session: string,
  turns: readonly Keeping[],
): Promise<void> {
  const messages = turns.flatMap(({ id, said }): InputMessage[] => {
    const content = contentOf(said);
    const isEmpty = typeof content === "string" ? content.trim() === "" : content.length === 0;
    if (isEmpty) return [];
    return [{ id, role: "user", content, ...(said.name === undefined ? {} : { name: said.name }) }];
  });
  if (messages.length > 0)
    await memory.remember(messages, { session, signal: AbortSignal.timeout(WRITE_MS) });
}

/** Stores what the model answered: its text, and the tools that it called. */
export async function keepReply(
  memory: ScopedMemory,
  session: string,
  { text, calls, isWhole }: Reply,
): Promise<void> {
  const plain = storable(withoutFences(text));
  const parts: Part[] = [
    ...(plain.trim() === "" ? [] : [{ type: "text", text: plain }]),
    ...calls.map((call) => ({ type: "tool_call", ...call, arguments: storable(call.arguments) })),
  ];
  if (parts.length === 0) return;
  const content = calls.length === 0 ? plain : parts;
  const metadata = isWhole ? {} : { metadata: { cut: true } };
  await memory.remember([{ role: "assistant", content, ...metadata }], {
    session,
    signal: AbortSignal.timeout(WRITE_MS),
  });
}

/** The text, and the parts that are no text, without files: they belong to the request, not to a memory of words. */
function contentOf({ text, content }: Said): string | Part[] {
  const plain = storable(text);
  const others = listOf(content).flatMap((part): Part[] => {
    const { type } = fieldsOf(part);
    if (typeof type !== "string" || type === "text" || type === "input_text") return [];
    const isSmall = JSON.stringify(part).length <= 4096;
    return [isSmall ? (part as Part) : { type, left_out: true }];
  });
  if (others.length === 0) return plain;
  return [...(plain.trim() === "" ? [] : [{ type: "text", text: plain }]), ...others];
}

/** A text as it can be stored: well-formed, without control characters, and not longer than a message may be. */
export function storable(text: string): string {
  const plain = withoutControls(textOf(text).toWellFormed());
  if (Buffer.byteLength(plain) <= LIMITS.textBytes) return plain;
  return Buffer.from(plain)
    .subarray(0, LIMITS.textBytes - 4)
    .toString("utf8")
    .replace(/\ufffd+$/, "");
}
