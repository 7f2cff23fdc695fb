import type { Tombstone } from "../../domain/change-set.ts";
import type { Claim } from "../../domain/memory.ts";
import { toClaimKey } from "../../domain/memory.ts";
import type { Message } from "../../domain/message.ts";
import type { Scope } from "../../domain/scope.ts";
import { isUnspaced, splitWords, toWordKey } from "../../domain/search/search-terms.ts";
import type { Secret } from "../../ports/system.ts";

/** The longest run of words that one word tombstone covers. Longer wordings have one for each run. */
export const MAX_TOMBSTONE_WORDS = 5;

/** The hash that blocks an erased claim, or erased words. Bound to the user. */
export function hashTombstone(secret: Secret, scope: Scope, of: Tombstone["of"], text: string): string {
  return secret.sign(JSON.stringify(["tombstone", scope.project, scope.user, of, text]));
}

export function hashClaimTombstones(
  secret: Secret,
  scope: Scope,
  claim: Claim,
): { claim: string; words?: string } {
  const key = toWordKey(claim.value);
  return {
    claim: hashTombstone(secret, scope, "claim", toClaimKey(claim)),
    ...(isDistinctive(claim.value) ? { words: hashTombstone(secret, scope, "words", key) } : {}),
  };
}

/**
 * Whether words are distinctive enough to erase wherever they occur: not "5", "yes" or "a lot". Such a value
 * is erased only where it was said about the selected subject.
 */
export function isDistinctive(text: string): boolean {
  const words = splitWords(text);
  if (words.length === 0 || words.length > MAX_TOMBSTONE_WORDS) return false;
  return words.some(
    (word) =>
      word.length >= (isUnspaced(word) ? 2 : 3) &&
      !COMMON_WORDS.has(word) &&
      (/\d{3,}/.test(word) || /\p{L}/u.test(word)),
  );
}

/** Words found in everybody's sentences: alone they identify nothing and are not searched for. */
const COMMON_WORDS: ReadonlySet<string> = new Set(
  (
    "the and for are was not yes you your our his her its their this that these those all any some one two three " +
    "four five six seven eight nine ten day days week weeks month months year years today tomorrow yesterday morning " +
    "evening night monday tuesday wednesday thursday friday saturday sunday good bad big small new old long short " +
    "home work school office house flat room city town place thing things lot lots much many more most less very " +
    "really always never often sometimes here there now then again red blue green black white brown grey gray " +
    "yellow car bike dog cat tea coffee water food money time people person man woman boy girl friend friends " +
    "family happy sad tired busy fine okay"
  ).split(" "),
);

/**
 * Whether the user said this after the erasure, and so wants it known again. A message without its own time
 * was said when it was stored, which is after any tombstone that existed then.
 */
export function isRestatedByUser(message: Message, tombstone: Tombstone): boolean {
  return message.origin === "user_message" && (message.at > tombstone.at || message.at === message.storedAt);
}
