import type { AddProposal } from "../../../../ports/language/extractor.ts";
import { type ClausePart, getStatementSpan } from "../clauses/parts.ts";
import type { Phrase } from "../clauses/phrases.ts";
import { adding, claimOf, said, thirdPerson } from "../context.ts";
import { compose, inflect } from "./sentence.ts";

/** "I like MY STEAK RARE and MY TEA WITH LEMON": each with how it is liked. */
export function minesOf(part: ClausePart, phrase: Phrase): string[] {
  const { context, tokens, statement } = part;
  const { verb, rest } = statement.clause;
  const first = tokens[phrase.from];
  if (
    !/^(?:like|love|take|prefer|drink|eat|have)$/.test(verb.lemma) ||
    first?.class !== "possessive" ||
    verb.denied ||
    verb.tense === "past"
  )
    return [];
  const parts = said(context, tokens, phrase.from, rest[1]).split(/(?:,| and| but)+ (?=my |our )/i);
  const bare = said(context, tokens, phrase.from, phrase.items[0]?.[1] ?? phrase.to);
  return parts[0] === bare ? [] : parts;
}

export function mineClaims(part: ClausePart, relation: string, values: readonly string[]): AddProposal[] {
  const { context, statement } = part;
  const { subject, clause } = statement;
  return values.map((value) =>
    adding(context, getStatementSpan(part), {
      text: compose(
        subject.display,
        inflect(clause.verb, subject.plural),
        thirdPerson(value, context, subject),
      ),
      claim: claimOf(subject.path, relation, value),
    }),
  );
}
