import type { AddProposal } from "../../../../ports/language/extractor.ts";
import { type ClausePart, getStatementSpan, relationWith } from "../clauses/parts.ts";
import { adding, claimOf, said } from "../context.ts";
import { compose } from "./sentence.ts";

const FAN =
  /^(?:(?:such|quite|really|also|kind of|kinda|a bit of|not much of|just|the|an?|huge|big|biggest|massive|real|true|avid|total|lifelong|diehard|die-hard|hardcore|complete|major|bit of a|proud|long time|longtime) )*(?<what>[\p{L}\p{N}'’-]+(?: [\p{L}\p{N}'’-]+){0,2}) (?:fan|buff|nut|geek|fanatic|enthusiast|junkie|addict|lover|aficionado)s?$/iu;

/** "I'm a huge rugby fan", "such a history buff": a fan of it. */
export function fanClaims(part: ClausePart): AddProposal[] | undefined {
  const { context, tokens, statement } = part;
  const { subject, clause } = statement;
  const rest = said(context, tokens, ...clause.rest);
  const told = FAN.exec(rest)?.groups?.what;
  if (
    told === undefined ||
    clause.verb.tense === "past" ||
    /^(?:drug|sex|ceiling|your|my|his|her|their)\b|\b(?:to|of|with|by|from|in|on|about|for|at)$/i.test(told)
  )
    return undefined;
  const denied = clause.verb.denied;
  return [
    adding(context, getStatementSpan(part), {
      text: compose(subject.display, subject.plural ? "are" : "is", denied ?? "", rest),
      claim: claimOf(subject.path, relationWith(denied, "be a fan of"), told),
      kind: "preference",
    }),
  ];
}
