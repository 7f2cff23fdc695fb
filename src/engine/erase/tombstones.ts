import type { Tombstone } from "../../domain/change-set.ts";
import type { Claim } from "../../domain/memory.ts";
import { toClaimKey } from "../../domain/memory.ts";
import type { Message } from "../../domain/message.ts";
import type { Scope } from "../../domain/scope.ts";
import { toWordKey } from "../../domain/search/search-terms.ts";
import type { Secret } from "../../ports/system.ts";
import type { Ports } from "../ports.ts";

/** The hash that blocks an erased claim, or erased words. Bound to the user. */
export function hashTombstone(secret: Secret, scope: Scope, of: Tombstone["of"], text: string): string {
  return secret.sign(JSON.stringify(["tombstone", scope.project, scope.user, of, text]));
}

export function hashClaimTombstones(
  { secret, vocabulary }: Pick<Ports, "secret" | "vocabulary">,
  scope: Scope,
  claim: Claim,
): { claim: string; words?: string } {
  const key = toWordKey(claim.value);
  return {
    claim: hashTombstone(secret, scope, "claim", toClaimKey(claim)),
    ...(vocabulary.isDistinctive(claim.value) ? { words: hashTombstone(secret, scope, "words", key) } : {}),
  };
}

/**
 * Whether the user said this after the erasure, and so wants it known again. A message without its own time
 * was said when it was stored, which is after any tombstone that existed then.
 */
export function isRestatedByUser(message: Message, tombstone: Tombstone): boolean {
  return message.origin === "user_message" && (message.at > tombstone.at || message.at === message.storedAt);
}
