import type { ChangeSetDraft } from "../../domain/change-set.ts";
import { computeExpiry, type ExpiryPolicy } from "../../domain/expiry-policy.ts";
import type { Memory } from "../../domain/memory.ts";

/** The memories as stored before the change. */
interface StoredMemories {
  readonly memories: ReadonlyMap<string, Memory>;
}

/** What a policy needs to know: the rules, whose memories they are, and the time of the change (ISO 8601). */
interface ExpiryContext {
  readonly policy: ExpiryPolicy | undefined;
  readonly project: string;
  readonly at: string;
}

/**
 * Sets the expiry of new memories by the policy, unless they have one. What is said again expires later, if the policy set its
 * expiry. Memories that are undone, reworded or already stored keep theirs.
 */
export function withExpiry(
  { memories }: StoredMemories,
  draft: ChangeSetDraft,
  { policy, project, at }: ExpiryContext,
): ChangeSetDraft {
  if (!policy || !draft.memories || draft.cause === "undo") return draft;
  const computeFor = (kind: Memory["kind"], time: string) =>
    computeExpiry(policy, { project, kind, at: time });
  const expire = (memory: Memory): Memory => {
    const before = memories.get(memory.id);
    const wasByPolicy =
      before?.expiresAt !== undefined && before.expiresAt === computeFor(before.kind, before.storedAt);
    const isDue = before
      ? memory.action === "merged" && wasByPolicy && memory.expiresAt === before.expiresAt
      : memory.expiresAt === undefined;
    const expiresAt = isDue && memory.status === "current" ? computeFor(memory.kind, at) : undefined;
    return expiresAt === undefined ? memory : { ...memory, expiresAt };
  };
  return { ...draft, memories: draft.memories.map(expire) };
}
