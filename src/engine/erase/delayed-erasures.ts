import { DELAYED_ERASURE, isDelayedErasure } from "../../domain/delayed-erasure.ts";
import { mergeSelections, NO_SELECTION } from "../../domain/erasure-selection.ts";
import { isCurrentAt, type Memory } from "../../domain/memory.ts";
import type { Message } from "../../domain/message.ts";
import type { ErasureReceipt, ReceiptLine } from "../../domain/receipt.ts";
import type { Scope } from "../../domain/scope.ts";
import type { AddProposal, EraseProposal, ErasureDue } from "../../ports/language/extractor.ts";
import type { MaintenanceTask } from "../jobs/apply-edits.ts";
import type { Ports } from "../ports.ts";
import type { UserState } from "../user-state/user-state.ts";
import { executeErasure } from "./execute-erasure.ts";
import { selectProposal } from "./requests.ts";

/** The commitment's confidence. The user has confirmed what it would erase, or the words were sure by themselves. */
const CONFIRMED = 1;
const STATED = 0.9;
const MINUTE_MS = 60_000;

/** A request with when it is due. */
export type DelayedProposal = EraseProposal & { readonly due: ErasureDue };

/** Whether a request is to be carried out later. */
export function isDelayed(proposal: EraseProposal): proposal is DelayedProposal {
  return proposal.due !== undefined;
}

/** The commitment that a delayed request is stored as. */
export function toCommitment(
  { forgetRequests }: Pick<Ports, "forgetRequests">,
  proposal: DelayedProposal,
  isConfirmed: boolean,
): AddProposal {
  const { message, start, end, due } = proposal;
  const about = describeTarget(proposal);
  return {
    propose: "add",
    message,
    start,
    end,
    text: forgetRequests.describeDelayed(about, due),
    kind: "commitment",
    claim: {
      subject: "user",
      relation: DELAYED_ERASURE,
      value: about,
      ...(due.event === undefined ? {} : { qualifier: due.event }),
    },
    holds: "many",
    confidence: isConfirmed ? CONFIRMED : STATED,
    importance: 0.5,
    ...(due.at === undefined ? {} : { when: due.at }),
    why: "the user asked to forget it later",
  };
}

function describeTarget({ about, everything }: EraseProposal): string {
  return about ?? (everything ? "everything" : "that message");
}

/** A commitment that is due, with the message that asked for it. */
interface DueErasure {
  readonly memory: Memory;
  readonly message: Message;
  /** The turns before it in its session: "you can delete that after Friday". */
  readonly earlier: readonly Message[];
}

/** Turns before a request that say what it means. */
const EARLIER_TURNS = 12;

/**
 * Carries out the delayed requests that are due at a time, or whose event the new messages tell. A request counts only as
 * long as its message is stored and says so: the commitment alone, written by an import or a model, erases nothing.
 */
export async function eraseDue(
  ports: Ports,
  scope: Scope,
  { at, told = [], signal }: { at: string; told?: readonly Message[]; signal?: AbortSignal },
): Promise<{ lines: ReceiptLine[]; receipts: ErasureReceipt[] }> {
  const lines: ReceiptLine[] = [];
  const receipts: ErasureReceipt[] = [];
  for (const due of findDue(ports, await ports.states.of(scope), at, told)) {
    signal?.throwIfAborted();
    const proposals = await readAgain(ports, due);
    if (proposals.length === 0) continue;
    const receipt = await executeErasure(ports, scope, (state) => selectDue(ports, state, due, proposals), {
      requestMessageId: due.message.id,
      requestSpans: proposals,
      isEverything: proposals.some(({ everything }) => everything === true),
    });
    if (receipt.ids.length > 0) receipts.push(receipt);
    lines.push(
      ...receipt.ids.map((id) => ({ id, action: "erased" as const, text: "", why: "the user asked for it" })),
    );
  }
  return { lines, receipts };
}

/** The subject and relation of all such commitments. */
const PENDING_SLOT = { subject: "user", relation: DELAYED_ERASURE, value: "" };

