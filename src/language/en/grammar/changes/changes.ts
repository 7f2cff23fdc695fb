import type { Proposal } from "../../../../ports/language/extractor.ts";
import { datesOf } from "../clauses/parts.ts";
import { phrasesOf } from "../clauses/phrases.ts";
import { type Context, type Statement, tidy } from "../context.ts";
import type { Change } from "./change.ts";
import { rescheduled } from "./change-days.ts";
import { risen } from "./change-facts.ts";
import { placed } from "./change-places.ts";
import { CHANGES } from "./change-table.ts";
import { lived } from "./life-event-reader.ts";

/** What a clause ends, swaps or moves; undefined where it changes nothing. */
export function changesOf(context: Context, statement: Statement, sentence: string): Proposal[] | undefined {
  const { verb } = statement.clause;
  if (verb.open || (verb.tense === "future" && !/^(?:switch|replace)/.test(verb.lemma))) return undefined;
  const change: Change = {
    context,
    statement,
    sentence,
    phrases: phrasesOf(statement.clause.tokens, ...statement.clause.rest),
    dates: datesOf(context, statement),
    text: tidy(context.content.slice(statement.start, statement.end)),
  };
  for (const { read } of CHANGES) {
    const proposals = read(change);
    if (proposals) return proposals;
  }
  return undefined;
}

/** What somebody unnamed did to a thing of the user's: "they moved my exam", "the gym raised its fee". */
export function byOthers(context: Context, statement: Statement): Proposal[] | undefined {
  if (statement.clause.verb.open) return undefined;
  const change: Change = {
    context,
    statement: { ...statement, subject: bareThing(context, statement) ?? statement.subject },
    sentence: "",
    phrases: phrasesOf(statement.clause.tokens, ...statement.clause.rest),
    dates: datesOf(context, statement),
    text: tidy(context.content.slice(statement.start, statement.end)),
  };
  return lived(change) ?? rescheduled(change) ?? placed(change) ?? risen(change);
}

/** "driving test got postponed": a bare noun is the user's own, where something of it is known. */
function bareThing(context: Context, { clause }: Statement): Statement["subject"] | undefined {
  const { tokens, subject } = clause;
  const first = subject && tokens[subject[0]];
  if (!subject || !first || !["noun", "adjective"].includes(first.class)) return undefined;
  const thing = tidy(context.content.slice(first.start, tokens[subject[1] - 1]?.end))
    .replace(/['’]s$/, "")
    .toLowerCase();
  const { speaker } = context.discourse;
  const display = `${speaker.path === "user" ? "The user" : speaker.display}'s ${thing}`;
  return { path: `${speaker.path}/${thing}`, display, animate: false, plural: false };
}
