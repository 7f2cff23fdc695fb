import type { Tombstone } from "../domain/change-set.ts";
import { claimKey, isLive, qualifiersAgree, qualifiersApart, sameSlot, valuesMeet } from "../domain/claim.ts";
import type { Claim, Memory, SourceSpan } from "../domain/memory.ts";
import type { Message } from "../domain/message.ts";
import type { ReceiptLine } from "../domain/receipt.ts";
import type { Scope } from "../domain/scope.ts";
import { sameWords } from "../domain/words.ts";
import type { AddProposal, EndProposal, Target } from "../ports/extractor.ts";
import { countLines, NO_QUOTE } from "./counted.ts";
import type { MemoryDraft } from "./memory-draft.ts";
import type { Ports } from "./ports.ts";
import { claimTombstones, isSaidAgain } from "./tombstones.ts";
import { isAsked, isPasted, orderAt } from "./ward.ts";

/** More removals than this in one go wait for a yes: a mistaken sentence must not sweep a memory empty. */
export const MOST_REMOVALS = 3;

/** What deciding stands on: the draft it writes to, and the tombstones, from which it takes those that are lifted. */
export interface Deciding {
  readonly scope: Scope;
  readonly draft: MemoryDraft;
  readonly tombstones: ReadonlyMap<string, Tombstone>;
  readonly lifted: Set<string>;
  /** Whether the user has said yes to what would otherwise wait. */
  readonly isAgreed?: boolean;
}

type Deciders = Pick<Ports, "ids" | "secret" | "meter">;

/**
 * Turns a proposal into new versions of memories, or refuses it. Deterministic: the same proposal on the same
 * memories decides the same. Gives a line for each memory touched, and for a refusal one with its reason.
 */
export function decide(
  ports: Deciders,
  deciding: Deciding,
  proposal: AddProposal | EndProposal,
  message: Message | undefined,
): ReceiptLine[] {
  const lines = decided(ports, deciding, proposal, message);
  if (ports.meter) countLines(ports.meter, lines);
  return lines;
}

function decided(
  ports: Deciders,
  deciding: Deciding,
  proposal: AddProposal | EndProposal,
  message: Message | undefined,
): ReceiptLine[] {
  const source = message && quoteOf(message, proposal);
  if (!message || !source) return [refused(proposal, NO_QUOTE)];
  if (message.role !== "user")
    return [refused(proposal, "only the user's own words make or change memories")];
  if (isPasted(message, source)) return [refused(proposal, "it stands in a text that was brought in")];
  const order = orderAt(message, source, proposal.propose === "add" ? proposal.text : "");
  if (proposal.propose !== "add") {
    if (order) return [refused(proposal, setAside(order))];
    if (!isAsked(message, source)) return [refused(proposal, "it stands beside somebody else's orders")];
    return end(deciding, proposal, message, source);
  }
  return order
    ? [quarantine(ports, deciding, proposal, message, source, setAside(order))]
    : add(ports, deciding, proposal, message, source);
}

function setAside({ does }: { does: string }): string {
  return `it would have the assistant ${does}`;
}

/** What is no statement but an order is kept for people to look at: it replaces nothing and is never given to a model. */
function quarantine(
  ports: Deciders,
  { draft }: Deciding,
  proposal: AddProposal,
  message: Message,
  source: SourceSpan,
  why: string,
): ReceiptLine {
  const { text, kind, confidence, importance } = proposal;
  const known = draft.current().find((memory) => memory.quarantined && memory.text === text);
  if (known) return { id: known.id, action: "quarantined", text, why };
  const id = ports.ids();
  draft.put({
    id,
    text,
    kind,
    status: "current",
    confidence,
    importance,
    evidence: 1,
    origin: message.origin,
    at: message.at,
    validFrom: message.at,
    sources: [source],
    quarantined: true,
    action: "quarantined",
    why,
    ...labels(message),
    ...(proposal.claim ? { claim: proposal.claim } : {}),
    ...(proposal.sensitive ? { sensitive: true } : {}),
  });
  return { id, action: "quarantined", text, why };
}

function quoteOf(message: Message, place: { start: number; end: number }): SourceSpan | undefined {
  const { start, end } = place;
  if (!Number.isInteger(start) || !Number.isInteger(end) || start < 0 || end <= start) return undefined;
  if (end > message.content.length) return undefined;
  return { message: message.id, start, end, quote: message.content.slice(start, end) };
}

