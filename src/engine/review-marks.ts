import type { ChangeSetDraft, LinkType } from "../domain/change-set.ts";
import { type Memory, toClaimKey } from "../domain/memory.ts";
import type { UserState } from "./user-state/user-state.ts";

/** Links whose beginning is reviewed when its end changes. */
const DEPENDENT_TYPES: ReadonlySet<LinkType> = new Set<LinkType>(["depends_on", "derived_from"]);

/**
 * The same draft, with the marks of a review. A current memory that depends on one that the draft ends, rewords or
 * erases gets a version that says so. A memory that the draft confirms or rewords loses its mark.
 */
export function withReviewMarks(
  state: Pick<UserState, "memories" | "links" | "revision">,
  draft: ChangeSetDraft,
  at: string,
): ChangeSetDraft {
  const { memories = [] } = draft;
  const settled = memories.some(({ review }) => review !== undefined)
    ? memories.map((version) => settleReview(state.memories.get(version.id), version))
    : memories;
  const marks = markDependents(state, { ...draft, memories: settled }, at);
  if (marks.length === 0 && settled === memories) return draft;
  return { ...draft, memories: [...settled, ...marks] };
}

/** A statement that was made again, or worded anew by hand, has been reviewed. */
function settleReview(before: Memory | undefined, version: Memory): Memory {
  if (!before?.review || version.review?.revision !== before.review.revision) return version;
  const isConfirmed =
    version.action === "merged" ||
    (version.action === "updated" && (version.text !== before.text || !hasSameClaim(version, before)));
  if (!isConfirmed) return version;
  const { review: _done, ...rest } = version;
  return rest;
}

function markDependents(
  state: Pick<UserState, "memories" | "links" | "revision">,
  draft: ChangeSetDraft,
  at: string,
): Memory[] {
  const links = state.links.filter(({ type }) => DEPENDENT_TYPES.has(type));
  if (links.length === 0) return [];
  const newest = new Map((draft.memories ?? []).map((version) => [version.id, version]));
  const erased = new Set(draft.erase?.memories);
  const hasChanged = (id: string): boolean => {
    const [before, after] = [state.memories.get(id), newest.get(id)];
    return erased.has(id) || (before !== undefined && after !== undefined && isOtherGround(before, after));
  };
  const changed = new Set(links.map(({ to }) => to).filter(hasChanged));
  const because = new Map<string, string[]>();
  for (const { from, to } of links) {
    if (changed.has(to) && !erased.has(from)) because.set(from, [...(because.get(from) ?? []), to]);
  }
  return [...because].flatMap(([id, grounds]) => {
    const memory = newest.get(id) ?? findRewritten(draft, state.memories.get(id));
    if (memory?.status !== "current") return [];
    const revision = state.revision + 1;
    const left = grounds.filter((ground) => !erased.has(ground));
    const earlier = (memory.review?.because ?? []).filter((ground) => !erased.has(ground));
    return {
      ...memory,
      version: memory.version + 1,
      revision,
      storedAt: at,
      action: "updated" as const,
      why:
        left.length < grounds.length
          ? "something that it depends on was erased"
          : "something that it depends on has changed",
      review: { since: at, revision, because: [...new Set([...earlier, ...left])] },
    };
  });
}

/** The newest version of a memory; without the erased words, if the draft rewrites it. */
function findRewritten({ erase }: ChangeSetDraft, memory: Memory | undefined): Memory | undefined {
  const rewritten = erase?.rewrites.find(
    ({ id, version }) => id === memory?.id && version === memory.version,
  );
  return rewritten ?? memory;
}

/** Whether what depends on a memory may no longer hold. Archiving and further evidence change nothing about it. */
function isOtherGround(before: Memory, after: Memory): boolean {
  if (before.status !== "current") return false;
  if (after.status !== "current") return !after.archived;
  if (after.action !== "updated") return false;
  return before.text !== after.text || !hasSameClaim(before, after) || before.validTo !== after.validTo;
}

function hasSameClaim({ claim: one }: Memory, { claim: other }: Memory): boolean {
  if (!one || !other) return one === other;
  return toClaimKey(one) === toClaimKey(other) && one.qualifier === other.qualifier;
}
