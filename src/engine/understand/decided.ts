import type { Memory } from "../../domain/memory.ts";
import type { Message } from "../../domain/message.ts";
import type { ReceiptLine } from "../../domain/receipt.ts";
import type { AddProposal, EndProposal, Proposal } from "../../ports/extractor.ts";
import { type DecisionContext, decide, MAX_REMOVALS } from "../decide.ts";
import { createMemoryDraft } from "../memory-draft.ts";
import type { Ports } from "../ports.ts";
import type { UserState } from "../user-state.ts";
import { groupBySourceMessage, isAlreadyExtracted } from "./said-before.ts";

/** What a model's proposals come to. */
export interface ModelDecision {
  readonly memories: readonly Memory[];
  readonly liftedTombstones: readonly string[];
  readonly lines: readonly ReceiptLine[];
  /** What was refused because it would end too much at once: it waits for a yes. */
  readonly sweeps: readonly EndProposal[];
}

/**
 * Decides on what a model proposes of messages, as they were when it read them. Deterministic, and nothing is written here:
 * where another writer was faster it is decided again.
 */
export function decideModelProposals(
  ports: Pick<Ports, "ids" | "secret">,
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
  };
  const made = groupBySourceMessage(state, new Set(messages.map(({ id }) => id)));
  const decidedOn = (message: Message, one: Proposal): ReceiptLine[] => {
    const proposal = one.propose === "add" && isAlreadyExtracted(made, draft, one) ? toEndProposal(one) : one;
    if (!proposal) return [];
    if (proposal.propose === "erase") return [MODEL_ERASURE_REFUSED];
    const now = state.messages.get(message.id);
    return decide(ports, deciding, relocateQuote(now, message, proposal), now);
  };
  const lines: ReceiptLine[] = [];
  const sweeping: EndProposal[] = [];
  for (const message of messages) {
    const own = limitRemovals(proposals.filter((one) => one.message === message.id));
    lines.push(...own.flatMap((one) => decidedOn(message, one)));
    sweeping.push(...own.filter(isSweep));
  }
  return {
    memories: draft.versions,
    liftedTombstones: [...deciding.liftedTombstones],
    lines,
    sweeps: sweeping,
  };
}

function isSweep(proposal: Proposal): proposal is EndProposal {
  return isEnd(proposal) && endedIdsOf(proposal).length > MAX_REMOVALS;
}

/** What a statement takes the place of ends, where the statement itself is there already. */
function toEndProposal({ message, start, end, replaces }: AddProposal): EndProposal | undefined {
  return replaces && { propose: "supersede", message, start, end, target: replaces };
}

/** Requests to forget are carried out within the write, by rules: what a model takes for one is none. */
const MODEL_ERASURE_REFUSED: ReceiptLine = {
  id: "",
  action: "refused",
  text: "",
  why: "a model erases nothing; say what to forget",
};

/** Words may have been taken out of a message since it was read: then a quote stands elsewhere, or nowhere. */
function relocateQuote<One extends AddProposal | EndProposal>(
  now: Message | undefined,
  read: Message,
  proposal: One,
): One {
  if (!now || now.content === read.content || proposal.start < 0) return proposal;
  const start = now.content.indexOf(read.content.slice(proposal.start, proposal.end));
  return { ...proposal, start, end: start < 0 ? -1 : start + proposal.end - proposal.start };
}

/** What one message would end one by one counts together: of too many all are refused, and what it adds replaces nothing. */
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
