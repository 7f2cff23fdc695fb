import type { AddProposal } from "../../../../ports/language/extractor.ts";
import { mineClaims } from "../claims/mine-claims.ts";
import type { Stretch } from "../words/token.ts";
import { antecedent } from "./antecedents.ts";
import type { ClausePart } from "./parts.ts";

const TASTE =
  /^(?:not |never |really )?(?:like|love|adore|enjoy|hate|dislike|prefer|be into|can not stand|not like|not enjoy)$/;

/** "Do you play chess? I love it": a taste for what the sentence before was about. Not among people: there it is anybody's. */
export function tasteOfThat(part: ClausePart, relation: string, [from, to]: Stretch): AddProposal[] {
  const { context, tokens, statement } = part;
  const { subject } = statement;
  const pronoun = tokens[from]?.lower ?? "";
  const isTaste = to - from === 1 && TASTE.test(relation) && /^(?:it|them|those|these|that)$/.test(pronoun);
  if (!isTaste || context.message.name !== undefined || subject.path !== context.discourse.speaker.path)
    return [];
  const value = antecedent(context, pronoun, statement.start);
  if (value === undefined) return [];
  return mineClaims(part, relation, [value]).map((claim) => ({ ...claim, confidence: 0.7 }));
}
