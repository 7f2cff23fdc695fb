import { type RulesExtractor, rulesExtractor } from "./grammar/rules.ts";
import { reconcile } from "./statements/reconcile.ts";

/** Reads English statements, changes and requests to forget without a model: rules, checked and completed by dependency trees. */
export function englishExtractor(): RulesExtractor {
  return rulesExtractor(reconcile);
}
