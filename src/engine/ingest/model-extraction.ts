import type { MemoryLink } from "../../domain/change-set.ts";
import { isSameSlot, isValueContained, type Memory, toClaimKey } from "../../domain/memory.ts";
import type { Message } from "../../domain/message.ts";
import type { ReceiptLine } from "../../domain/receipt.ts";
import { type Scope, toScopeKey } from "../../domain/scope.ts";
import { hasSameWords } from "../../domain/search/search-terms.ts";
import { isMemoryError, MemoryError } from "../../errors.ts";
import type { AddProposal, EndProposal, Proposal } from "../../ports/language/extractor.ts";
import { selectNewLinks } from "../associations/links.ts";
import { commitChange, createMemoryDraft, type MemoryDraft, runInUserQueue } from "../change-set.ts";
import { countMemoryChanges } from "../instrumentation.ts";
import type { Ports } from "../ports.ts";
import { createSearchUnits } from "../search-index/search-units.ts";
import type { UserState } from "../user-state/user-state.ts";
import { holdSweep } from "./confirmations.ts";
import { type DecisionContext, decide, MAX_REMOVALS } from "./decide.ts";
import { findKnownMemories } from "./extract.ts";
import { selectReworded } from "./remember.ts";

/** The result of a model's reading. */
interface ModelExtractionResult {
  /** Number of messages read. */
  readonly read: number;
  readonly lines: readonly ReceiptLine[];
  /** Why the remaining messages stay pending. */
  readonly problem?: Error;
}

/** Tries for a message whose answer cannot be used, during this process. */
const MAX_TRIES = 3;

/** Failed tries by user and message id; an exhausted message waits for another start. */
const failedTries = new WeakMap<object, Map<string, number>>();

/**
 * Lets a model read its pending messages, in batches. It is called outside any change. Its proposals are
 * decided on the state after its answer, and again on a conflict, without another call. One reading per user
 * at a time. Gives the number read and the problem, if any; throws only the signal's reason.
 */
export async function extractPendingByModel(
  ports: Ports,
  scope: Scope,
  signal?: AbortSignal,
): Promise<ModelExtractionResult> {
  const { modelExtractor } = ports;
  if (!modelExtractor) return { read: 0, lines: [] };
  return runInUserQueue(modelExtractor, scope, async () => {
    const lines: ReceiptLine[] = [];
    const unread = new Set<string>();
    let read = 0;
    let place = 0;
    try {
      for (;;) {
        signal?.throwIfAborted();
        const batch = findNextBatch(await ports.states.of(scope), place, findExcluded(ports, scope, unread));
        if (!batch) break;
        place = batch.place;
        const understood = await extractBatch(ports, scope, batch, unread, signal);
        lines.push(...understood.lines);
        read += understood.read;
      }
    } catch (error) {
      signal?.throwIfAborted();
      if (!isMemoryError(error)) throw error;
      return { read, lines, problem: error };
    }
    const { messages } = await ports.states.of(scope);
    const waiting = [...findExcluded(ports, scope, unread)].flatMap((id) => messages.get(id) ?? []);
    const left = waiting.filter(isWaitingForModel).length;
    return left === 0 ? { read, lines } : { read, lines, problem: createUnusableError(left) };
  });
}

function createUnusableError(count: number): MemoryError {
  const what = count === 1 ? "1 message" : `${count} messages`;
  return new MemoryError("unsupported", `the model gave no usable answer about ${what}; it stays pending.`);
}

/** Messages that are not tried now: failed in this run, or too often before. */
function findExcluded({ store }: Ports, scope: Scope, unread: ReadonlySet<string>): Set<string> {
  const prefix = `${toScopeKey(scope)} `;
  const tired = [...(failedTries.get(store) ?? [])].filter(
    ([key, tries]) => tries >= MAX_TRIES && key.startsWith(prefix),
  );
  return new Set([...unread, ...tired.map(([key]) => key.slice(prefix.length))]);
}

function noteFailedTry({ store }: Ports, scope: Scope, id: string): void {
  const tries = failedTries.get(store) ?? new Map<string, number>();
  failedTries.set(store, tries);
  const key = `${toScopeKey(scope)} ${id}`;
  tries.set(key, (tries.get(key) ?? 0) + 1);
}

