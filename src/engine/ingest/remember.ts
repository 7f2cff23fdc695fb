import type { ChangeSet } from "../../domain/change-set.ts";
import type { Memory } from "../../domain/memory.ts";
import type { Message } from "../../domain/message.ts";
import type { ErasureReceipt, PendingConfirmation, Receipt, ReceiptLine } from "../../domain/receipt.ts";
import type { Scope } from "../../domain/scope.ts";
import { listRedactedKinds } from "../../domain/text/credentials.ts";
import type { ImportedMessageState } from "../api/transfer-types.ts";
import type { RememberInput, RememberOptions } from "../api/writing-types.ts";
import {
  admitAttachments,
  type ReceivedInput,
  receiveAttachments,
} from "../attachments/receive-attachments.ts";
import { clampToStoredTime, commitChange } from "../change-set.ts";
import { eraseDue } from "../erase/delayed-erasures.ts";
import { eraseRequested } from "../erase/forget.ts";
import { redactErased, type ScreenedMessage } from "../erase/tombstone-filter.ts";
import type { Ports } from "../ports.ts";
import { createSearchUnits } from "../search-index/search-units.ts";
import { appendTurns } from "../secondary-stores/session-turns.ts";
import type { UserState } from "../user-state/user-state.ts";
import { type ExtractionResult, extractMessages } from "./extract.ts";
import {
  findPreviousReceipt,
  hashIdempotencyKey,
  type IdempotencyKey,
  toStoredReceipt,
} from "./idempotency.ts";
import { parseMessagesInSlices } from "./parse-messages.ts";

/**
 * Stores messages verbatim, then extracts memories. The messages, the extracted memories and the search units
 * are one change-set. A message whose id exists is the same message and changes nothing.
 *
 * A request to forget ends its change-set and is executed in one of its own, so that later messages build on
 * the erasure. Until then its message is pending work, and a crash in between loses no request.
 */
export async function remember(
  ports: Ports,
  scope: Scope,
  input: RememberInput,
  options: StoreOptions = {},
): Promise<Receipt> {
  options.signal?.throwIfAborted();
  const received = receiveAttachments(ports, input);
  const parsed = await parseMessagesInSlices(ports, scope, received.input, options);
  const { lines: replacedLines } = parsed;
  const messages = withStates(parsed.messages, options.states);
  const key =
    options.idempotencyKey === undefined
      ? undefined
      : hashIdempotencyKey(options.idempotencyKey, [scope, received.input, options.session]);
  const before = key && (await findPreviousReceipt(ports, scope, key));
  if (before) return before;

  const lines: ReceiptLine[] = [...received.lines, ...replacedLines, ...messages.flatMap(toCredentialLines)];
  const erasures: ErasureReceipt[] = [];
  if (options.origin !== "import") {
    const due = await eraseDue(ports, scope, {
      at: ports.clock().toISOString(),
      told: options.mayErase === false ? [] : messages,
      ...(options.signal ? { signal: options.signal } : {}),
    });
    lines.push(...due.lines);
    erasures.push(...due.receipts);
  }
  const ids = messages.map(({ id }) => id);
  let rest: readonly Message[] = messages;
  let last: StoredBatch;
  let waiting: readonly PendingConfirmation[] = [];
  do {
    last = await storeMessages(ports, scope, rest, options, { key, ids, lines, received });
    lines.push(...last.lines);
    waiting = [...waiting, ...last.waiting];
    rest = last.rest;
    if (last.erase) {
      const erased = await eraseRequested(ports, scope, last.erase, options.signal);
      lines.push(...erased.lines);
      erasures.push(...erased.receipts);
      waiting = [...waiting, ...erased.waiting];
      last = { ...last, revision: erased.revision };
    }
  } while (rest.length > 0);
  return {
    revision: last.revision,
    messages: ids,
    memories: lines,
    pending: last.pending,
    ...(erasures.length > 0 ? { erasures } : {}),
    ...(waiting.length > 0 ? { waiting } : {}),
  };
}

/** Options of storing: those of callers, and the import that the messages are a part of. */
interface StoreOptions extends RememberOptions {
  readonly importId?: string;
  /** How messages of an import were labelled and read before, by id. */
  readonly states?: ReadonlyMap<string, ImportedMessageState>;
}

/** The messages as they were labelled and read before. */
function withStates(messages: readonly Message[], states: StoreOptions["states"]): readonly Message[] {
  if (!states || states.size === 0) return messages;
  return messages.map((message) => {
    const { agent = message.agent, digest = message.digest, heard } = states.get(message.id) ?? {};
    return {
      ...message,
      digest,
      ...(message.agent === undefined && agent !== undefined ? { agent } : {}),
      ...(digest === "pending" && heard ? { heard } : {}),
    };
  });
}

/** A line for each credential that was not stored. */
function toCredentialLines({ content }: Message): ReceiptLine[] {
  return listRedactedKinds(content).map((what) => ({
    id: "",
    action: "refused",
    text: "",
    why: `a credential (${what}) was left out of the message`,
  }));
}

