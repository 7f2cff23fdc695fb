import type { Metadata } from "./filters/metadata-filter.ts";
import type { Origin } from "./message.ts";
import { spellOutSigns, splitWords, toExactKey, toWordKey } from "./search/search-terms.ts";

export const MEMORY_KINDS = [
  "fact",
  "preference",
  "commitment",
  "instruction",
  "entity",
  "event",
  "reflection",
  // Kinds are stored by their number, so new ones are appended.
  "context",
] as const;
/** What a memory is about; a fact if nothing else fits. `context` is the background of a conversation or a task. */
export type Kind = (typeof MEMORY_KINDS)[number];

/** Groups of kinds, by the names that are usual for memory. The first kind is the one that a new memory of the group gets. */
const KIND_GROUPS: { readonly [group in KindGroup]: readonly [Kind, ...Kind[]] } = {
  semantic: ["fact", "preference", "entity", "reflection", "context"],
  episodic: ["event", "commitment"],
  procedural: ["instruction"],
};
/** What is known, what happened or will happen, and how to do things. */
export type KindGroup = "semantic" | "episodic" | "procedural";

/** The names that a filter of kinds accepts. */
export const KIND_NAMES: readonly (Kind | KindGroup)[] = [
  ...MEMORY_KINDS,
  ...(Object.keys(KIND_GROUPS) as KindGroup[]),
];

/** The kinds that some names of kinds and groups mean. */
export function expandKinds(names: readonly (Kind | KindGroup)[]): Set<Kind> {
  return new Set(names.flatMap((name) => (isKindGroup(name) ? KIND_GROUPS[name] : [name])));
}

/** The kind of a new memory: the one that is named, or the first of the group. */
export function toKind(name: Kind | KindGroup): Kind {
  return isKindGroup(name) ? KIND_GROUPS[name][0] : name;
}

function isKindGroup(name: Kind | KindGroup): name is KindGroup {
  return Object.hasOwn(KIND_GROUPS, name);
}

/** The structured part of a memory. */
export interface Claim {
  /**
   * Who or what the claim is about. `user` is the memory's owner; `user/sister` and `user/cat` belong to the
   * user (nested if needed: `user/flatmate/parrot`). A name ("Caroline", "Caroline/mother") is another person
   * who speaks or is spoken of.
   */
  readonly subject: string;
  /** An English verb phrase in its base form: `use`, `live in`, `be allergic to`, `be called`, `be`, `have`. */
  readonly relation: string;
  /** What the claim says about the subject, in the user's own words: `Shram`, `Porto`, `61k`. */
  readonly value: string;
  /** A restriction of the claim: `as a productivity tool`, `on Sundays`, `when I fly`. */
  readonly qualifier?: string;
}

/** The exact source words of a memory: `content.slice(start, end) === quote` in the named message. */
export interface SourceSpan {
  /** The id of the message. */
  readonly message: string;
  /** Where the words begin, in UTF-16 units. */
  readonly start: number;
  /** Where they end, exclusive. */
  readonly end: number;
  /** The words. */
  readonly quote: string;
}

/** `superseded`: it was true and was replaced or ended. `retracted`: it was never true, or was removed. */
export type Status = "current" | "superseded" | "retracted";

/**
 * One statement that is understandable by itself: "The user uses Shram as a productivity tool." A value of
 * this type is one version; each change creates the next.
 */