function refused(proposal: AddProposal | EndProposal, why: string): ReceiptLine {
  return { id: "", action: "refused", text: proposal.propose === "add" ? proposal.text : "", why };
}

function add(
  ports: Deciders,
  deciding: Deciding,
  proposal: AddProposal,
  message: Message,
  source: SourceSpan,
): ReceiptLine[] {
  if (proposal.claim && !mayReturn(ports, deciding, proposal.claim, message)) {
    return [refused(proposal, "it was erased; only the user can bring it back, by saying it again")];
  }
  const { draft } = deciding;
  const same = findSame(draft, proposal, message.at);
  if (same)
    return [
      merge(draft, same, proposal, message, source),
      ...replaceOthers(deciding, proposal, message, same.id),
    ];
  const id = ports.ids();
  const newer = proposal.holds === "one" ? newerValue(draft, proposal.claim, message.at) : undefined;
  draft.put({
    id,
    text: proposal.text,
    kind: proposal.kind,
    status: newer ? "superseded" : "current",
    confidence: proposal.confidence,
    importance: proposal.importance,
    evidence: 1,
    origin: message.origin,
    at: message.at,
    sources: [source],
    action: "added",
    ...labels(message),
    ...details(proposal, message),
    ...(proposal.why === undefined ? {} : { why: proposal.why }),
    ...(newer
      ? { supersededBy: newer.id, validTo: newer.validFrom ?? newer.at, why: "something newer was known" }
      : {}),
  });
  const { text, why } = proposal;
  const added: ReceiptLine = { id, action: "added", text, ...(why === undefined ? {} : { why }) };
  return [...replaceOthers(deciding, proposal, message, id), added];
}

function labels(message: Message): Partial<Memory> {
  return {
    ...(message.agent === undefined ? {} : { agent: message.agent }),
    ...(message.session === undefined ? {} : { session: message.session }),
  };
}

function details(proposal: AddProposal, message: Message): Partial<Memory> {
  const { claim, when, validTo, expiresAt, sensitive } = proposal;
  return {
    // Of what was over when it was told, and of which nobody said since when, the beginning is open.
    ...(validTo !== undefined && validTo <= message.at && !proposal.validFrom
      ? {}
      : { validFrom: proposal.validFrom ?? message.at }),
    ...(claim ? { claim } : {}),
    ...(when ? { when } : {}),
    ...(validTo ? { validTo } : {}),
    ...(expiresAt ? { expiresAt } : {}),
    ...(sensitive ? { sensitive } : {}),
  };
}

/** Bars what was erased, and lifts the tombstones of what the user says again. */
function mayReturn(ports: Deciders, deciding: Deciding, claim: Claim, message: Message): boolean {
  if (deciding.tombstones.size === 0) return true;
  const hashes = Object.values(claimTombstones(ports.secret, deciding.scope, claim));
  const standing = hashes.flatMap((hash) => deciding.tombstones.get(hash) ?? []);
  if (!standing.every((tombstone) => isSaidAgain(message, tombstone))) return false;
  for (const tombstone of standing) deciding.lifted.add(tombstone.hash);
  return true;
}

function findSame(draft: MemoryDraft, proposal: AddProposal, at: string): Memory | undefined {
  const candidates = proposal.claim ? draft.same(proposal.claim) : draft.current();
  return candidates.find((memory) => isLive(memory, at) && saysSame(memory, proposal));
}

function saysSame(memory: Memory, { claim, text, when }: AddProposal): boolean {
  if (!claim || !memory.claim) return !claim && !memory.claim && sameWords(memory.text, text);
  if (
    memory.claim.relation !== claim.relation ||
    claimKey(memory.claim) !== claimKey(claim) ||
    !qualifiersAgree(memory.claim, claim)
  )
    return false;
  // An appointment on another day is another event, or the same one moved; not the same claim once more.
  return !memory.when || !when || memory.when === when;
}

/** The same claim again: more evidence, and the richer wording of the two. */
function merge(
  draft: MemoryDraft,
  memory: Memory,
  proposal: AddProposal,
  message: Message,
  source: SourceSpan,
): ReceiptLine {
  const known = memory.sources.some((one) => one.message === source.message && one.start === source.start);
  const isRicher = proposal.text.length > memory.text.length;
  const evidence = memory.evidence + (known ? 0 : 1);
  const why = known ? "said in the same words" : `said again, ${evidence} times in all`;
  draft.put({
    ...memory,
    why,
    ...(isRicher ? { text: proposal.text, ...(proposal.claim ? { claim: proposal.claim } : {}) } : {}),
    ...(proposal.when ? { when: proposal.when } : {}),
    evidence,
    confidence: Math.max(memory.confidence, Math.min(0.99, proposal.confidence + 0.02 * memory.evidence)),
    importance: Math.max(memory.importance, proposal.importance),
    at: message.at > memory.at ? message.at : memory.at,
    sources: known ? memory.sources : [...memory.sources, source],
    action: "merged",
  });
  return { id: memory.id, action: "merged", text: isRicher ? proposal.text : memory.text, why };
}

