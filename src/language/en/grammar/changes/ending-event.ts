import type { AddProposal } from "../../../../ports/language/extractor.ts";
import { toPastTense } from "../../word-forms.ts";
import { compose } from "../claims/sentence.ts";
import { getStatementSpan, sentenceOf } from "../clauses/parts.ts";
import type { Phrase } from "../clauses/phrases.ts";
import { adding, claimOf, type Statement, said } from "../context.ts";
import type { Change } from "./change.ts";

/** What happened, as an event of its own. */
export function event(change: Change, verb: string, relation: string, object?: Phrase): AddProposal {
  const { context, statement, dates } = change;
  const { tokens, rest } = statement.clause;
  const value = object
    ? said(context, tokens, object.items[0]?.[0] ?? object.from, object.to)
    : said(context, tokens, ...rest);
  const [date] = dates;
  const head = verb.split(" ")[0] ?? verb;
  const isGerund = statement.clause.verb.chain.some(({ next }) => next === "gerund");
  return adding(context, getStatementSpan(change), {
    text:
      sentenceOf({ context, statement: inPast(statement), dates }, said(context, tokens, ...rest)) ||
      compose(statement.subject.display, toPastTense(head), value),
    claim: claimOf(statement.subject.path, isGerund ? `${verb} ${gerundIn(statement)}` : relation, value),
    kind: "event",
    holds: "many",
    importance: 0.4,
    ...(date ? { when: date.iso } : {}),
  });
}

/** "I quit smoking": of a verb that looks the same, the past is meant. */
function inPast(statement: Statement): Statement {
  const { clause } = statement;
  const { verb } = clause;
  if (verb.tense !== "present" || verb.perfect || verb.progressive || verb.modal) return statement;
  return { ...statement, clause: { ...clause, verb: { ...verb, tense: "past" } } };
}

export function gerundIn(statement: Statement): string {
  const { clause } = statement;
  return (
    clause.tokens.slice(clause.verb.from, clause.verb.to).findLast(({ lower }) => /ing$/.test(lower))
      ?.lower ?? clause.verb.lemma
  );
}
