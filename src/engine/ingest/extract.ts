import type { MemoryLink } from "../../domain/change-set.ts";
import type { Memory } from "../../domain/memory.ts";
import type { Message } from "../../domain/message.ts";
import {
  ERASURE_REFUSED,
  NOTHING_TO_ERASE,
  type PendingConfirmation,
  type ReceiptLine,
} from "../../domain/receipt.ts";
import { extractTerms } from "../../domain/search/search-terms.ts";
import { yieldToEventLoop } from "../../domain/time-slicing.ts";
import type { EraseProposal, Proposal } from "../../ports/language/extractor.ts";
import { selectNewLinks } from "../associations/links.ts";
import { createMemoryDraft, type MemoryDraft } from "../change-set.ts";
import { wasAskedAbout } from "../erase/asked-content.ts";
import { type AssessedRequest, assessRequest, isLikelyRequest } from "../erase/assess-request.ts";
import { isDelayed, toCommitment } from "../erase/delayed-erasures.ts";
import type { RequestedErasure } from "../erase/requests.ts";
import type { Ports } from "../ports.ts";
import { rowOfMemory, type SearchIndex } from "../search-index/search-index.ts";
import { termWeightOf as weightOf } from "../search-index/word-index.ts";
import type { UserState } from "../user-state/user-state.ts";
import { findConfirmedRequest, getHeldSweeps, needsConfirmation, toWaiting } from "./confirmations.ts";
import { type DecisionContext, decide } from "./decide.ts";
import { inspectMessage, isUserAuthored } from "./provenance.ts";

/** Turns before a message that an extractor sees. */
export const EARLIER_TURNS = 12;
/** Turns searched for them: if other sessions came between, older turns of the session are long past. */
const MAX_LOOKBACK = 2000;

const NO_MOVED_TIMES: ReadonlyMap<string, string> = new Map();

/** The rules never wait for I/O, so their slices are limited to this, in an import of thousands too. */
const MAX_SLICE_MS = 10;

/** The result of reading messages. */
export interface ExtractionResult {
  /**
   * The messages read, marked `done`, or `heard` if a model is to read them too. A request to forget stays
   * `pending` until it is executed.
   */
  readonly messages: readonly Message[];
  /** New versions of memories, in order. */
  readonly memories: readonly Memory[];
  /** New associations. */
  readonly links: readonly MemoryLink[];
  /** Hashes of tombstones that the user's words lifted. */
  readonly liftedTombstones: readonly string[];
  readonly lines: readonly ReceiptLine[];
  /** Requests that wait for confirmation. */
  readonly waiting: readonly PendingConfirmation[];
  /** Requests to forget in the last message read; they end the reading. */
  readonly erase?: RequestedErasure;
}

/**
 * Reads messages in order and decides on the extractor's proposals, up to and including the first message
 * with a request to forget. Writes nothing.
 */
export async function extractMessages(
  ports: Pick<
    Ports,
    | "extractor"
    | "modelExtractor"
    | "ids"
    | "secret"
    | "meter"
    | "promptGuard"
    | "vocabulary"
    | "replies"
    | "forgetRequests"
    | "store"
  >,
  input: {
    state: UserState;
    at: string;
    messages: readonly Message[];
    /** The time at which a message arrived that is ordered after later ones: "tomorrow" is relative to it. */
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
    links: [],
  };
  const extracted: Message[] = [];
  const lines: ReceiptLine[] = [];
  const waiting: PendingConfirmation[] = [];
  const result = { messages: extracted, lines, waiting, memories: draft.versions };
  const end = () => ({
    links: selectNewLinks(state.links, deciding.links ?? []),
    liftedTombstones: [...deciding.liftedTombstones],
  });
  const sessions = createSessionTails(state);
  let sliceStart = performance.now();
  for (const message of input.messages) {
    input.signal?.throwIfAborted();
    if (performance.now() - sliceStart > MAX_SLICE_MS) {
      await yieldToEventLoop();
      sliceStart = performance.now();
    }
    const earlier = sessions.before(message);
    const isAllowed = mayErase && mayAskToErase(message);
    const spokenAt = input.spokenAt ?? NO_MOVED_TIMES;
    const hearing = { state, deciding, message, earlier, mayErase: isAllowed, spokenAt, extracted };
    const read = await extractMessage(ports, hearing, input.signal);
    lines.push(...read.refused);
    const requests = read.proposals.filter(isErasure);
    lines.push(
      ...read.proposals.flatMap((proposal) =>
        proposal.propose === "erase" ? [] : decide(ports, read.deciding, proposal, read.message),
      ),
    );
    waiting.push(...read.waiting);
    if (requests.length > 0 || read.hasRest) {
      extracted.push(read.message === message ? message : { ...message, digest: "done" });
      return { ...result, ...end(), erase: toRequestedErasure(message, read, requests) };
    }
    extracted.push(message.digest === "pending" ? markExtracted(ports, message, earlier) : message);
    sessions.add(message);
  }
  return { ...result, ...end() };
}

