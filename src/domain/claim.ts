import type { Claim, Memory } from "./memory.ts";
import { spellOutSigns, splitWords, toExactKey, toWordKey } from "./words.ts";

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
