import { hasSameWords } from "../../../../domain/search/search-terms.ts";
import type { AddProposal, Proposal } from "../../../../ports/language/extractor.ts";
import { toCanonicalRelation } from "../../relations/relations.ts";

/** What a message tells twice is told once: of two that claim the same, the one that says more; else the first. */
export function withoutDoubles(proposals: readonly Proposal[]): Proposal[] {
  const kept: Proposal[] = [];
  for (const one of proposals) {
    const at = kept.findIndex((other) => isSame(other, one));
    if (at < 0) kept.push(one);
    else if (saysMore(one, kept[at])) kept[at] = one;
  }
  return kept;
}

function isSame(one: Proposal, other: Proposal): boolean {
  if (one.propose !== "add" || other.propose !== "add" || !one.claim || !other.claim) return false;
  return (
    one.claim.subject === other.claim.subject &&
    toCanonicalRelation(one.claim.relation) === toCanonicalRelation(other.claim.relation) &&
    hasSameWords(one.claim.value, other.claim.value) &&
    one.when === other.when &&
    agree(one, other)
  );
}

/** One of them says nothing more about it, or both say the same. */
function agree({ claim }: AddProposal, other: AddProposal): boolean {
  const [a = "", b = ""] = [claim?.qualifier, other.claim?.qualifier];
  return a === "" || b === "" || hasSameWords(a, b);
}

function saysMore(one: Proposal, other: Proposal | undefined): boolean {
  if (one.propose !== "add" || other?.propose !== "add") return false;
  return (one.claim?.qualifier ?? "").length > (other.claim?.qualifier ?? "").length && !other.replaces;
}
