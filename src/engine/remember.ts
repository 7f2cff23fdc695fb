import type { Memory } from "../domain/memory.ts";
import type { Message } from "../domain/message.ts";
import type { ErasureReceipt, Receipt, ReceiptLine, Waiting } from "../domain/receipt.ts";
import type { Scope } from "../domain/scope.ts";
import { credentialsLeftOut } from "../domain/secrets.ts";
import { type Admitted, withoutBarred } from "./barred.ts";
import { noteTurns } from "./beside/short-term.ts";
import { change, notBefore } from "./change.ts";
import { type Digested, digest } from "./digest.ts";
import { forgetAsked } from "./forget.ts";
import { answeredBefore, type Key, keptReceipt, keyOf } from "./idempotency.ts";
import type { Ports } from "./ports.ts";
import type { RememberOptions } from "./surface.ts";
import { type RememberInput, takeMessagesInSlices } from "./take-messages.ts";
import { unitsOf } from "./units.ts";
import type { UserState } from "./user-state.ts";

/**
 * Takes in what was said: verbatim first, meaning after. The messages, what is understood from them, and the search
 * units are one change-set. A message whose id is there already is the same message and changes nothing.
 *
 * A request to forget ends its change-set and is carried out in one of its own, so that what is said after it builds
 * on the erasure. Until then its message waits as pending work, and a crash in between loses no request.
 */
export async function remember(
  ports: Ports,
  scope: Scope,
  input: RememberInput,
  options: RememberOptions = {},
): Promise<Receipt> {
  options.signal?.throwIfAborted();
  const { messages, lines: replacedLines } = await takeMessagesInSlices(ports, scope, input, options);
  const key =
    options.idempotencyKey === undefined
      ? undefined
      : keyOf(options.idempotencyKey, [scope, input, options.session]);
  const before = key && (await answeredBefore(ports, scope, key));
  if (before) return before;

  const lines: ReceiptLine[] = [...replacedLines, ...messages.flatMap(leftOut)];
  const erasures: ErasureReceipt[] = [];
  const ids = messages.map(({ id }) => id);
  let rest: readonly Message[] = messages;
  let last: Stored;
  let waiting: readonly Waiting[] = [];
  do {
    last = await store(ports, scope, rest, options, { key, ids, lines });
    lines.push(...last.lines);
    waiting = last.waiting;
    rest = last.rest;
    if (last.erase) {
      const erased = await forgetAsked(ports, scope, last.erase, options.signal);
      lines.push(...erased.lines);
      erasures.push(...erased.receipts);
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

/** A line for each credential that was not stored. */
function leftOut({ content }: Message): ReceiptLine[] {
  return credentialsLeftOut(content).map((what) => ({
    id: "",
    action: "refused",
    text: "",
    why: `a credential (${what}) was left out of the message`,
  }));
}

interface Stored {
  readonly lines: readonly ReceiptLine[];
  readonly waiting: readonly Waiting[];
  readonly pending: number;
  /** The messages that were stored. */
  readonly kept: readonly Message[];
  readonly revision: number;
  /** The messages after a request to forget. */
  readonly rest: readonly Message[];
  readonly erase?: Digested["erase"];
}

/** Stores messages with what is understood from them, up to and with the first that asks to forget something. */
async function store(
  ports: Ports,
  scope: Scope,
  messages: readonly Message[],
  options: RememberOptions,
  soFar: { key: Key | undefined; ids: readonly string[]; lines: readonly ReceiptLine[] },
): Promise<Stored> {
  const isRead = (options.extract ?? "now") === "now" && ports.extractor.local;
  const { result, revision } = await change(ports, scope, async (state, at) => {
    const spokenAt = new Map<string, string>();
    const admitted = newOnes(messages, state.messages).map((message) => {
      const timedOne = timed(message, state);
      if (timedOne.at !== message.at) spokenAt.set(message.id, message.at);
      return withoutBarred(ports.secret, scope, timedOne, state.tombstones);
    });
    const fresh = admitted.map(({ message }) => message);
    const digested: Digested = isRead
      ? await digest(ports, { state, at, messages: fresh, spokenAt, mayErase: options.origin !== "import" })
      : { messages: fresh, memories: [], lifted: [], lines: [], waiting: [] };
    // A request to forget is carried out before anybody is told of it.
    const left = isRead ? digested.messages.filter(({ heard }) => heard) : fresh;
    const pending = state.pending + countPending(left);
    const rest = fresh.slice(digested.messages.length);
    const result = {
      lines: digested.lines,
      waiting: digested.waiting,
      pending,
      rest,
      kept: digested.messages,
      ...(digested.erase ? { erase: digested.erase } : {}),
    };
    if (digested.messages.length === 0) return { result };
    const receipt =
      soFar.key && rest.length === 0
        ? keptReceipt(
            soFar.key,
            { messages: soFar.ids, memories: [...soFar.lines, ...digested.lines], pending },
            digested.memories,
          )
        : undefined;
    return {
      draft: {
        cause: options.origin === "import" ? "import" : "remember",
        messages: digested.messages,
        memories: digested.memories,
        units: await unitsOf(ports, digested.messages, reworded(state, digested.memories), options.signal),
        liftTombstones: [...new Set([...digested.lifted, ...liftedBy(admitted, digested.messages.length)])],
        ...(receipt ? { receipt } : {}),
      },
      result,
    };
  });
  if (options.origin !== "import") noteTurns(ports, scope, result.kept, revision);
  ports.costs?.stored(scope, result.kept.length);
  return { ...result, revision };
}

/** A message that names no time was said when it is stored, and not before what the user said last. */
function timed(message: Message, state: UserState): Message {
  const storedAt = notBefore(state, message.storedAt);
  if (storedAt === message.storedAt) return message;
  return { ...message, storedAt, at: message.at === message.storedAt ? storedAt : message.at };
}

/** What the messages that are stored now lift. */
function liftedBy(admitted: readonly Admitted[], stored: number): string[] {
  return admitted.slice(0, stored).flatMap(({ lifted }) => lifted);
}

/** The messages that are not stored yet; of two with the same id in one batch, the first. */
function newOnes(messages: readonly Message[], stored: ReadonlyMap<string, Message>): Message[] {
  const seen = new Set<string>();
  return messages.filter(({ id }) => {
    if (seen.has(id) || stored.has(id)) return false;
    seen.add(id);
    return true;
  });
}

/** Of memories with new versions, those whose text is another one than before: they need new search units. */
export function reworded(state: UserState, versions: readonly Memory[]): Memory[] {
  const newest = new Map(versions.map((memory) => [memory.id, memory]));
  return [...newest.values()].filter(({ id, text }) => state.memories.get(id)?.text !== text);
}

function countPending(messages: Iterable<Message>): number {
  let count = 0;
  for (const message of messages) if (message.digest === "pending" && !message.undone) count += 1;
  return count;
}
