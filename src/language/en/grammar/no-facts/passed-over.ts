import { isOwnReason } from "../claims/reasons.ts";
import type { Clause } from "../clauses/clauses.ts";

/** Clauses that tell nothing that is so: questions, quotes, conditions, what nearly happened. */
export function isPassedOver(clause: Clause, conditional: boolean): boolean {
  const { tokens, verb, role } = clause;
  if (clause.asks || tokens[verb.from]?.quoted) return true;
  const isAside = ["condition", "circumstance", "reason"].includes(role) && !isOwnReason(clause);
  if (isAside || isNearly(clause)) return true;
  return conditional && (verb.open || verb.tense !== "present" || verb.progressive);
}

/** "I almost bought a boat" */
function isNearly({ tokens, verb }: Clause): boolean {
  const before = /^(?:almost|nearly|hardly|barely)$/.test(tokens[verb.from - 1]?.lower ?? "");
  return before || tokens.slice(verb.from, verb.to).some(({ lower }) => /^(?:almost|nearly)$/.test(lower));
}