export interface Memory {
  /** A UUIDv7; the same for all versions. */
  readonly id: string;
  /** 1 for the first version. */
  readonly version: number;
  /** The statement, in one sentence. */
  readonly text: string;
  /** The kind of statement. */
  readonly kind: Kind;
  /** The structured form of the statement, if it has one. */
  readonly claim?: Claim;
  /** Whether it is current, was replaced, or was never true. */
  readonly status: Status;
  /** 0 to 1. */
  readonly confidence: number;
  /** 0 to 1. */
  readonly importance: number;
  /** How often the same claim was made. */
  readonly evidence: number;
  /** The author of the words. */
  readonly origin: Origin;
  /** The agent that it was said to. */
  readonly agent?: string;
  /** The session that it was said in. */
  readonly session?: string;
  /** When it was said (ISO 8601): the time of the newest source, or of the direct addition. */
  readonly at: string;
  /** When it was true: from (inclusive) and to (exclusive). Open-ended if absent. */
  readonly validFrom?: string;
  /** The end of its validity, exclusive (ISO 8601). */
  readonly validTo?: string;
  /** When an event takes or took place, or when a commitment is due, as an ISO 8601 date or time. */
  readonly when?: string;
  /** Hidden from every read after this time. */
  readonly expiresAt?: string;
  /** Stored for review by a person, never recalled. */
  readonly quarantined?: boolean;
  /**
   * Archived but not untrue: merged into another memory, or cleaned up. Its status is `retracted`; its source
   * words remain valid.
   */
  readonly archived?: boolean;
  /** Health, beliefs, money, secrets. */
  readonly sensitive?: boolean;
  /** Fields of the caller's own. */
  readonly metadata?: Metadata;
  /** The exact words it comes from. */
  readonly sources: readonly SourceSpan[];
  /** The memory that replaced it. */
  readonly supersededBy?: string;
  /** Set while it waits for a review, because something that it depends on has changed. */
  readonly review?: PendingReview;
  /** The revision and time (ISO 8601) at which this version was stored. */
  readonly revision: number;
  /** When this version was stored (ISO 8601). */
  readonly storedAt: string;
  /** What created this version. */
  readonly action: MemoryAction;
  /** The reason, in plain words, without the user's own. */
  readonly why?: string;
}

/** Why a version was created by an undo. */
export const UNDONE = "undone";

/** Whether an undo took back what brought the memory. It is in the history only: no search finds it. */
export function isUndone({ status, action, why }: Pick<Memory, "status" | "action" | "why">): boolean {
  return status === "retracted" && action === "retracted" && why === UNDONE;
}

/** Why a memory waits for a review. */
export interface PendingReview {
  /** Since when (ISO 8601). */
  readonly since: string;
  /** The revision that changed what it depends on. */
  readonly revision: number;
  /** Ids of the memories that it depends on and that have changed; those that were erased are left out. */
  readonly because: readonly string[];
}

/** How often recalls returned a memory. It is not part of its history. */
export interface MemoryUsage {
  /** The number of recalls that returned it, with those behind answers and contexts. */
  readonly count: number;
  /** When a recall last returned it (ISO 8601). Absent if none did. */
  readonly lastAt?: string;
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

/** Identifies equal claims: subject, relation and value, regardless of case, articles and word endings. */
export function toClaimKey(claim: Claim): string {
  let key = claimKeys.get(claim);
  if (key === undefined) {
    key = JSON.stringify([claim.subject.toLowerCase(), claim.relation, toExactKey(claim.value)]);
    // Each write compares with every memory of the user. Claims never change, so their keys can be cached.
    claimKeys.set(claim, key);
  }
  return key;
}

/** Whether two claims have the same subject and relation: two values of one slot. */
export function isSameSlot(one: Claim, other: Claim): boolean {
  return one.relation === other.relation && one.subject.toLowerCase() === other.subject.toLowerCase();
}

/** Whether two qualifiers can describe the same circumstance: they are equal, or one is absent. */
export function areQualifiersCompatible(one: Claim, other: Claim): boolean {
  if (!one.qualifier || !other.qualifier) return true;
  return toWordKey(one.qualifier) === toWordKey(other.qualifier);
}

/** Whether two qualifiers share no word: "when I fly" and "for breakfast". */
export function areQualifiersDisjoint(one: Claim, other: Claim): boolean {
  if (!one.qualifier || !other.qualifier) return false;
  const words = new Set(splitWords(one.qualifier));
  return !splitWords(other.qualifier).some((word) => words.has(word));
}

/** Whether one value contains all words of the other: "Canon" and "a Canon X100". */
export function isValueContained(one: string, other: string): boolean {
  const a = toWordKey(spellOutSigns(one)).split(" ").filter(Boolean);
  const b = toWordKey(spellOutSigns(other)).split(" ").filter(Boolean);
  if (a.length === 0 || b.length === 0) return false;
  const [few, many] = a.length <= b.length ? [a, new Set(b)] : [b, new Set(a)];
  return few.every((word) => many.has(word));
}

/** Whether a memory is current at a time (ISO 8601): neither expired nor quarantined. */
export function isCurrentAt(memory: Memory, at: string): boolean {
  return memory.status === "current" && !memory.quarantined && (!memory.expiresAt || memory.expiresAt > at);
}
