import { ASSOCIATION_TYPES, type MemoryLink, type Tombstone } from "../../domain/change-set.ts";
import type { Claim, Memory, SourceSpan } from "../../domain/memory.ts";
import {
  areQualifiersCompatible,
  areQualifiersDisjoint,
  isCurrentAt,
  isSameSlot,
  isValueContained,
  toClaimKey,
} from "../../domain/memory.ts";
import type { Message } from "../../domain/message.ts";
import type { ReceiptLine } from "../../domain/receipt.ts";
import type { Scope } from "../../domain/scope.ts";
import { hasSameWords } from "../../domain/search/search-terms.ts";
import type { AddProposal, EndProposal, ProposalTarget } from "../../ports/language/extractor.ts";
import type { ClaimPattern } from "../../ports/language/vocabulary.ts";
import type { MemoryDraft } from "../change-set.ts";
import { hashClaimTombstones, isRestatedByUser } from "../erase/tombstones.ts";
import { countMemoryChanges, QUOTE_NOT_FOUND } from "../instrumentation.ts";
import type { Ports } from "../ports.ts";
import { findInjection, isPasted, isUserAuthored } from "./provenance.ts";

/** More removals than this at once are refused, unless the user has confirmed them: a mistaken sentence must not empty a memory. */
export const MAX_REMOVALS = 3;

/** The input of a decision: the draft it writes to, and the tombstones, from which it removes lifted ones. */
export interface DecisionContext {
  readonly scope: Scope;
  readonly draft: MemoryDraft;
  readonly tombstones: ReadonlyMap<string, Tombstone>;
  readonly liftedTombstones: Set<string>;
  /** Where the associations of statements are added; without it, they are left out. */
  readonly links?: MemoryLink[];
  /** Whether the user has confirmed what would otherwise wait. */
  readonly isAgreed?: boolean;
}

type DecisionPorts = Pick<Ports, "ids" | "secret" | "meter" | "promptGuard" | "vocabulary">;

/**
 * Turns a proposal into new versions of memories, or refuses it. Deterministic: the same proposal on the same
 * memories gives the same decision. Gives a line for each memory touched, or for a refusal one with its
 * reason.
 */
export function decide(
  ports: DecisionPorts,
  deciding: DecisionContext,
  proposal: AddProposal | EndProposal,
  message: Message | undefined,
): ReceiptLine[] {
  const lines = decideProposal(ports, deciding, proposal, message);
  if (ports.meter) countMemoryChanges(ports.meter, lines);
  return lines;
}

function decideProposal(
  ports: DecisionPorts,
  deciding: DecisionContext,
  proposal: AddProposal | EndProposal,
  message: Message | undefined,
): ReceiptLine[] {
  const source = message && findQuote(message, proposal);
  if (!message || !source) return [toRefusal(proposal, QUOTE_NOT_FOUND)];
  if (message.role !== "user")
    return [toRefusal(proposal, "only the user's own words make or change memories")];
  if (isPasted(ports, message, source)) return [toRefusal(proposal, "it is in pasted text")];
  const injection = findInjection(ports, message, source, proposal.propose === "add" ? proposal.text : "");
  if (proposal.propose !== "add") {
    if (injection) return [toRefusal(proposal, describeInjection(injection))];
    if (!isUserAuthored(ports, message, source))
      return [toRefusal(proposal, "it is next to a prompt injection")];
    return endMemories(deciding, proposal, message, source);
  }
  return injection
    ? [quarantine(ports, deciding, proposal, message, source, describeInjection(injection))]
    : addStatement(ports, deciding, proposal, message, source);
}

function describeInjection({ does }: { does: string }): string {
  return `it would have the assistant ${does}`;
}

/** A prompt injection is kept for people to review: it replaces nothing and is never given to a model. */
function quarantine(
  ports: DecisionPorts,
  { draft }: DecisionContext,
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
    ...labelsOf(message),
    ...(proposal.claim ? { claim: proposal.claim } : {}),
    ...(proposal.sensitive ? { sensitive: true } : {}),
  });
  return { id, action: "quarantined", text, why };
}

function findQuote(message: Message, place: { start: number; end: number }): SourceSpan | undefined {
  const { start, end } = place;
  if (!Number.isInteger(start) || !Number.isInteger(end) || start < 0 || end <= start) return undefined;
  if (end > message.content.length) return undefined;
  return { message: message.id, start, end, quote: message.content.slice(start, end) };
}

function toRefusal(proposal: AddProposal | EndProposal, why: string): ReceiptLine {
  return { id: "", action: "refused", text: proposal.propose === "add" ? proposal.text : "", why };
}

