import type { Memory } from "../domain/memory.ts";
import type { Message } from "../domain/message.ts";
import type { ReceiptLine, Waiting } from "../domain/receipt.ts";
import type { EraseProposal, Proposal } from "../ports/extractor.ts";
import { type Deciding, decide } from "./decide.ts";
import { endedLately, knownFor } from "./known.ts";
import { memoryDraft } from "./memory-draft.ts";
import { othersTurn } from "./others-turn.ts";
import type { Ports } from "./ports.ts";
import { sweepOf } from "./understand/sweeps.ts";
import type { UserState } from "./user-state.ts";
import { agreedTo, isSweeping, waitingFor } from "./waiting.ts";
import { isAsked, readWard } from "./ward.ts";

/** How many turns before a message an extractor is shown. */
const EARLIER = 12;
/** So far back are they looked for: of a session that others came between, the rest is long past. */
const LOOKED_AT = 2000;

const NOT_MOVED: ReadonlyMap<string, string> = new Map();

/** The rules never wait for anything: so long do they hold up everybody else, in an import of thousands too. */
const LONGEST_HELD_MS = 10;

/** What reading messages came to. */
export interface Digested {
  /**
   * The messages read, marked `done`, or `heard` where a model is to read them, too; one that asks to forget stays
   * `pending` until that is carried out.
   */
  readonly messages: readonly Message[];
  /** New versions of memories, in order. */
  readonly memories: readonly Memory[];
  /** Hashes of tombstones that the user's words lifted. */
  readonly lifted: readonly string[];
  readonly lines: readonly ReceiptLine[];
  /** Requests that wait for a yes. */
  readonly waiting: readonly Waiting[];
  /** The requests of the last message read to forget something; they end the reading. */
  readonly erase?: { readonly message: Message; readonly proposals: readonly EraseProposal[] };
}

/**
 * Reads messages in order and decides on what the extractor proposes, up to and with the first message that asks
 * to forget something. Nothing is written here.
 */
export async function digest(
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
): Promise<Digested> {
  const { state, at, mayErase } = input;
  const draft = memoryDraft(state, at);
  const deciding: Deciding = { scope: state.scope, draft, tombstones: state.tombstones, lifted: new Set() };
  const done: Message[] = [];
  const lines: ReceiptLine[] = [];
  const waiting: Waiting[] = [];
  const result = { messages: done, lines, waiting, memories: draft.made };
  const sessions = sessionTails(state);
  let held = performance.now();
  for (const message of input.messages) {
    input.signal?.throwIfAborted();
    if (performance.now() - held > LONGEST_HELD_MS) {
      await othersTurn();
      held = performance.now();
    }
    const earlier = sessions.before(message);
    const isAllowed = mayErase && message.role === "user" && message.mayErase !== false;
    const spokenAt = input.spokenAt ?? NOT_MOVED;
    const hearing = { state, deciding, message, earlier, mayErase: isAllowed, spokenAt };
    const read = await heard(ports, hearing, input.signal);
    lines.push(...read.refused);
    const requests = read.proposals.filter(isErase);
    for (const proposal of read.proposals) {
      if (proposal.propose !== "erase") lines.push(...decide(ports, read.deciding, proposal, read.said));
    }
    waiting.push(...read.waiting);
    if (requests.length > 0) {
      done.push(message);
      return { ...result, lifted: [...deciding.lifted], erase: { message, proposals: requests } };
    }
    done.push(message.digest === "pending" ? heardBy(ports, message, earlier) : message);
    sessions.add(message);
  }
  return { ...result, lifted: [...deciding.lifted] };
}

/** A message that was read within the write: done, or left for the model, where it may have something for that. */
function heardBy(
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
interface Hearing {
  readonly state: UserState;
  readonly deciding: Deciding;
  readonly message: Message;
  readonly earlier: readonly Message[];
  readonly mayErase: boolean;
  readonly spokenAt: ReadonlyMap<string, string>;
}

interface Heard {
  readonly said: Message;
  readonly proposals: readonly Proposal[];
  readonly deciding: Deciding;
  readonly waiting: readonly Waiting[];
  readonly refused: readonly ReceiptLine[];
}

/** What a message proposes: its own, without what waits for a yes; or, where it is that yes, what had waited. */
async function heard(
  ports: Pick<Ports, "extractor" | "modelExtractor">,
  hearing: Hearing,
  signal: AbortSignal | undefined,
): Promise<Heard> {
  const { deciding, message, earlier, mayErase } = hearing;
  const before = agreedTo(message, earlier);
  if (before && mayErase) {
    const then = earlier.slice(0, earlier.indexOf(before));
    const all = await proposalsFor(ports, { ...hearing, message: before, earlier: then }, signal);
    const swept = sweepOf(ports.modelExtractor, hearing.state.scope, before.id);
    const proposals = [...all, ...swept].filter((one) => isSweeping(one, deciding, before));
    if (proposals.length > 0) {
      return { said: before, proposals, deciding: { ...deciding, isAgreed: true }, waiting: [], refused: [] };
    }
  }
  const proposals = await proposalsFor(ports, hearing, signal);
  const wide = mayErase ? proposals.filter((one) => isSweeping(one, deciding, message)) : [];
  return {
    said: message,
    // What would end too much is refused where it is decided, with its reason.
    proposals: proposals.filter((one) => one.propose !== "erase" || (mayErase && !wide.includes(one))),
    deciding,
    waiting: wide.map((one) => waitingFor(one, deciding, message)),
    refused: message.mayErase === false && proposals.some(isErase) ? [REFUSED] : [],
  };
}

const REFUSED: ReceiptLine = { id: "", action: "refused", text: "", why: "this key may not erase" };

async function proposalsFor(
  ports: Pick<Ports, "extractor">,
  { state, deciding, message, earlier, spokenAt }: Hearing,
  signal: AbortSignal | undefined,
): Promise<Proposal[]> {
  const { draft } = deciding;
  if (message.digest === "never" || message.content === "") return [];
  const reading = {
    messages: [{ ...message, at: spokenAt.get(message.id) ?? message.at }],
    earlier,
    known: knownFor(state, draft, message, earlier),
    ended: () => endedLately(state, draft),
  };
  const proposals = await ports.extractor.propose(reading, signal ? { signal } : {});
  if (proposals.length > 0) await readWard(message);
  return proposals.filter((one) => one.propose !== "erase" || isAsked(message, one));
}

function isErase(proposal: { propose: string }): proposal is EraseProposal {
  return proposal.propose === "erase";
}

/** The last turns of each session, grown as messages are read. */
function sessionTails(state: UserState): {
  before(message: Message): readonly Message[];
  add(message: Message): void;
} {
  const tails = new Map<string, Message[]>();
  const tail = (session: string | undefined): Message[] => {
    const key = session ?? "";
    let kept = tails.get(key);
    if (!kept) {
      kept = lastOf(state, session);
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
      if (kept.length > EARLIER) kept.shift();
    },
  };
}

/** The last turns of a session, looked for among the newest of all. */
function lastOf({ block, messages }: UserState, session: string | undefined): Message[] {
  const { count, columns, ids } = block.turns;
  const wanted = session === undefined ? -1 : block.names.find(session);
  const last: Message[] = [];
  if (wanted === undefined) return last;
  for (let turn = count - 1; turn >= Math.max(0, count - LOOKED_AT) && last.length < EARLIER; turn -= 1) {
    if (columns.sessionId[turn] !== wanted) continue;
    const message = messages.get(ids.at(turn) ?? "");
    if (message && !message.undone) last.unshift(message);
  }
  return last;
}