/** A newer value of a one-value relation than this statement, which was said before it but arrives after it. */
function newerValue(draft: MemoryDraft, claim: Claim | undefined, at: string): Memory | undefined {
  if (!claim) return undefined;
  return draft.slot(claim).find((memory) => memory.at > at && isLive(memory, at) && isRival(memory, claim));
}

/** Another value in the same slot of a one-value relation, in circumstances that are not clearly others. */
function isRival(memory: Memory, claim: Claim): boolean {
  if (!memory.claim || !sameSlot(memory.claim, claim)) return false;
  return !(memory.kind === "preference" && qualifiersApart(memory.claim, claim));
}

/** Ends what the new statement takes the place of: named by it, or the old value of a one-value relation. */
function replaceOthers(
  deciding: Deciding,
  proposal: AddProposal,
  message: Message,
  by: string,
): ReceiptLine[] {
  const { draft } = deciding;
  const { claim, replaces, holds } = proposal;
  const named = replaces ? draft.current().filter((memory) => meets(memory, replaces)) : [];
  const rivals = holds === "one" && claim ? draft.slot(claim).filter((memory) => isRival(memory, claim)) : [];
  const old = [...new Set([...named, ...rivals])].filter(
    (memory) => memory.id !== by && isLive(memory, message.at) && memory.at <= message.at,
  );
  if (old.length > MOST_REMOVALS && proposal.replaces && !proposal.replaces.ids) {
    return [refused(proposal, `it would end ${old.length} memories at once; name the one that is meant`)];
  }
  const action = proposal.corrects ? "retracted" : "superseded";
  const why = action === "retracted" ? "the user corrected it" : "a newer statement took its place";
  return old.map((memory) => {
    draft.put({
      ...memory,
      status: action,
      supersededBy: by,
      action,
      ...(action === "superseded" ? { validTo: endOf(memory, proposal, message) } : {}),
      why,
    });
    return { id: memory.id, action, text: memory.text, by, why };
  });
}

/** Nothing ends before it began, whatever is said of what took its place. */
function endOf(memory: Memory, { validFrom }: AddProposal, { at }: Message): string {
  if (validFrom === undefined) return at;
  return validFrom < (memory.validFrom ?? memory.at) ? at : validFrom;
}

function end(deciding: Deciding, proposal: EndProposal, message: Message, source: SourceSpan): ReceiptLine[] {
  const { draft } = deciding;
  const found = endedBy(draft, proposal, message);
  if (found.length > MOST_REMOVALS && !deciding.isAgreed) {
    return [
      refused(
        proposal,
        `it would end ${found.length} memories at once; say yes to that, or name the one that is meant`,
      ),
    ];
  }
  const action = proposal.propose === "retract" ? "retracted" : "superseded";
  return found.map((memory) => {
    draft.put({
      ...memory,
      status: action,
      action,
      sources: [...memory.sources, source],
      ...(action === "superseded" ? { validTo: proposal.validTo ?? message.at } : {}),
      why:
        action === "retracted"
          ? "the user said that it was never so"
          : "the user said that it is no longer so",
    });
    return { id: memory.id, action, text: memory.text, why: "the user said so" };
  });
}

/** What a proposal would end, of what holds when it is said. */
export function endedBy(draft: MemoryDraft, { target }: EndProposal, { at }: Message): Memory[] {
  return draft.current().filter((memory) => isLive(memory, at) && memory.at <= at && meets(memory, target));
}

/** Whether a memory is what a target names. An empty target names nothing. */
export function meets(memory: Memory, target: Target): boolean {
  if (target.ids) return target.ids.includes(memory.id);
  const { claim } = memory;
  if (!claim || (target.subject ?? target.relation ?? target.value) === undefined) return false;
  if (target.subject !== undefined && target.subject.toLowerCase() !== claim.subject.toLowerCase())
    return false;
  if (target.relation !== undefined && target.relation !== claim.relation) return false;
  return target.value === undefined || valuesMeet(claim.value, target.value);
}