function addStatement(
  ports: DecisionPorts,
  deciding: DecisionContext,
  proposal: AddProposal,
  message: Message,
  source: SourceSpan,
): ReceiptLine[] {
  if (proposal.claim && !mayReturn(ports, deciding, proposal.claim, message)) {
    return [toRefusal(proposal, "it was erased; only the user can bring it back, by saying it again")];
  }
  const { draft } = deciding;
  const same = findSame(draft, proposal, message.at);
  if (same) {
    addProposedLinks(deciding, proposal, same.id);
    return [
      mergeStatement(draft, same, proposal, message, source),
      ...replaceOthers(ports, deciding, proposal, message, same.id),
    ];
  }
  const id = ports.ids();
  const newer = findNewer(ports, draft, proposal, message.at);
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
    ...labelsOf(message),
    ...detailsOf(proposal, message),
    ...(proposal.why === undefined ? {} : { why: proposal.why }),
    ...(newer
      ? { supersededBy: newer.id, validTo: newer.validFrom ?? newer.at, why: "something newer was known" }
      : {}),
  });
  addProposedLinks(deciding, proposal, id);
  const { text, why } = proposal;
  const added: ReceiptLine = { id, action: "added", text, ...(why === undefined ? {} : { why }) };
  return [...replaceOthers(ports, deciding, proposal, message, id), added];
}

/** At most this many associations of one statement are taken from an extractor. */
const MAX_PROPOSED_LINKS = 5;

/** Notes the associations that a proposal names, with memories that exist and are current. */
function addProposedLinks(
  { draft, links }: DecisionContext,
  { links: proposed }: AddProposal,
  from: string,
): void {
  for (const { to, type, strength } of (proposed ?? []).slice(0, MAX_PROPOSED_LINKS)) {
    const memory = draft.get(to);
    const isKnown = ASSOCIATION_TYPES.includes(type) && strength >= 0 && strength <= 1;
    if (to !== from && memory?.status === "current" && !memory.quarantined && isKnown)
      links?.push({ from, type, to, strength });
  }
}

function labelsOf(message: Message): Partial<Memory> {
  return {
    ...(message.agent === undefined ? {} : { agent: message.agent }),
    ...(message.session === undefined ? {} : { session: message.session }),
  };
}

