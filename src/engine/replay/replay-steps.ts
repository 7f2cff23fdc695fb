import type { LogEntry } from "../../domain/change-set.ts";
import type { Message } from "../../domain/message.ts";
import type { Scope } from "../../domain/scope.ts";
import { yieldToEventLoop } from "../../domain/time-slicing.ts";
import { EARLIER_TURNS } from "../ingest/extract.ts";
import type { Ports } from "../ports.ts";
import type { UserState } from "../user-state/user-state.ts";

/** A step of a replay: messages to tell, or a change to take from the log. */
export type ReplayStep =
  | {
      readonly type: "tell";
      /** Of one write. */
      readonly messages: readonly Message[];
      /** Whether no extractor reads them. */
      readonly isUnread: boolean;
    }
  | {
      readonly type: "take";
      readonly entry: LogEntry;
      /** `pair`: what was read again is only paired with what was stored. `take`: the stored versions are taken. */
      readonly mode: "pair" | "take";
      /** For an undo: the messages that it takes back, or brings back. */
      readonly undone?: { readonly messages: readonly string[]; readonly undone: boolean };
    };

/** Log entries that are read at once. */
const LOG_PAGE = 500;
/** Messages of one write that are told at once. */
const MAX_BATCH = 25;

/** All log entries of a user, oldest first. */
export async function listLogEntries({ store }: Pick<Ports, "store">, scope: Scope): Promise<LogEntry[]> {
  const pages: LogEntry[] = [];
  let before: number | undefined;
  do {
    const page = await store.log(scope, { ...(before === undefined ? {} : { before }), limit: LOG_PAGE });
    pages.push(...page);
    before = page.length < LOG_PAGE ? undefined : page.at(-1)?.revision;
    await yieldToEventLoop();
  } while (before !== undefined);
  return pages.reverse();
}

/** The messages that can be told: those with words that the store's extractor has read. */
export interface TellableMessages {
  readonly messages: ReadonlyMap<string, Message>;
  /** Messages that no extractor of the store has read yet. */
  readonly unread: number;
}

/** Selects the messages that can be told, in their order. */
export function listTellable({ messages }: Pick<UserState, "messages">): TellableMessages {
  const present = [...messages.values()].filter(({ content }) => content.trim() !== "");
  const isUnread = ({ digest, heard }: Message): boolean => digest === "pending" && !heard;
  const read = present.filter((message) => !isUnread(message));
  const unread = present.filter((message) => isUnread(message) && !message.undone).length;
  return { messages: new Map(read.map((message) => [message.id, message])), unread };
}

/** The steps that tell messages and nothing else. */
export function planTelling(messages: readonly Message[]): ReplayStep[] {
  return splitIntoWrites(messages).map((batch) => ({
    type: "tell",
    messages: batch,
    isUnread: isNever(batch),
  }));
}

/**
 * Ids of the messages that are not read again. Words were erased from them, from a turn that an extractor read before them, or
 * from a message that was stored with one of these.
 */
export function listUnreadable(
  log: readonly LogEntry[],
  { messages }: Pick<UserState, "messages">,
): ReadonlySet<string> {
  const redacted = new Set(log.filter(({ cause }) => cause === "forget").flatMap(({ erased }) => erased));
  const unreadable = new Set<string>();
  if (redacted.size === 0) return unreadable;
  /** By session, the turns since words were erased from one. */
  const turns = new Map<string | undefined, number>();
  const isUnreadable = (id: string): boolean => {
    const message = messages.get(id);
    const before = turns.get(message?.session) ?? Number.POSITIVE_INFINITY;
    if (redacted.has(id)) turns.set(message?.session, 0);
    else if (message && !message.undone && message.content !== "") turns.set(message.session, before + 1);
    return redacted.has(id) || before < EARLIER_TURNS;
  };
  for (const entry of log) {
    const affected = entry.messages.filter(isUnreadable);
    if (affected.length > 0) for (const id of entry.messages) unreadable.add(id);
  }
  return unreadable;
}

interface LogPlan {
  readonly tellable: TellableMessages;
  /** From `listUnreadable`. */
  readonly unreadable: ReadonlySet<string>;
  /** Oldest first. */
  readonly log: readonly LogEntry[];
  /** Whether a model reads the messages again, so that what it read before is not taken. */
  readonly asksModel: boolean;
}

/**
 * The steps that repeat a log. Messages are told. What cannot be computed again is taken from the log: what a model read, edits
 * by hand, imported memories, clean-ups, undos, and the results of messages with erased words.
 */
export function planSteps({ tellable, unreadable, log, asksModel }: LogPlan): ReplayStep[] {
  const entries = new Map(log.map((entry) => [entry.revision, entry]));
  const isTaken = (entry: LogEntry): boolean => {
    if (entry.messages.length > 0) return entry.messages.some((id) => unreadable.has(id));
    if (entry.cause !== "digest") return true;
    return entry.extractor !== "local" && !asksModel;
  };
  return log.flatMap((entry): ReplayStep[] => {
    if (entry.cause === "forget") return [];
    const isRecorded = isTaken(entry);
    const told = entry.messages.flatMap((id) => tellable.messages.get(id) ?? []);
    const telling = splitIntoWrites(told).map(
      (batch): ReplayStep => ({ type: "tell", messages: batch, isUnread: isRecorded || isNever(batch) }),
    );
    const undone = entry.cause === "undo" ? findUndone(entry, entries, log) : undefined;
    if (entry.memories.length === 0 && !undone) return telling;
    const mode = isRecorded ? "take" : "pair";
    return [...telling, { type: "take", entry, mode, ...(undone ? { undone } : {}) }];
  });
}

/** The messages that an undo takes back or brings back. */
function findUndone(
  entry: LogEntry,
  entries: ReadonlyMap<number, LogEntry>,
  log: readonly LogEntry[],
): { messages: readonly string[]; undone: boolean } {
  let root: LogEntry | undefined = entry;
  let undone = false;
  while (root?.cause === "undo" && root.undoes !== undefined) {
    root = entries.get(root.undoes);
    undone = !undone;
  }
  const importId = root?.importId;
  const parts = importId === undefined ? [root] : log.filter((one) => one.importId === importId);
  return { messages: parts.flatMap((one) => one?.messages ?? []), undone };
}

const isNever = ([first]: readonly Message[]): boolean => first?.digest === "never";

/** Messages that were stored at once, and are told at once. */
function splitIntoWrites(messages: readonly Message[]): Message[][] {
  const batches: Message[][] = [];
  for (const message of messages) {
    const batch = batches.at(-1);
    const [first] = batch ?? [];
    if (batch && first && batch.length < MAX_BATCH && isOfWrite(message, first)) batch.push(message);
    else batches.push([message]);
  }
  return batches;
}

function isOfWrite(one: Message, first: Message): boolean {
  const isNever = ({ digest }: Message): boolean => digest === "never";
  const isImported = ({ origin }: Message): boolean => origin === "import";
  return (
    one.storedAt === first.storedAt &&
    one.agent === first.agent &&
    one.mayErase === first.mayErase &&
    isNever(one) === isNever(first) &&
    isImported(one) === isImported(first)
  );
}