/** Whether a message may have something erased. An import erases nothing, whenever its messages are read. */
function mayAskToErase({ role, mayErase, origin }: Message): boolean {
  return role === "user" && mayErase !== false && origin !== "import";
}

function toRequestedErasure(
  message: Message,
  read: MessageExtraction,
  proposals: readonly EraseProposal[],
): RequestedErasure {
  return {
    message: read.message,
    proposals,
    ...(read.message === message ? {} : { isAgreed: true }),
    ...(read.hasRest ? { hasRest: true } : {}),
    ...(read.items ? { items: read.items } : {}),
  };
}

/** Marks a message that was read within the write: done, or left for the model if it may find something. */
function markExtracted(
  { modelExtractor, meter }: Pick<Ports, "modelExtractor" | "meter">,
  message: Message,
  earlier: readonly Message[],
): Message {
  const isSpoken = message.role === "user" && message.content !== "";
  if (!modelExtractor || !isSpoken) return { ...message, digest: "done" };
  if (modelExtractor.filter?.accepts(message, earlier) ?? true) return { ...message, heard: true };
  meter?.count("memory_understanding_spared_total");
  return { ...message, digest: "done" };
}

/** A message in its conversation, and the context of the decision. */
interface ExtractionInput {
  readonly state: UserState;
  readonly deciding: DecisionContext;
  readonly message: Message;
  readonly earlier: readonly Message[];
  readonly mayErase: boolean;
  readonly spokenAt: ReadonlyMap<string, string>;
  /** The messages of this write that were read before. */
  readonly extracted: readonly Message[];
}

interface MessageExtraction {
  readonly message: Message;
  readonly proposals: readonly Proposal[];
  readonly deciding: DecisionContext;
  readonly waiting: readonly PendingConfirmation[];
  readonly refused: readonly ReceiptLine[];
  /** True if the message confirms the rest of a request that was carried out in part. */
  readonly hasRest?: boolean;
  /** The items of a preview that a confirmation chose. */
  readonly items?: readonly number[];
}

/**
 * The proposals of a message, without those that wait for confirmation. If the message is that confirmation,
 * the proposals that waited.
 */
async function extractMessage(
  ports: Pick<
    Ports,
    | "extractor"
    | "modelExtractor"
    | "promptGuard"
    | "forgetRequests"
    | "secret"
    | "store"
    | "vocabulary"
    | "replies"
  >,
  hearing: ExtractionInput,
  signal: AbortSignal | undefined,
): Promise<MessageExtraction> {
  const { deciding, message, earlier, mayErase } = hearing;
  const confirmed = findConfirmedRequest(message, earlier, ports);
  if (confirmed && mayErase) {
    const before = confirmed.message;
    const then = earlier.slice(0, earlier.indexOf(before));
    const earlierProposals = await proposeFor(ports, { ...hearing, message: before, earlier: then }, signal);
    const swept = getHeldSweeps(ports.modelExtractor, hearing.state.scope, before.id);
    const assessed = await assessAll(ports, hearing, before, earlierProposals);
    const proposals = [...earlierProposals, ...swept].filter(
      (one) => needsConfirmation(one, deciding, before) || assessed.get(one)?.action === "ask",
    );
    const hasRest = await wasAskedAbout(ports, hearing.state.scope, before.id);
    if (proposals.length > 0 || hasRest) {
      return {
        message: before,
        proposals: proposals.map((one) => storeForLater(ports, one, true)),
        deciding: { ...deciding, isAgreed: true },
        waiting: [],
        refused: [],
        ...(hasRest ? { hasRest } : {}),
        ...(confirmed.items ? { items: confirmed.items } : {}),
      };
    }
  }
  const proposals = await proposeFor(ports, hearing, signal);
  const assessed = mayErase ? await assessAll(ports, hearing, message, proposals) : NOT_ASSESSED;
  const wide = mayErase ? proposals.filter((one) => needsConfirmation(one, deciding, message)) : [];
  const doubtful = [...assessed.values()].filter(({ action }) => action === "ask");
  return {
    message,
    // A proposal that would end too much is refused in `decide`, with its reason.
    proposals: proposals
      .filter(
        (one) =>
          one.propose !== "erase" ||
          (mayErase && !wide.includes(one) && assessed.get(one)?.action === "erase"),
      )
      .map((one) => storeForLater(ports, one, false)),
    deciding,
    waiting: [
      ...wide.map((one) => toWaiting(one, deciding, message, assessed.get(one)?.preview.memories)),
      ...doubtful.map(({ preview }) => ({ action: "erase" as const, ...preview })),
    ],
    refused: refusalsOf(message, proposals, [...assessed.values()]),
  };
}

