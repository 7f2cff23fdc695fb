import type { Memory } from "../domain/memory.ts";
import type { Message } from "../domain/message.ts";
import type { PendingConfirmation, ReceiptLine } from "../domain/receipt.ts";
import type { EraseProposal, Proposal } from "../ports/extractor.ts";
import { type DecisionContext, decide } from "./decide.ts";
import { findKnownMemories, findRecentlyEnded } from "./known.ts";
import { createMemoryDraft } from "./memory-draft.ts";
import { yieldToEventLoop } from "./others-turn.ts";
import type { Ports } from "./ports.ts";
import { getHeldSweeps } from "./understand/sweeps.ts";
import type { UserState } from "./user-state.ts";
import { findConfirmedRequest, needsConfirmation, toWaiting } from "./waiting.ts";
import { inspectMessage, isUserAuthored } from "./ward.ts";

/** How many turns before a message an extractor is shown. */
const EARLIER_TURNS = 12;
/** So far back are they looked for: of a session that others came between, the rest is long past. */
const MAX_LOOKBACK = 2000;

const NO_MOVED_TIMES: ReadonlyMap<string, string> = new Map();

/** The rules never wait for anything: so long do they hold up everybody else, in an import of thousands too. */
const MAX_SLICE_MS = 10;

/** What reading messages came to. */
export interface ExtractionResult {
  /**
   * The messages read, marked `done`, or `heard` where a model is to read them, too; one that asks to forget stays
   * `pending` until that is carried out.
   */
  readonly messages: readonly Message[];
  /** New versions of memories, in order. */
  readonly memories: readonly Memory[];
  /** Hashes of tombstones that the user's words lifted. */
  readonly liftedTombstones: readonly string[];
  readonly lines: readonly ReceiptLine[];
  /** Requests that wait for a yes. */
  readonly waiting: readonly PendingConfirmation[];
  /** The requests of the last message read to forget something; they end the reading. */
  readonly erase?: { readonly message: Message; readonly proposals: readonly EraseProposal[] };
}

/**
 * Reads messages in order and decides on what the extractor proposes, up to and with the first message that asks
 * to forget something. Nothing is written here.
 */
export async function extractMessages(
  ports: Pick<Ports, "extractor" | "modelExtractor" | "ids" | "secret" | "meter">,
  input: {
    state: UserState;
    at: string;
    messages: readonly Message[];
    /** What the clock said when a message came in that is ordered behind later ones: "tomorrow" counts from there. */
    spokenAt?: ReadonlyMap<string, string>;
    mayErase: boolean;
    signal?: AbortSignal;
  },
): Promise<ExtractionResult> {
  const { state, at, mayErase } = input;
  const draft = createMemoryDraft(state, at);
  const deciding: DecisionContext = {
    scope: state.scope,
    draft,
    tombstones: state.tombstones,
    liftedTombstones: new Set(),
  };
  const done: Message[] = [];
  const lines: ReceiptLine[] = [];
  const waiting: PendingConfirmation[] = [];
  const result = { messages: done, lines, waiting, memories: draft.versions };
  const sessions = createSessionTails(state);
  let held = performance.now();
  for (const message of input.messages) {
    input.signal?.throwIfAborted();
    if (performance.now() - held > MAX_SLICE_MS) {
      await yieldToEventLoop();
      held = performance.now();
    }
    const earlier = sessions.before(message);
    const isAllowed = mayErase && message.role === "user" && message.mayErase !== false;
    const spokenAt = input.spokenAt ?? NO_MOVED_TIMES;
    const hearing = { state, deciding, message, earlier, mayErase: isAllowed, spokenAt };
    const read = await extractMessage(ports, hearing, input.signal);
    lines.push(...read.refused);
    const requests = read.proposals.filter(isErasure);
    for (const proposal of read.proposals) {
      if (proposal.propose !== "erase") lines.push(...decide(ports, read.deciding, proposal, read.message));
    }
    waiting.push(...read.waiting);
    if (requests.length > 0) {
      done.push(message);
      return {
        ...result,
        liftedTombstones: [...deciding.liftedTombstones],
        erase: { message, proposals: requests },
      };
    }
    done.push(message.digest === "pending" ? markExtracted(ports, message, earlier) : message);
    sessions.add(message);
  }
  return { ...result, liftedTombstones: [...deciding.liftedTombstones] };
}

/** A message that was read within the write: done, or left for the model, where it may have something for that. */
function markExtracted(
  { modelExtractor, meter }: Pick<Ports, "modelExtractor" | "meter">,
  message: Message,
  earlier: readonly Message[],
): Message {
  const isSpoken = message.role === "user" && message.content !== "";
  if (!modelExtractor || !isSpoken) return { ...message, digest: "done" };
  if (modelExtractor.wants?.(message, earlier) ?? true) return { ...message, heard: true };
  meter?.count("memory_understanding_spared_total");
  return { ...message, digest: "done" };
}

