import type { Origin } from "./message.ts";
import type { Metadata } from "./metadata-filter.ts";
import { spellOutSigns, splitWords, toExactKey, toWordKey } from "./search/search-terms.ts";

export const MEMORY_KINDS = [
  "fact",
  "preference",
  "commitment",
  "instruction",
  "entity",
  "event",
  "reflection",
] as const;
export type Kind = (typeof MEMORY_KINDS)[number];

/** The structured half of a memory. */
export interface Claim {
  /**
   * Who or what it is about: `user` (whose memory this is), `user/sister`, `user/cat` (what is theirs; deeper
   * where needed: `user/flatmate/parrot`), or a name ("Caroline", "Caroline/mother") where somebody else speaks or is spoken of.
   */
  readonly subject: string;
  /** An English verb phrase in its base form: `use`, `live in`, `be allergic to`, `be called`, `be`, `have`. */
  readonly relation: string;
  /** What is said of the subject, in the user's own words: `Shram`, `Porto`, `61k`. */
  readonly value: string;
  /** What narrows it: `as a productivity tool`, `on Sundays`, `when I fly`. */
  readonly qualifier?: string;
}

/** The exact words a memory came from: `content.slice(start, end) === quote` in the message named. */
export interface SourceSpan {
  readonly message: string;
  readonly start: number;
  readonly end: number;
  readonly quote: string;
}

export type Status = "current" | "superseded" | "retracted";

/**
 * One statement, understandable alone: "The user uses Shram as a productivity tool."
 * A value of this type is one version of it; each change makes the next.
 */
export interface Memory {
  readonly id: string;
  /** 1 for the first version. */
  readonly version: number;
  readonly text: string;
  readonly kind: Kind;
  readonly claim?: Claim;
  readonly status: Status;
  /** 0 to 1. */
  readonly confidence: number;
  /** 0 to 1. */
  readonly importance: number;
  /** How often the same claim was made. */
  readonly evidence: number;
  readonly origin: Origin;
  readonly agent?: string;
  readonly session?: string;
  /** Said at (ISO 8601): of the newest source, or when it was added. */
  readonly at: string;
  /** When it was true: from (inclusive) and to (exclusive). Open where absent. */
  readonly validFrom?: string;
  readonly validTo?: string;
  /** When an event takes or took place, or a commitment falls due, as a date or time in ISO 8601. */
  readonly when?: string;
  /** Gone from every read at this time. */
  readonly expiresAt?: string;
  /** Stored for people to look at, never recalled. */
  readonly quarantined?: boolean;
  /**
   * Put aside, and no less true for it: merged into another memory, or cleaned up. Its status is `retracted`; the words that
   * it came from hold as before.
   */
  readonly archived?: boolean;
  /** Health, beliefs, money, secrets. */
  readonly sensitive?: boolean;
  readonly metadata?: Metadata;
  readonly sources: readonly SourceSpan[];
  /** The memory that took its place. */
  readonly supersededBy?: string;
  /** The revision and the time (ISO 8601) at which this version was stored. */
  readonly revision: number;
  readonly storedAt: string;
  /** What made this version. */
  readonly action: MemoryAction;
  /** Why, in words for a person, without the user's own. */
  readonly why?: string;
}

/** What a write did to a memory. */
export type MemoryAction =
  | "added"
  | "merged"
  | "updated"
  | "superseded"
  | "retracted"
  | "erased"
  | "refused"
  | "quarantined"
  | "restored";

const claimKeys = new WeakMap<Claim, string>();

/** What makes two claims the same: subject, relation and value, without regard to case, articles and word endings. */
export function toClaimKey(claim: Claim): string {
  let key = claimKeys.get(claim);
  if (key === undefined) {
    key = JSON.stringify([claim.subject.toLowerCase(), claim.relation, toExactKey(claim.value)]);
    // Each write compares with every memory of the user; claims never change, so their keys can be kept.
    claimKeys.set(claim, key);
  }
  return key;
}

/** Same subject and relation: two values of one slot. */
export function isSameSlot(one: Claim, other: Claim): boolean {
  return one.relation === other.relation && one.subject.toLowerCase() === other.subject.toLowerCase();
}

/** Whether two qualifiers can stand for the same circumstance: equal, or one of them absent. */
export function areQualifiersCompatible(one: Claim, other: Claim): boolean {
  if (!one.qualifier || !other.qualifier) return true;
  return toWordKey(one.qualifier) === toWordKey(other.qualifier);
}

/** Whether they share no word at all: "when I fly" and "for breakfast". */
export function areQualifiersDisjoint(one: Claim, other: Claim): boolean {
  if (!one.qualifier || !other.qualifier) return false;
  const held = new Set(splitWords(one.qualifier));
  return !splitWords(other.qualifier).some((word) => held.has(word));
}

/** Whether one value holds all words of the other: "Canon" and "a Canon X100". */
export function isValueContained(one: string, other: string): boolean {
  const a = toWordKey(spellOutSigns(one)).split(" ").filter(Boolean);
  const b = toWordKey(spellOutSigns(other)).split(" ").filter(Boolean);
  if (a.length === 0 || b.length === 0) return false;
  const [few, many] = a.length <= b.length ? [a, new Set(b)] : [b, new Set(a)];
  return few.every((word) => many.has(word));
}

/** Whether a memory is current and neither expired nor held back at a time (ISO 8601). */
export function isCurrentAt(memory: Memory, at: string): boolean {
  return memory.status === "current" && !memory.quarantined && (!memory.expiresAt || memory.expiresAt > at);
}