async function extractBatch(
  ports: Ports,
  scope: Scope,
  batch: ModelBatch,
  unread: Set<string>,
  signal: AbortSignal | undefined,
): Promise<{ read: number; lines: readonly ReceiptLine[] }> {
  const { messages } = batch;
  const call = { scope, ...(signal ? { signal } : {}) };
  const proposals = await ports.modelExtractor?.propose(
    {
      ...batch,
      unread(id, why) {
        ports.meter?.count("memory_understanding_unread_total", { why });
        // A model that refuses once refuses again: the words are stored, and found as they were said.
        if (why === "refused") return;
        unread.add(id);
        noteFailedTry(ports, scope, id);
      },
    },
    call,
  );
  const answered = messages.filter(({ id }) => !unread.has(id));
  if (answered.length === 0) return { read: 0, lines: [] };
  const lines = await commitProposals(ports, scope, { answered, proposals: proposals ?? [] }, signal);
  if (ports.meter) countMemoryChanges(ports.meter, lines);
  return { read: answered.length, lines };
}

interface BatchProposals {
  readonly answered: readonly Message[];
  readonly proposals: readonly Proposal[];
}

async function commitProposals(
  ports: Ports,
  scope: Scope,
  { answered, proposals }: BatchProposals,
  signal: AbortSignal | undefined,
): Promise<readonly ReceiptLine[]> {
  const { result } = await commitChange(ports, scope, async (state, at) => {
    // Another process may have read or undone one meanwhile.
    const still = answered.filter(({ id }) => {
      const now = state.messages.get(id);
      return now !== undefined && isWaitingForModel(now);
    });
    if (still.length === 0) return { result: [] };
    const {
      memories,
      links,
      liftedTombstones: lifted,
      lines,
      sweeps: sweeping,
    } = decideModelProposals(ports, {
      state,
      at,
      messages: still,
      proposals,
    });
    for (const sweep of sweeping) holdSweep(ports.modelExtractor, scope, sweep);
    return {
      draft: {
        cause: "digest",
        extractor: "model",
        digests: still.map(({ id }) => ({ id, digest: "done" as const })),
        memories,
        links,
        units: await createSearchUnits(ports, [], selectReworded(state, memories), signal),
        liftTombstones: lifted,
      },
      result: lines,
    };
  });
  return result;
}

/** Messages that a model reads together, and their context. */
interface ModelBatch {
  /** From one session, oldest first. */
  readonly messages: readonly Message[];
  /** The turns before and between them. */
  readonly earlier: readonly Message[];
  readonly known: readonly Memory[];
  /** Where the search for the next batch begins: the position of its first message among all turns. */
  readonly place: number;
}

/**
 * Limits of a batch: pending messages, their characters, and turns of the session from the first to the last.
 */
const MAX_MESSAGES = 24;
const MAX_CHARACTERS = 12_000;
const MAX_TURNS = 60;
/** Turns of the session before the batch, and how far back to look for them. */
const EARLIER_TURNS = 4;
const MAX_LOOKBACK = 200;

/** Whether a message waits for a model. */
function isWaitingForModel({ digest, heard, undone, content }: Message): boolean {
  return digest === "pending" && heard === true && !undone && content !== "";
}

/**
 * The oldest messages of one session that wait for a model; undefined if none waits except the excluded ones.
 */
function findNextBatch(state: UserState, from: number, leftOut: ReadonlySet<string>): ModelBatch | undefined {
  const waits = (one: Message): boolean => isWaitingForModel(one) && !leftOut.has(one.id);
  const place = findFirstTurn(state, from, waits);
  const first = messageAtTurn(state, place);
  if (!first) return undefined;
  const together = collectFollowing(state, place, first.session, waits);
  const messages = together.filter(waits);
  const last = messages.at(-1)?.turn ?? 0;
  const between = together.filter((one) => !waits(one) && one.turn < last);
  const earlier = [...collectPreceding(state, place, first.session), ...between];
  return { messages, earlier, known: findKnownForBatch(state, messages), place };
}