/** A message in its conversation, and what is decided with. */
interface ExtractionInput {
  readonly state: UserState;
  readonly deciding: DecisionContext;
  readonly message: Message;
  readonly earlier: readonly Message[];
  readonly mayErase: boolean;
  readonly spokenAt: ReadonlyMap<string, string>;
}

interface MessageExtraction {
  readonly message: Message;
  readonly proposals: readonly Proposal[];
  readonly deciding: DecisionContext;
  readonly waiting: readonly PendingConfirmation[];
  readonly refused: readonly ReceiptLine[];
}

/** What a message proposes: its own, without what waits for a yes; or, where it is that yes, what had waited. */
async function extractMessage(
  ports: Pick<Ports, "extractor" | "modelExtractor">,
  hearing: ExtractionInput,
  signal: AbortSignal | undefined,
): Promise<MessageExtraction> {
  const { deciding, message, earlier, mayErase } = hearing;
  const before = findConfirmedRequest(message, earlier);
  if (before && mayErase) {
    const then = earlier.slice(0, earlier.indexOf(before));
    const all = await proposeFor(ports, { ...hearing, message: before, earlier: then }, signal);
    const swept = getHeldSweeps(ports.modelExtractor, hearing.state.scope, before.id);
    const proposals = [...all, ...swept].filter((one) => needsConfirmation(one, deciding, before));
    if (proposals.length > 0) {
      return {
        message: before,
        proposals,
        deciding: { ...deciding, isAgreed: true },
        waiting: [],
        refused: [],
      };
    }
  }
  const proposals = await proposeFor(ports, hearing, signal);
  const wide = mayErase ? proposals.filter((one) => needsConfirmation(one, deciding, message)) : [];
  return {
    message: message,
    // What would end too much is refused where it is decided, with its reason.
    proposals: proposals.filter((one) => one.propose !== "erase" || (mayErase && !wide.includes(one))),
    deciding,
    waiting: wide.map((one) => toWaiting(one, deciding, message)),
    refused: message.mayErase === false && proposals.some(isErasure) ? [ERASURE_REFUSED] : [],
  };
}

const ERASURE_REFUSED: ReceiptLine = { id: "", action: "refused", text: "", why: "this key may not erase" };

async function proposeFor(
  ports: Pick<Ports, "extractor">,
  { state, deciding, message, earlier, spokenAt }: ExtractionInput,
  signal: AbortSignal | undefined,
): Promise<Proposal[]> {
  const { draft } = deciding;
  if (message.digest === "never" || message.content === "") return [];
  const reading = {
    messages: [{ ...message, at: spokenAt.get(message.id) ?? message.at }],
    earlier,
    known: findKnownMemories(state, draft, message, earlier),
    ended: () => findRecentlyEnded(state, draft),
  };
  const proposals = await ports.extractor.propose(reading, signal ? { signal } : {});
  if (proposals.length > 0) await inspectMessage(message);
  return proposals.filter((one) => one.propose !== "erase" || isUserAuthored(message, one));
}

function isErasure(proposal: { propose: string }): proposal is EraseProposal {
  return proposal.propose === "erase";
}

/** The last turns of each session, grown as messages are read. */
function createSessionTails(state: UserState): {
  before(message: Message): readonly Message[];
  add(message: Message): void;
} {
  const tails = new Map<string, Message[]>();
  const tail = (session: string | undefined): Message[] => {
    const key = session ?? "";
    let kept = tails.get(key);
    if (!kept) {
      kept = findLastTurns(state, session);
      tails.set(key, kept);
    }
    return kept;
  };
  return {
    // A message that is stored already (pending work) is not its own past.
    before: (message) =>
      tail(message.session).filter(
        (one) => one.id !== message.id && (message.turn === 0 || one.turn < message.turn),
      ),
    add(message) {
      const kept = tail(message.session);
      if (kept.some(({ id }) => id === message.id)) return;
      kept.push(message);
      if (kept.length > EARLIER_TURNS) kept.shift();
    },
  };
}

/** The last turns of a session, looked for among the newest of all. */
function findLastTurns({ searchIndex: block, messages }: UserState, session: string | undefined): Message[] {
  const { count, columns, ids } = block.turns;
  const wanted = session === undefined ? -1 : block.names.find(session);
  const last: Message[] = [];
  if (wanted === undefined) return last;
  for (
    let turn = count - 1;
    turn >= Math.max(0, count - MAX_LOOKBACK) && last.length < EARLIER_TURNS;
    turn -= 1
  ) {
    if (columns.sessionId[turn] !== wanted) continue;
    const message = messages.get(ids.at(turn) ?? "");
    if (message && !message.undone) last.unshift(message);
  }
  return last;
}
