import type { Proposal } from "../../ports/extractor.ts";
import type { Change } from "./change.ts";
import { deceased, left, noLonger, over, stopped } from "./change-endings.ts";
import { aged, employed, moved, placed, renamed, rescheduled, risen, wed } from "./change-facts.ts";
import {
  coloured,
  departed,
  endedOtherwise,
  reached,
  replacedBy,
  succeeded,
  vanished,
} from "./change-leaving.ts";
import { formerly, fulfilled } from "./change-plans.ts";
import { instead, swapped } from "./change-swaps.ts";
import { type Context, type Statement, tidy } from "./context.ts";
import { datesOf } from "./parts.ts";
import { phrasesOf } from "./phrases.ts";

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
  for (const read of [
    replacedBy,
    succeeded,
    swapped,
    renamed,
    moved,
    rescheduled,
    placed,
    risen,
    employed,
    wed,
    instead,
    noLonger,
    over,
    endedOtherwise,
    vanished,
    departed,
    stopped,
    coloured,
    reached,
    left,
    aged,
    deceased,
    formerly,
    fulfilled,
  ]) {
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
    statement,
    sentence: "",
    phrases: phrasesOf(statement.clause.tokens, ...statement.clause.rest),
    dates: datesOf(context, statement),
    text: tidy(context.content.slice(statement.start, statement.end)),
  };
  return rescheduled(change) ?? placed(change) ?? risen(change);
}
