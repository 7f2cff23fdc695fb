import { INPUT_LIMITS, replaceControls } from "../../../domain/limits.ts";
import type { Part } from "../../../domain/message.ts";
import type { Receipt } from "../../../domain/receipt.ts";
import { stripPromptBlocks } from "../../../domain/text/prompt-safety.ts";
import type { ScopedMemory } from "../../../engine/api/scoped-memory.ts";
import type { InputMessage } from "../../../engine/api/writing-types.ts";
import { getErrorCode, MemoryError } from "../../../errors.ts";
import type { RequestTurn } from "../request/dialects.ts";
import { isToolResult } from "../request/messages-dialect.ts";
import { toArray, toFields, toText, type UpstreamReply } from "../request/reply-reader.ts";

/** What is known of a user's earlier messages: stored, failed, or `late` if they are still being stored. */
export type WriteState = "stored" | "failed" | "late";

/** Stores messages in the background. Later requests of the same user can wait for it. */
export interface MemoryWriter {
  /** Runs a write after the user's earlier ones. Gives whether it succeeded; reports a failure to `onTrouble`. */
  write(user: string, write: () => Promise<unknown>): Promise<boolean>;
  /**
   * The same for a message that may ask to forget. If the store cannot take it, it is kept in this process and tried again until
   * it is stored, or refused for good. Throws `unavailable` if too many are kept.
   */
  writeForgetting(user: string, write: () => Promise<unknown>): Promise<boolean>;
  /** Whether a request to forget of the user is not stored yet. Then nothing of the user may be shown. */
  isForgetting(user: string): boolean;
  /** Throws `unavailable` if a request to forget of the user is not stored yet. */
  checkForgotten(user: string): void;
  /** Waits until the user's earlier messages are stored or have failed. Ends the wait after a short time, and at once if writes fail. */
  waitForWrites(user: string): Promise<WriteState>;
  /** Waits for the writes of all users, and tries kept requests to forget once more. No write may follow. */
  close(): Promise<void>;
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
/** Maximum number of requests to forget that are kept for all users: each keeps its chat request in memory. */
const MAX_KEPT_REQUESTS = 100;
/** The first and the longest pause before a kept request is tried again, in ms. */
const RETRY_MS = { first: 500, most: 30_000 };

/** Codes of errors that a later try cannot change. */
const FINAL_CODES: ReadonlySet<string> = new Set(["invalid_input", "forbidden", "not_found", "unsupported"]);

type WriteResult = "done" | "failed" | "refused";

export function createMemoryWriter(onTrouble: (error: unknown) => void): MemoryWriter {
  const running = new Map<string, Promise<unknown>>();
  let waiting = 0;
  let isWell = true;
  const run = async (write: () => Promise<unknown>): Promise<WriteResult> => {
    try {
      await new Promise((resolve) => setTimeout(resolve, WRITE_DELAY_MS));
      await write();
      isWell = true;
      return "done";
    } catch (error) {
      isWell = false;
      onTrouble(error);
      return FINAL_CODES.has(getErrorCode(error)) ? "refused" : "failed";
    }
  };
  const enqueue = <Result>(user: string, work: () => Promise<Result>): Promise<Result> => {
    waiting += 1;
    const before = running.get(user);
    const current = (before ? before.then(work) : work()).finally(() => {
      waiting -= 1;
      if (running.get(user) === current) running.delete(user);
    });
    running.set(user, current);
    return current;
  };
  const kept = createKeptRequests(run, enqueue);
  return {
    isForgetting: kept.isKept,
    write(user, write) {
      if (waiting >= MAX_WAITING_WRITES) {
        onTrouble(new Error("too many writes wait"));
        return Promise.resolve(false);
      }
      // What was to be forgotten before is forgotten before, so that it does not reach what is said later.
      return enqueue(user, async () => {
        await kept.try(user);
        return (await run(write)) === "done";
      });
    },
    async writeForgetting(user, write) {
      if (waiting >= MAX_WAITING_WRITES || kept.count() >= MAX_KEPT_REQUESTS) throw createFullError();
      return kept.add(user, write);
    },
    checkForgotten(user) {
      if (kept.isKept(user)) throw createForgettingError();
    },
    async waitForWrites(user) {
      const writing = running.get(user);
      if (!writing) return "stored";
      const ended = writing.then((isStored) => (isStored === false ? "failed" : "stored"));
      const state = await rejectAfter<WriteState>(
        isWell ? WRITE_WAIT_MS : FAILING_WRITE_WAIT_MS,
        ended,
      ).catch(() => "late" as const);
      if (state === "late") isWell = false;
      return state;
    },
    async close() {
      kept.stop();
      await Promise.all(running.values());
      if (!(await kept.tryAll())) onTrouble(createForgettingError());
    },
  };
}

/** Requests to forget that are not stored yet, in the order of each user. */
interface KeptRequests {
  count(): number;
  isKept(user: string): boolean;
  /** Adds a request and tries it, now and later. Gives whether it is stored at once. */
  add(user: string, write: () => Promise<unknown>): Promise<boolean>;
  /** Tries the requests of a user, up to the first that fails. Call it in the user's queue. */
  try(user: string): Promise<void>;
  /** Tries the requests of all users. Gives whether none is left. */
  tryAll(): Promise<boolean>;
  /** Ends the later tries. */
  stop(): void;
}

function createKeptRequests(
  run: (write: () => Promise<unknown>) => Promise<WriteResult>,
  enqueue: (user: string, work: () => Promise<void>) => Promise<void>,
): KeptRequests {
  const kept = new Map<string, Set<() => Promise<unknown>>>();
  const timers = new Map<string, NodeJS.Timeout>();
  let isStopped = false;
  const tryUser = async (user: string): Promise<void> => {
    const requests = kept.get(user);
    for (const write of requests ?? []) {
      if ((await run(write)) === "failed") return;
      requests?.delete(write);
    }
    kept.delete(user);
  };
  const retryLater = (user: string, pause: number = RETRY_MS.first): void => {
    if (isStopped || !kept.has(user) || timers.has(user)) return;
    const retry = async (): Promise<void> => {
      await enqueue(user, () => tryUser(user));
      timers.delete(user);
      retryLater(user, Math.min(pause * 2, RETRY_MS.most));
    };
    timers.set(user, setTimeout(() => void retry(), pause).unref());
  };
  return {
    count: () => [...kept.values()].reduce((sum, { size }) => sum + size, 0),
    isKept: (user) => kept.has(user),
    async add(user, write) {
      let isDone = false;
      const request = async (): Promise<void> => {
        await write();
        isDone = true;
      };
      kept.set(user, (kept.get(user) ?? new Set()).add(request));
      await enqueue(user, () => tryUser(user));
      retryLater(user);
      return isDone;
    },
    try: tryUser,
    async tryAll() {
      await Promise.all([...kept.keys()].map((user) => enqueue(user, () => tryUser(user))));
      return kept.size === 0;
    },
    stop() {
      isStopped = true;
      for (const timer of timers.values()) clearTimeout(timer);
    },
  };
}

function createForgettingError(): MemoryError {
  return new MemoryError(
    "unavailable",
    "a request to forget has not been carried out yet, because the store could not take it. It is tried again.",
  );
}

function createFullError(): MemoryError {
  return new MemoryError(
    "unavailable",
    "a request to forget cannot be carried out or kept: too many wait for the store. Nothing was erased. Send it again later.",
  );
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
