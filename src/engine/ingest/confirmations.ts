import type { Message } from "../../domain/message.ts";
import type { PendingConfirmation } from "../../domain/receipt.ts";
import { type Scope, toScopeKey } from "../../domain/scope.ts";
import type { EndProposal, EraseProposal, Extractor, Proposal } from "../../ports/language/extractor.ts";
import type { Ports } from "../ports.ts";
import { type DecisionContext, findEnded, MAX_REMOVALS } from "./decide.ts";

/** How long a request waits for confirmation, in its session, until something else is said. */
const CONFIRMATION_TTL_MS = 24 * 60 * 60 * 1000;

/** A request that the user has confirmed. */
interface ConfirmedRequest {
  readonly message: Message;
  /** The items of the preview that are meant, from 0; absent for all. */
  readonly items?: readonly number[];
}

/**
 * The user's previous message, if this one is a yes to it: "yes", "only the first two". If the assistant spoke in
 * between without asking for confirmation, a bare "yes" may answer something else. Then the yes must name the
 * request.
 */
export function findConfirmedRequest(
  message: Message,
  earlier: readonly Message[],
  { vocabulary, replies }: Pick<Ports, "vocabulary" | "replies">,
): ConfirmedRequest | undefined {
  if (message.role !== "user") return undefined;
  const confirmation = vocabulary.phrases.readConfirmation(message.content);
  if (!confirmation) return undefined;
  const at = earlier.findLastIndex(({ role }) => role === "user");
  const before = earlier[at];
  if (!before || Date.parse(message.at) - Date.parse(before.at) > CONFIRMATION_TTL_MS) return undefined;
  const between = earlier.slice(at + 1);
  const isAsked = between.length === 0 || between.some(({ content }) => replies.asksToConfirm(content));
  if (!isAsked && !confirmation.isExplicit) return undefined;
  const { items } = confirmation;
  return items === undefined ? { message: before } : { message: before, items };
}

/**
 * Whether a request would remove so much at once that it needs confirmation. A request that names its target
 * never does.
 */
export function needsConfirmation(
  proposal: Proposal,
  deciding: DecisionContext,
  message: Message,
): proposal is Exclude<Proposal, { propose: "add" }> {
  if (proposal.propose === "add") return false;
  if (proposal.propose === "erase")
    return isWideErasure(proposal) && deciding.draft.current().length > MAX_REMOVALS;
  return findEnded(deciding.draft, proposal, message).length > MAX_REMOVALS;
}

function isWideErasure({ everything }: EraseProposal): boolean {
  return everything === true;
}

/** The pending confirmations, for the receipt. `meant` is what an erasure means of all that is stored, if not everything. */
export function toWaiting(
  proposal: Proposal,
  deciding: DecisionContext,
  message: Message,
  meant: PendingConfirmation["memories"] = [],
): PendingConfirmation {
  const isErasure = proposal.propose === "erase";
  const memories = isErasure
    ? meant.length > 0
      ? meant
      : deciding.draft.current()
    : proposal.propose === "add"
      ? []
      : findEnded(deciding.draft, proposal, message);
  return {
    action: isErasure ? "erase" : proposal.propose === "retract" ? "retract" : "supersede",
    memories: memories.map(({ id, text }) => ({ id, text })),
    quotes: [],
  };
}

/** Requests that wait for confirmation in a process; the oldest are dropped. */
const MAX_HELD_SWEEPS = 1000;

const heldSweeps = new WeakMap<Extractor, Map<string, EndProposal>>();

const toSweepKey = (scope: Scope, message: string): string => `${toScopeKey(scope)} ${message}`;

/**
 * Stores what a model wanted to end beyond the limit, until the user confirms. It lives only in this process;
 * after that the user must repeat the request.
 */
export function holdSweep(by: Extractor | undefined, scope: Scope, sweep: EndProposal): void {
  if (!by) return;
  const sweeps = heldSweeps.get(by) ?? new Map<string, EndProposal>();
  heldSweeps.set(by, sweeps);
  sweeps.set(toSweepKey(scope, sweep.message), sweep);
  for (const oldest of sweeps.keys()) {
    if (sweeps.size <= MAX_HELD_SWEEPS) break;
    sweeps.delete(oldest);
  }
}

/** Drops pending confirmations of this user, or of all users: they may contain erased words. */
export function dropSweeps(by: Extractor | undefined, scope?: Scope): void {
  const sweeps = by && heldSweeps.get(by);
  if (!sweeps) return;
  for (const key of [...sweeps.keys()]) {
    if (scope === undefined || key.startsWith(toSweepKey(scope, ""))) sweeps.delete(key);
  }
}

/** Proposals that a yes to a message executes, in addition to what the rules read in it. */
export function getHeldSweeps(by: Extractor | undefined, scope: Scope, message: string): EndProposal[] {
  const sweep = by && heldSweeps.get(by)?.get(toSweepKey(scope, message));
  return sweep ? [sweep] : [];
}