interface StoredBatch {
  readonly lines: readonly ReceiptLine[];
  readonly waiting: readonly PendingConfirmation[];
  readonly pending: number;
  /** The stored messages. */
  readonly kept: readonly Message[];
  readonly revision: number;
  /** The messages after a request to forget. */
  readonly rest: readonly Message[];
  readonly erase?: ExtractionResult["erase"];
}

/** Stores messages with the memories extracted from them, up to and including the first request to forget. */
async function storeMessages(
  ports: Ports,
  scope: Scope,
  messages: readonly Message[],
  options: StoreOptions,
  soFar: {
    key: IdempotencyKey | undefined;
    ids: readonly string[];
    lines: readonly ReceiptLine[];
    received: Pick<ReceivedInput, "attachments">;
  },
): Promise<StoredBatch> {
  const isRead = (options.extract ?? "now") === "now" && ports.extractor.local;
  const { result, revision } = await commitChange(ports, scope, async (state, at) => {
    const spokenAt = new Map<string, string>();
    const admitted = filterNew(messages, state.messages).map((message) => {
      const timedOne = withMonotonicTime(message, state);
      if (timedOne.at !== message.at) spokenAt.set(message.id, message.at);
      return redactErased(ports, scope, timedOne, state.tombstones);
    });
    const fresh = admitted.map(({ message }) => message);
    const extraction: ExtractionResult = isRead
      ? await extractMessages(ports, {
          state,
          at,
          messages: fresh,
          spokenAt,
          mayErase: options.origin !== "import",
        })
      : { messages: fresh, memories: [], links: [], liftedTombstones: [], lines: [], waiting: [] };
    // A request to forget is executed before it is reported.
    const left = isRead ? extraction.messages.filter(({ heard }) => heard) : fresh;
    const pending = state.pending + countPending(left);
    const rest = fresh.slice(extraction.messages.length);
    const kept = await admitAttachments(ports, scope, extraction.messages, soFar.received.attachments);
    const lines = [...kept.lines, ...extraction.lines];
    const result = {
      lines,
      waiting: extraction.waiting,
      pending,
      rest,
      kept: kept.messages,
      ...(extraction.erase ? { erase: extraction.erase } : {}),
    };
    if (extraction.messages.length === 0) return { result };
    const receipt =
      soFar.key && rest.length === 0
        ? toStoredReceipt(
            soFar.key,
            { messages: soFar.ids, memories: [...soFar.lines, ...lines], pending },
            extraction.memories,
          )
        : undefined;
    return {
      draft: {
        ...toCause(options),
        messages: kept.messages,
        ...(kept.attachments.length > 0 ? { attachments: kept.attachments } : {}),
        memories: extraction.memories,
        links: extraction.links,
        units: await createSearchUnits(
          ports,
          extraction.messages,
          selectReworded(state, extraction.memories),
          options.signal,
        ),
        liftTombstones: [
          ...new Set([...extraction.liftedTombstones, ...collectLifted(admitted, extraction)]),
        ],
        ...(receipt ? { receipt } : {}),
      },
      result,
    };
  });
  if (options.origin !== "import") appendTurns(ports, scope, result.kept, revision);
  ports.costs?.recordTurns(scope, result.kept.length);
  return { ...result, revision };
}

function toCause({ origin, importId }: StoreOptions): Pick<ChangeSet, "cause" | "importId"> {
  if (origin !== "import") return { cause: "remember" };
  return importId === undefined ? { cause: "import" } : { cause: "import", importId };
}

/** A message without a time gets the time of storing, but not before the user's last message. */
function withMonotonicTime(message: Message, state: UserState): Message {
  const storedAt = clampToStoredTime(state, message.storedAt);
  if (storedAt === message.storedAt) return message;
  return { ...message, storedAt, at: message.at === message.storedAt ? storedAt : message.at };
}

/** The tombstones that the stored messages lift. A request to forget names what is to stay away, and lifts none. */
function collectLifted(
  admitted: readonly ScreenedMessage[],
  { messages, erase }: Pick<ExtractionResult, "messages" | "erase">,
): string[] {
  return admitted
    .slice(0, messages.length)
    .flatMap(({ message, liftedTombstones: lifted }) => (message.id === erase?.message.id ? [] : lifted));
}

/** The messages that are not stored yet; of two with the same id in one batch, the first. */
function filterNew(messages: readonly Message[], stored: ReadonlyMap<string, Message>): Message[] {
  const ids = new Set<string>();
  return messages.filter(({ id }) => {
    if (ids.has(id) || stored.has(id)) return false;
    ids.add(id);
    return true;
  });
}

/** The memories with new versions whose text changed: they need new search units. */
export function selectReworded(state: UserState, versions: readonly Memory[]): Memory[] {
  const newest = new Map(versions.map((memory) => [memory.id, memory]));
  return [...newest.values()].filter(({ id, text }) => state.memories.get(id)?.text !== text);
}

function countPending(messages: Iterable<Message>): number {
  let count = 0;
  for (const message of messages) if (message.digest === "pending" && !message.undone) count += 1;
  return count;
}