function messageAtTurn({ searchIndex, messages }: UserState, place: number): Message | undefined {
  return messages.get(searchIndex.turns.ids.at(place) ?? "");
}

function findFirstTurn(state: UserState, from: number, waits: (one: Message) => boolean): number {
  const { count } = state.searchIndex.turns;
  for (let place = from; place < count; place += 1) {
    const one = messageAtTurn(state, place);
    if (one && waits(one)) return place;
  }
  return count;
}

/** The turns of the session after the first, as many as fit into one batch. */
function collectFollowing(
  state: UserState,
  place: number,
  session: string | undefined,
  waits: (one: Message) => boolean,
): Message[] {
  const turns: Message[] = [];
  let waiting = 0;
  let characters = 0;
  for (let i = place; i < Math.min(state.searchIndex.turns.count, place + MAX_TURNS); i += 1) {
    const one = messageAtTurn(state, i);
    if (!one || one.session !== session || one.undone) continue;
    if (waits(one)) {
      waiting += 1;
      characters += one.content.length;
      if (waiting > MAX_MESSAGES || (waiting > 1 && characters > MAX_CHARACTERS)) break;
    }
    turns.push(one);
  }
  return turns;
}

function collectPreceding(state: UserState, place: number, session: string | undefined): Message[] {
  const turns: Message[] = [];
  for (let i = place - 1; i >= Math.max(0, place - MAX_LOOKBACK) && turns.length < EARLIER_TURNS; i -= 1) {
    const one = messageAtTurn(state, i);
    if (one && one.session === session && !one.undone) turns.unshift(one);
  }
  return turns;
}

/** The memories that the messages may refer to. */
function findKnownForBatch(state: UserState, messages: readonly Message[]): readonly Memory[] {
  const [first] = messages;
  if (!first) return [];
  const joined = { ...first, content: messages.map(({ content }) => content).join("\n") };
  return findKnownMemories(state, createMemoryDraft(state, first.at), joined, []);
}

/** The decisions on a model's proposals. */
interface ModelDecision {
  readonly memories: readonly Memory[];
  readonly links: readonly MemoryLink[];
  readonly liftedTombstones: readonly string[];
  readonly lines: readonly ReceiptLine[];
  /** Refused because they would end too much at once; they wait for confirmation. */
  readonly sweeps: readonly EndProposal[];
}

/**
 * Decides on a model's proposals for messages, as they were when it read them. Deterministic, and writes
 * nothing: if another writer was faster, it is decided again.
 */
function decideModelProposals(
  ports: Pick<Ports, "ids" | "secret" | "promptGuard" | "vocabulary">,
  input: {
    state: UserState;
    at: string;
    messages: readonly Message[];
    proposals: readonly Proposal[];
  },
): ModelDecision {
  const { state, at, messages, proposals } = input;
  const draft = createMemoryDraft(state, at);
  const deciding: DecisionContext = {
    scope: state.scope,
    draft,
    tombstones: state.tombstones,
    liftedTombstones: new Set(),
    links: [],
  };
  const memoriesByMessage = groupBySourceMessage(state, new Set(messages.map(({ id }) => id)));
  const decidedOn = (message: Message, one: Proposal): ReceiptLine[] => {
    const proposal =
      one.propose === "add" && isAlreadyExtracted(memoriesByMessage, draft, one) ? toEndProposal(one) : one;
    if (!proposal) return [];
    if (proposal.propose === "erase") return [MODEL_ERASURE_REFUSED];
    const now = state.messages.get(message.id);
    return decide(ports, deciding, relocateQuote(now, message, proposal), now);
  };
  const lines: ReceiptLine[] = [];
  const sweeping: EndProposal[] = [];
  for (const message of messages) {
    const messageProposals = limitRemovals(proposals.filter((one) => one.message === message.id));
    lines.push(...messageProposals.flatMap((one) => decidedOn(message, one)));
    sweeping.push(...messageProposals.filter(isSweep));
  }
  return {
    memories: draft.versions,
    links: selectNewLinks(state.links, deciding.links ?? []),
    liftedTombstones: [...deciding.liftedTombstones],
    lines,
    sweeps: sweeping,
  };
}

