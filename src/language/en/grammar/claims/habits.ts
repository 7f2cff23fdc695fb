import type { AddProposal } from "../../../../ports/language/extractor.ts";
import { type ClausePart, getStatementSpan, qualifierOf, restWith, sentenceOf } from "../clauses/parts.ts";
import { adding, claimOf } from "../context.ts";

/** "I can help", "you can say": of the moment, and no skill. */
const NO_ABILITY =
  /^(?:help|do|go|come|see|wait|say|tell|believe|imagine|understand|relate|hear|try|be|have|get|make|know|think|guess|feel|use|look|stand|agree|remember|talk|leave|stay|stop|keep|give|take|find|start|afford|decide|explain|relax|bet|picture|join|call|meet|eat|sleep|breathe|admit|manage|move|live|lie|complain|concentrate|focus|handle|continue|ask|check|wake|rest|hang|turn|show|sit|work)\b/;

/** "I smoke", "I vape": the verb alone tells something where it is a habit. */
export function bareClaims(part: ClausePart, base: string): AddProposal[] {
  const { context, statement } = part;
  const { verb } = statement.clause;
  const isAbility = verb.modal === "can" && verb.chain.length === 0 && !NO_ABILITY.test(verb.lemma);
  const isHabit =
    isAbility ||
    (verb.tense === "present" &&
      !verb.progressive &&
      !verb.perfect &&
      /^(?:not |never )?(?:can )?(?:smoke|vape|drink|drive|swim|cycle|run|ski|surf|snore|sing|dance|climb|knit|sew|paint|bake|cook|garden|fish|hunt|meditate|pray|freelance|commute|box|fence|row|sail|skate|snowboard|juggle|code|program|crochet|vote|stammer|stutter|volunteer|foster|travel|act|write|read|draw|hike|camp|jog|garden|game|stream|blog|skydive|sculpt|whittle|quilt|model|tutor|babysit|rap|skateboard|kayak|canoe|bowl|golf|wrestle|lift)(?: a lot)?$/.test(
        base,
      ));
  if (!isHabit) return [];
  return [
    adding(context, getStatementSpan(part), {
      text: sentenceOf(part, restWith(part, undefined, undefined)),
      claim: claimOf(statement.subject.path, base, "", qualifierOf(part)),
      kind: "fact",
    }),
  ];
}