function detailsOf(proposal: AddProposal, message: Message): Partial<Memory> {
  const { claim, when, validTo, expiresAt, sensitive } = proposal;
  return {
    // A statement made about the past without a start has an open beginning.
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

/** Blocks erased content, and lifts the tombstones of what the user says again. */
function mayReturn(ports: DecisionPorts, deciding: DecisionContext, claim: Claim, message: Message): boolean {
  if (deciding.tombstones.size === 0) return true;
  const hashes = Object.values(hashClaimTombstones(ports, deciding.scope, claim));
  const standing = hashes.flatMap((hash) => deciding.tombstones.get(hash) ?? []);
  if (!standing.every((tombstone) => isRestatedByUser(message, tombstone))) return false;
  for (const tombstone of standing) deciding.liftedTombstones.add(tombstone.hash);
  return true;
}

function findSame(draft: MemoryDraft, proposal: AddProposal, at: string): Memory | undefined {
  const candidates = proposal.claim ? draft.findSame(proposal.claim) : draft.current();
  return candidates.find((memory) => isCurrentAt(memory, at) && isSameStatement(memory, proposal));
}

function isSameStatement(memory: Memory, { claim, text, when }: AddProposal): boolean {
  if (!claim || !memory.claim) return !claim && !memory.claim && hasSameWords(memory.text, text);
  if (
    memory.claim.relation !== claim.relation ||
    toClaimKey(memory.claim) !== toClaimKey(claim) ||
    !areQualifiersCompatible(memory.claim, claim)
  )
    return false;
  // An appointment on another day is another event, or the same one moved; it is not the same claim.
  return !memory.when || !when || memory.when === when;
}

/** The same claim again: more evidence, and the richer wording of the two. */
function mergeStatement(
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

/** A newer statement that this one, said earlier but arriving later, cannot be current with. */
function findNewer(
  ports: Pick<Ports, "vocabulary">,
  draft: MemoryDraft,
  proposal: AddProposal,
  at: string,
): Memory | undefined {
  return findRivals(ports, draft, proposal, at).find((memory) => memory.at > at && isCurrentAt(memory, at));
}

/** What cannot be current together with a statement: another value of a one-value relation, and what the claim excludes. */
function findRivals(
  { vocabulary }: Pick<Ports, "vocabulary">,
  draft: MemoryDraft,
  { claim, holds, validFrom, validTo, kind }: AddProposal,
  at: string,
): Memory[] {
  if (!claim) return [];
  const values = holds === "one" ? draft.findInSlot(claim).filter((memory) => isRival(memory, claim)) : [];
  // What was so until some day, or is so from some day on, leaves alone what is so now.
  const isNow = (validTo === undefined || validTo > at) && (validFrom === undefined || validFrom <= at);
  if (!isNow || kind === "commitment") return values;
  const excluded = vocabulary.listExcluded(claim).flatMap((pattern) => findMatching(draft, pattern));
  return [...values, ...excluded.filter((memory) => memory.kind !== "event" && memory.claim !== claim)];
}

function findMatching(draft: MemoryDraft, pattern: ClaimPattern): Memory[] {
  const { fits } = pattern;
  return listNamed(draft, pattern).filter(
    ({ claim }) => claim !== undefined && (fits === undefined || fits(claim)),
  );
}

/** By an index where the pattern names a slot; all current memories are listed only where it does not. */
function listNamed(draft: MemoryDraft, { subject, relation, value }: ClaimPattern): readonly Memory[] {
  if (subject === undefined || relation === undefined) return draft.current();
  return value === undefined
    ? draft.findInSlot({ subject, relation, value: "" })
    : draft.findSame({ subject, relation, value });
}

/** Another value in the same slot of a one-value relation, unless the circumstances clearly differ. */
export function isRival(memory: Memory, claim: Claim): boolean {
  if (!memory.claim || !isSameSlot(memory.claim, claim)) return false;
  return !(memory.kind === "preference" && areQualifiersDisjoint(memory.claim, claim));
}

/** Ends what the new statement replaces: memories that it names, and those that cannot be current together with it. */
function replaceOthers(
  ports: Pick<Ports, "vocabulary">,
  deciding: DecisionContext,
  proposal: AddProposal,
  message: Message,
  by: string,
): ReceiptLine[] {
  const { draft } = deciding;
  const { replaces } = proposal;
  const named = replaces ? draft.current().filter((memory) => matchesTarget(memory, replaces)) : [];
  const rivals = findRivals(ports, draft, proposal, message.at);
  const old = [...new Set([...named, ...rivals])].filter(
    (memory) => memory.id !== by && isCurrentAt(memory, message.at) && memory.at <= message.at,
  );
  if (old.length > MAX_REMOVALS && proposal.replaces && !proposal.replaces.ids) {
    return [toRefusal(proposal, `it would end ${old.length} memories at once; name the one that is meant`)];
  }
  const action = proposal.corrects ? "retracted" : "superseded";
  const why = action === "retracted" ? "the user corrected it" : "a newer statement took its place";
  return old.map((memory) => {
    draft.put({
      ...memory,
      status: action,
      supersededBy: by,
      action,
      ...(action === "superseded" ? { validTo: endTimeOf(memory, proposal, message) } : {}),
      why,
    });
    return { id: memory.id, action, text: memory.text, by, why };
  });
}

/** Nothing ends before it began, whatever is said about its replacement. */
function endTimeOf(memory: Memory, { validFrom }: AddProposal, { at }: Message): string {
  if (validFrom === undefined) return at;
  return validFrom < (memory.validFrom ?? memory.at) ? at : validFrom;
}

function endMemories(
  deciding: DecisionContext,
  proposal: EndProposal,
  message: Message,
  source: SourceSpan,
): ReceiptLine[] {
  const { draft } = deciding;
  const endedMemories = findEnded(draft, proposal, message);
  if (endedMemories.length > MAX_REMOVALS && !deciding.isAgreed) {
    return [
      toRefusal(
        proposal,
        `it would end ${endedMemories.length} memories at once; say yes to that, or name the one that is meant`,
      ),
    ];
  }
  const action = proposal.propose === "retract" ? "retracted" : "superseded";
  return endedMemories.map((memory) => {
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

/** The memories that a proposal would end, among those current when it is said. */
export function findEnded(draft: MemoryDraft, { target }: EndProposal, { at }: Message): Memory[] {
  return draft
    .current()
    .filter((memory) => isCurrentAt(memory, at) && memory.at <= at && matchesTarget(memory, target));
}

/** Whether a memory matches a target. An empty target matches nothing. */
function matchesTarget(memory: Memory, target: ProposalTarget): boolean {
  if (target.ids) return target.ids.includes(memory.id);
  const { claim } = memory;
  if (!claim || (target.subject ?? target.relation ?? target.value) === undefined) return false;
  if (target.subject !== undefined && target.subject.toLowerCase() !== claim.subject.toLowerCase())
    return false;
  if (target.relation !== undefined && target.relation !== claim.relation) return false;
  return target.value === undefined || isValueContained(claim.value, target.value);
}