function findDue(
  ports: Pick<Ports, "forgetRequests" | "secret">,
  state: UserState,
  at: string,
  told: readonly Message[],
): DueErasure[] {
  const due: DueErasure[] = [];
  for (const id of state.claims.findInSlot(PENDING_SLOT)) {
    const memory = state.current.get(id);
    if (!memory || !isPending(memory, at)) continue;
    const message = state.messages.get(memory.sources[0]?.message ?? "");
    if (!message || message.undone || message.role !== "user" || message.mayErase === false) continue;
    if (isDue(ports, memory, at, told)) due.push({ memory, message, earlier: findEarlier(state, message) });
  }
  return due;
}

function findEarlier(state: UserState, { turn, session }: Message): Message[] {
  return [...state.messages.values()]
    .filter((one) => one.session === session && one.turn < turn && !one.undone)
    .slice(-EARLIER_TURNS);
}

function isPending(memory: Memory, at: string): boolean {
  return isDelayedErasure(memory) && isCurrentAt(memory, at);
}

/** When its time has come, its event is told, or a reply says that it is already gone: what the user was told must be true. */
function isDue(
  { forgetRequests }: Pick<Ports, "forgetRequests">,
  { when, claim, sources }: Memory,
  at: string,
  told: readonly Message[],
): boolean {
  if (when !== undefined && when <= at) return true;
  const event = claim?.qualifier;
  const own = sources[0]?.message;
  return told.some(
    ({ id, role, content }) =>
      id !== own &&
      (role === "user"
        ? event !== undefined && forgetRequests.tellsEvent(content, event)
        : role === "assistant" && forgetRequests.tellsErased(content, claim?.value ?? "")),
  );
}

/** The requests that the message makes, read anew. */
async function readAgain(
  { extractor }: Pick<Ports, "extractor">,
  { memory, message, earlier }: DueErasure,
): Promise<EraseProposal[]> {
  if (!extractor.local) return [];
  const [source] = memory.sources;
  const proposals = await extractor.propose({ messages: [message], earlier, known: [] });
  return proposals.filter(
    (one): one is DelayedProposal =>
      one.propose === "erase" &&
      isDelayed(one) &&
      one.start === source?.start &&
      describeTarget(one) === memory.claim?.value &&
      one.due.event === memory.claim?.qualifier,
  );
}

/** A commitment repeats the words of a request. It is not what the request means. */
function withoutCommitments(state: UserState): UserState {
  const others = [...state.memories].filter(([, memory]) => !isDelayedErasure(memory));
  return { ...state, memories: new Map(others) };
}

/** What the request means now, the words of the request, and the commitment. */
async function selectDue(
  ports: Pick<Ports, "forgetRequests" | "secret">,
  state: UserState,
  { memory, message }: DueErasure,
  proposals: readonly EraseProposal[],
) {
  // Another process may have carried it out, or the user took it back meanwhile.
  if (!state.current.has(memory.id)) return NO_SELECTION;
  const isConfirmed = memory.confidence === CONFIRMED;
  const found = await Promise.all(
    proposals.map((one) => selectProposal(ports, withoutCommitments(state), message, one, proposals)),
  );
  const meant = found.map(({ sure, unsure }) => (isConfirmed ? mergeSelections([sure, unsure]) : sure));
  if (meant.every(({ memories, cuts }) => memories.size + cuts.size === 0)) return NO_SELECTION;
  const others = [...state.memories.values()].some(
    (one) => one.id !== memory.id && isPending(one, "") && one.sources[0]?.message === message.id,
  );
  // The words stay as long as another request of theirs is pending.
  const cuts = others ? [] : proposals.map(({ start, end }) => ({ start, end, put: "" }));
  return mergeSelections([
    { memories: new Set([memory]), cuts: new Map(cuts.length === 0 ? [] : [[message.id, cuts]]) },
    ...meant,
  ]);
}

/** Carries out the requests to forget that are due. It changes nothing else, so it proposes no edits. */
export const delayedErasureTask: MaintenanceTask = {
  name: "delayed-erasures",
  about: "erases what the user asked to forget at a later time",
  everyMs: 10 * MINUTE_MS,
  isAutomatic: () => true,
  async plan(ports, { scope, memories, at }) {
    const pending = memories.flatMap((memory) =>
      isDelayedErasure(memory) && memory.when !== undefined ? [memory.when] : [],
    );
    if (pending.some((when) => when <= at)) await eraseDue(ports, scope, { at });
    const due = pending.filter((when) => when > at).sort()[0];
    return { edits: [], ...(due === undefined ? {} : { due }) };
  },
};
