import type { Memory } from "../domain/memory.ts";
import type { Message } from "../domain/message.ts";
import type { ReceiptLine } from "../domain/receipt.ts";
import type { EraseProposal, Proposal } from "../ports/extractor.ts";
import { type Deciding, decide } from "./decide.ts";
import { knownFor } from "./known.ts";
import { type MemoryDraft, memoryDraft } from "./memory-draft.ts";
import type { Ports } from "./ports.ts";
import type { UserState } from "./user-state.ts";

/** How many turns before a message an extractor is shown. */
const EARLIER = 12;
/** So far back are they looked for: of a session that others came between, the rest is long past. */
const LOOKED_AT = 2000;

/** What reading messages came to. */
export interface Digested {
  /** The messages read, marked `done`; one that asks to forget stays `pending` until that is carried out. */
  readonly messages: readonly Message[];
  /** New versions of memories, in order. */
  readonly memories: readonly Memory[];
  /** Hashes of tombstones that the user's words lifted. */
  readonly lifted: readonly string[];
  readonly lines: readonly ReceiptLine[];
  /** The requests of the last message read to forget something; they end the reading. */
  readonly erase?: { readonly message: Message; readonly proposals: readonly EraseProposal[] };
}

/**
 * Reads messages in order and decides on what the extractor proposes, up to and with the first message that asks
 * to forget something. Nothing is written here.
 */
export async function digest(
  ports: Pick<Ports, "extractor" | "ids" | "secret">,
  input: {
    state: UserState;
    at: string;
    messages: readonly Message[];
    mayErase: boolean;
    signal?: AbortSignal;
  },
): Promise<Digested> {
  const { state, at, mayErase } = input;
  const draft = memoryDraft(state, at);
  const deciding: Deciding = { scope: state.scope, draft, tombstones: state.tombstones, lifted: new Set() };
  const read: Message[] = [];
  const lines: ReceiptLine[] = [];
  const result = { messages: read, lines, memories: draft.made };
  const sessions = sessionTails(state);
  for (const message of input.messages) {
    input.signal?.throwIfAborted();
    const earlier = sessions.before(message);
    const proposals = await proposalsFor(ports, { state, draft, message, earlier }, input.signal);
    const requests = mayErase && message.role === "user" ? proposals.filter(isErase) : [];
    for (const proposal of proposals) {
      if (proposal.propose !== "erase") lines.push(...decide(ports, deciding, proposal, message));
    }
    if (requests.length > 0) {
      read.push(message);
      return { ...result, lifted: [...deciding.lifted], erase: { message, proposals: requests } };
    }
    read.push(message.digest === "pending" ? { ...message, digest: "done" } : message);
    sessions.add(message);
  }
  return { ...result, lifted: [...deciding.lifted] };
}

async function proposalsFor(
  ports: Pick<Ports, "extractor">,
  input: { state: UserState; draft: MemoryDraft; message: Message; earlier: readonly Message[] },
  signal: AbortSignal | undefined,
): Promise<Proposal[]> {
  const { state, draft, message, earlier } = input;
  if (message.digest === "never" || message.content === "") return [];
  const reading = { messages: [message], earlier, known: knownFor(state, draft, message, earlier) };
  return ports.extractor.propose(reading, signal ? { signal } : {});
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
    const message = messages.get(ids[turn] ?? "");
    if (message && !message.undone) last.unshift(message);
  }
  return last;
}
