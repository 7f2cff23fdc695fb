import type { AddProposal } from "../../ports/extractor.ts";
import { antecedent } from "./antecedents.ts";
import { adding, claimOf, thirdPerson } from "./context.ts";
import { type Part, place } from "./parts.ts";
import { compose, inflect } from "./sentence.ts";
import type { Stretch } from "./token.ts";

const TASTE =
  /^(?:not |never |really )?(?:like|love|adore|enjoy|hate|dislike|prefer|be into|can not stand|not like|not enjoy)$/;

/** "Do you play chess? I love it": a taste for what the sentence before was about. Not among people: there it is anybody's. */
export function tasteOfThat(part: Part, relation: string, [from, to]: Stretch): AddProposal[] {
  const { context, tokens, statement } = part;
  const { subject, clause } = statement;
  const pronoun = tokens[from]?.lower ?? "";
  const isTaste = to - from === 1 && TASTE.test(relation) && /^(?:it|them|those|these|that)$/.test(pronoun);
  if (!isTaste || context.message.name !== undefined || subject.path !== context.discourse.speaker.path)
    return [];
  const value = antecedent(context, pronoun, statement.start);
  if (value === undefined) return [];
  return [
    adding(context, place(part), {
      text: compose(
        subject.display,
        inflect(clause.verb, subject.plural),
        thirdPerson(value, context, subject),
      ),
      claim: claimOf(subject.path, relation, value),
      confidence: 0.7,
    }),
  ];
}