/** Lines for a request by a caller who may not erase, and for requests that matched nothing. */
function refusalsOf(
  { mayErase }: Message,
  proposals: readonly Proposal[],
  assessed: readonly AssessedRequest[],
): ReceiptLine[] {
  const isRefused = mayErase === false && proposals.some((one) => isErasure(one) && isLikelyRequest(one));
  const isOnlyReported =
    assessed.some(({ action }) => action === "report") &&
    !assessed.some(({ action }) => action === "erase" || action === "ask");
  return [...(isRefused ? [ERASURE_REFUSED] : []), ...(isOnlyReported ? [NOTHING_TO_ERASE] : [])];
}

/** A request for a later time becomes a commitment; other proposals stay as they are. */
function storeForLater(
  ports: Pick<Ports, "forgetRequests">,
  proposal: Proposal,
  isConfirmed: boolean,
): Proposal {
  return proposal.propose === "erase" && isDelayed(proposal)
    ? toCommitment(ports, proposal, isConfirmed)
    : proposal;
}

const NOT_ASSESSED: ReadonlyMap<Proposal, AssessedRequest> = new Map();

/** What is to be done with each request to forget in a message. */
async function assessAll(
  ports: Pick<Ports, "forgetRequests" | "secret">,
  { state, deciding, extracted }: ExtractionInput,
  message: Message,
  proposals: readonly Proposal[],
): Promise<ReadonlyMap<Proposal, AssessedRequest>> {
  const requests = proposals.filter(isErasure);
  if (requests.length === 0) return NOT_ASSESSED;
  // What this write has read so far is not in the state yet.
  const messages = new Map(state.messages);
  for (const one of [...extracted, message]) if (!messages.has(one.id)) messages.set(one.id, one);
  const memories = new Map(state.memories);
  for (const one of deciding.draft.versions) memories.set(one.id, one);
  const seen = { ...state, messages, memories };
  const assessed = new Map<Proposal, AssessedRequest>();
  for (const one of requests) assessed.set(one, await assessRequest(ports, seen, message, one, requests));
  return assessed;
}

async function proposeFor(
  ports: Pick<Ports, "extractor" | "promptGuard">,
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
  if (proposals.length > 0) await inspectMessage(ports, message);
  return proposals.filter((one) => one.propose !== "erase" || isUserAuthored(ports, message, one));
}

function isErasure(proposal: { propose: string }): proposal is EraseProposal {
  return proposal.propose === "erase";
}

/** The last turns of each session, extended as messages are read. */
function createSessionTails(state: UserState): {
  before(message: Message): readonly Message[];
  add(message: Message): void;
} {
  const tails = new Map<string, Message[]>();
  const tail = (session: string | undefined): Message[] => {
    const key = session ?? "";
    let turns = tails.get(key);
    if (!turns) {
      turns = findLastTurns(state, session);
      tails.set(key, turns);
    }
    return turns;
  };
  return {
    // A message that is already stored (pending work) is not its own past.
    before: (message) =>
      tail(message.session).filter(
        (one) => one.id !== message.id && (message.turn === 0 || one.turn < message.turn),
      ),
    add(message) {
      const turns = tail(message.session);
      if (isMark(message) || turns.some(({ id }) => id === message.id)) return;
      turns.push(message);
      if (turns.length > EARLIER_TURNS) turns.shift();
    },
  };
}

/** Whether a message is a note of a program without words. It is not a turn of the conversation. */
function isMark({ role, content }: Message): boolean {
  return role === "system" && content === "";
}

/** The last turns of a session, found among the newest of all turns. */
function findLastTurns({ searchIndex, messages }: UserState, session: string | undefined): Message[] {
  const { count, columns, ids } = searchIndex.turns;
  const wanted = session === undefined ? -1 : searchIndex.names.find(session);
  const last: Message[] = [];
  if (wanted === undefined) return last;
  for (
    let turn = count - 1;
    turn >= Math.max(0, count - MAX_LOOKBACK) && last.length < EARLIER_TURNS;
    turn -= 1
  ) {
    if (columns.sessionId[turn] !== wanted) continue;
    const message = messages.get(ids.at(turn) ?? "");
    if (message && !message.undone && !isMark(message)) last.unshift(message);
  }
  return last;
}

