import type { AddProposal } from "../../../../ports/language/extractor.ts";
import { type ClausePart, getStatementSpan, relationWith } from "../clauses/parts.ts";
import { adding, claimOf, said } from "../context.ts";
import { compose } from "./sentence.ts";

const INCLINED =
  /^(?<more>more of )?an? (?<what>[\p{L}'’-]+(?: [\p{L}'’-]+)?) (?:person|guy|girl|man|woman|lover|family)(?: than an? (?<other>[\p{L}'’ -]+?)(?: (?:person|guy|girl|man|woman))?)?$/iu;

/** "I'm more of a tea person than a coffee person", "I'm a cat person": what one prefers, or likes. */
export function inclination(part: ClausePart): AddProposal[] | undefined {
  const { context, tokens, statement } = part;
  const { subject, clause } = statement;
  const told = INCLINED.exec(said(context, tokens, ...clause.rest))?.groups;
  if (
    !told?.what ||
    clause.verb.tense === "past" ||
    /^(?:nice|good|bad|new|different|changed|better|happy|family|business|poor|lucky|private|people|religious|old|young|grown|busy|calm|patient|disabled|trans|straight|gay)$/i.test(
      told.what,
    )
  )
    return undefined;
  const isMore = told.more !== undefined;
  const relation = relationWith(clause.verb.denied, isMore ? "prefer" : "be into");
  const rest = said(context, tokens, ...clause.rest);
  return [
    adding(context, getStatementSpan(part), {
      text: compose(subject.display, clause.verb.denied ? "is not" : subject.plural ? "are" : "is", rest),
      claim: claimOf(subject.path, relation, told.what, told.other ? `over ${told.other}` : ""),
      kind: "preference",
      importance: 0.6,
    }),
  ];
}