function isSweep(proposal: Proposal): proposal is EndProposal {
  return isEnd(proposal) && endedIdsOf(proposal).length > MAX_REMOVALS;
}

/** Ends what a statement replaces, if the statement itself already exists. */
function toEndProposal({ message, start, end, replaces }: AddProposal): EndProposal | undefined {
  return replaces && { propose: "supersede", message, start, end, target: replaces };
}

/**
 * Requests to forget are executed within the write, by rules. A model's proposal to erase is always refused.
 */
const MODEL_ERASURE_REFUSED: ReceiptLine = {
  id: "",
  action: "refused",
  text: "",
  why: "a model erases nothing; say what to forget",
};

/** Words may have been erased from a message since it was read; then a quote has moved, or is gone. */
function relocateQuote<One extends AddProposal | EndProposal>(
  now: Message | undefined,
  read: Message,
  proposal: One,
): One {
  if (!now || now.content === read.content || proposal.start < 0) return proposal;
  const start = now.content.indexOf(read.content.slice(proposal.start, proposal.end));
  return { ...proposal, start, end: start < 0 ? -1 : start + proposal.end - proposal.start };
}

/**
 * Removals proposed one by one for a message count together. If there are too many, all are refused, and its
 * additions replace nothing.
 */
function limitRemovals(proposals: readonly Proposal[]): readonly Proposal[] {
  const ended = new Set(proposals.flatMap(endedIdsOf));
  if (ended.size <= MAX_REMOVALS) return proposals;
  const ends = proposals.filter((one): one is EndProposal => isEnd(one));
  const [first] = ends;
  const together = first ? [{ ...first, target: { ids: [...ended] } }] : [];
  const rest = proposals.flatMap((one): Proposal[] => {
    if (isEnd(one)) return [];
    if (one.propose !== "add") return [one];
    const { replaces: _none, ...add } = one;
    return [add];
  });
  return [...together, ...rest];
}

function isEnd(proposal: Proposal): proposal is EndProposal {
  return proposal.propose === "supersede" || proposal.propose === "retract";
}

function endedIdsOf(proposal: Proposal): readonly string[] {
  if (proposal.propose === "add") return proposal.replaces?.ids ?? [];
  return isEnd(proposal) ? (proposal.target.ids ?? []) : [];
}

/** The memories extracted from each of some messages, whatever their status. */
function groupBySourceMessage(
  { memories }: Pick<UserState, "memories">,
  messages: ReadonlySet<string>,
): ReadonlyMap<string, readonly string[]> {
  const idsByMessage = new Map<string, string[]>();
  for (const { id, sources } of memories.values()) {
    for (const { message } of sources) {
      if (messages.has(message)) idsByMessage.set(message, [...(idsByMessage.get(message) ?? []), id]);
    }
  }
  return idsByMessage;
}

/**
 * Whether the same words already made the same statement. Two readers of one message do not count as two
 * statements, and a slower reader does not restore what was changed or removed since.
 */
function isAlreadyExtracted(
  made: ReadonlyMap<string, readonly string[]>,
  draft: MemoryDraft,
  proposal: AddProposal,
): boolean {
  const ids = [...(made.get(proposal.message) ?? []), ...draft.versions.map(({ id }) => id)];
  return ids
    .flatMap((id) => draft.get(id) ?? [])
    .some((memory) => isOfSameWords(memory, proposal) && saysAsMuch(memory, proposal));
}

function isOfSameWords({ sources }: Memory, { message, start, end }: AddProposal): boolean {
  return sources.some((source) => source.message === message && source.start < end && start < source.end);
}

function saysAsMuch({ claim: known, text }: Memory, { claim, text: proposedText }: AddProposal): boolean {
  if (!known || !claim) return hasSameWords(text, proposedText);
  if (toClaimKey(known) === toClaimKey(claim)) return true;
  if (known.subject.toLowerCase() !== claim.subject.toLowerCase()) return false;
  return (
    isValueContained(known.value, claim.value) ||
    (isSameSlot(known, claim) && hasSameWords(text, proposedText))
  );
}