/** Up to this many current memories, an extractor sees all of them. */
const MAX_SHOWN_WHOLE = 500;
const MAX_NEWEST = 60;
/** A word found in more texts than this does not distinguish memories. */
const COMMON_TERM_UNITS = 250;
/** Maximum number of units that share the most distinctive words. */
const MAX_RELATED = 120;
const MAX_TEXT_LENGTH = 8000;

/**
 * The current memories that a message may refer to, without quarantined ones, in stored order. Of few
 * memories, all. Of many, those that share a distinctive word with the message or the turns before it, those
 * that give a name, and the newest. So the cost of a write does not grow with the user's history.
 */
export function findKnownMemories(
  state: UserState,
  draft: MemoryDraft,
  message: Message,
  earlier: readonly Message[],
): readonly Memory[] {
  if (state.current.size <= MAX_SHOWN_WHOLE) return draft.current().filter(isShown);
  const texts = [...earlier.slice(-4), message]
    .map(({ content }) => content.slice(0, MAX_TEXT_LENGTH))
    .join("\n");
  const telling = [...new Set(extractTerms(texts))].filter(
    (term) => state.searchIndex.words.frequency(term) <= COMMON_TERM_UNITS,
  );
  const rows = new Set<number>(findNewestRows(state));
  for (const row of findRowsWithTerms(state.searchIndex, telling)) rows.add(row);
  for (const id of state.claims.findNamings()) rows.add(rowOfMemory(state.searchIndex, id));
  // Row numbers rise with the time of storing.
  const known = [...rows]
    .sort((one, other) => one - other)
    .flatMap((row) => draft.get(memoryIdAt(state.searchIndex, row)) ?? [])
    .filter(isShown);
  const isKnown = new Set(known);
  // A batch of an import may have made thousands: one pass for each message.
  for (const memory of draft.newest()) {
    if (isShown(memory) && !isKnown.has(memory)) known.push(memory);
  }
  return known;
}

/** An extractor never sees quarantined memories: it would extract them again. */
function isShown({ status, quarantined }: Memory): boolean {
  return status === "current" && !quarantined;
}

function memoryIdAt({ memoryIds }: SearchIndex, row: number): string {
  return memoryIds.at(row) ?? "";
}

/** The rows of the memories that share the most distinctive words. */
function findRowsWithTerms({ words, units }: SearchIndex, terms: readonly string[]): number[] {
  const { row: rowAt } = units.columns;
  const shared = new Map<number, number>();
  for (const term of terms) {
    const weight = weightOf(words, term);
    for (const { slots, from, to } of words.postings(term)) {
      for (let i = from; i < to; i += 1) {
        const row = rowAt[slots[i] as number] as number;
        if (row >= 0) shared.set(row, (shared.get(row) ?? 0) + weight);
      }
    }
  }
  const best = [...shared];
  if (best.length > MAX_RELATED) best.sort(([, one], [, other]) => other - one).length = MAX_RELATED;
  return best.map(([row]) => row);
}

/** The rows of the newest current memories. A scan of all memories would grow with the user's history. */
function findNewestRows({ searchIndex, current }: UserState): number[] {
  const rows: number[] = [];
  for (let row = searchIndex.memoryIds.count - 1; row >= 0 && rows.length < MAX_NEWEST; row -= 1) {
    if (current.has(memoryIdAt(searchIndex, row))) rows.push(row);
  }
  return rows;
}

/** Number of recently ended memories shown, and of rows searched for them. */
const MAX_ENDED = 80;
const ENDED_LOOKBACK = 2000;

/** The memories that ended and were stored last, newest first: statements may become true again. */
function findRecentlyEnded({ searchIndex }: UserState, draft: MemoryDraft): readonly Memory[] {
  const endedMemories: Memory[] = [];
  const last = searchIndex.memoryIds.count - 1;
  for (
    let row = last;
    row >= Math.max(0, last - ENDED_LOOKBACK) && endedMemories.length < MAX_ENDED;
    row -= 1
  ) {
    const memory = draft.get(memoryIdAt(searchIndex, row));
    if (memory?.status === "superseded") endedMemories.push(memory);
  }
  return endedMemories;
}
