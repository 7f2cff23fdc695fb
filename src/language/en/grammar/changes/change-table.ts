import type { Proposal } from "../../../../ports/language/extractor.ts";
import { compose } from "../claims/sentence.ts";
import { getStatementSpan } from "../clauses/parts.ts";
import { adding, claimOf, ending } from "../context.ts";
import { held, targetOf, telling } from "../forgetting/targets.ts";
import { type Change, endedAt, sayIso, sayWhen } from "./change.ts";
import { rescheduled } from "./change-days.ts";
import { left, noLonger, stopped } from "./change-endings.ts";
import { aged, employed, renamed, risen } from "./change-facts.ts";
import {
  coloured,
  departed,
  endedOtherwise,
  reached,
  readReplacement,
  succeeded,
  vanished,
} from "./change-leaving.ts";
import { moved, placed } from "./change-places.ts";
import { formerly, fulfilled } from "./change-plans.ts";
import { instead, swapped } from "./change-swaps.ts";
import { lived } from "./life-event-reader.ts";

/** "our cat Milo died": what was true of it in the present ends with it; that there was a cat stays. */
function deceased(change: Change): Proposal[] | undefined {
  const { context, statement, dates } = change;
  const { verb } = statement.clause;
  if (!(verb.lemma === "die" || verb.lemma === "pass away") || verb.denied) return undefined;
  if (verb.tense !== "past" && !verb.perfect) return undefined;
  const { subject } = statement;
  if (!subject.animate) return undefined;
  const [date] = dates;
  const thing = subject.path.split("/").at(-1) ?? "";
  const found = held(context).filter(
    ({ claim }) =>
      claim.subject === context.discourse.speaker.path &&
      /^(?:have|own|get|adopt|keep|rescue)$/.test(claim.relation) &&
      telling(thing).every((word) => telling(claim.value).includes(word)),
  );
  const noun = thing.replace(/ \p{Lu}.*$/u, "");
  const counted = held(context).filter(
    ({ claim }) =>
      noun !== thing &&
      claim.subject === context.discourse.speaker.path &&
      claim.relation === "have" &&
      /^(?:\d+|two|three|four|five|six) /i.test(claim.value) &&
      telling(noun).every((word) => telling(claim.value).includes(word)),
  );
  const target = subject.path.includes("/") ? targetOf([...found, ...counted]) : undefined;
  return [
    ...(target ? [ending(context, getStatementSpan(change), target, endedAt(change))] : []),
    adding(context, getStatementSpan(change), {
      text: compose(subject.display, "died", date ? sayWhen(date.iso) : ""),
      claim: claimOf(subject.path, "die", date ? sayIso(date.iso) : ""),
      kind: "event",
      holds: "many",
      importance: 0.8,
      ...(date ? { when: date.iso } : {}),
    }),
  ];
}

/** One way to say that something has changed. */
interface ChangeRow {
  readonly name: string;
  /** What the clause ends, swaps or moves; undefined where it is no such change. */
  read(change: Change): Proposal[] | undefined;
  readonly example: ChangeExample;
}

/** What was said, what is said now, and what then holds: the tests of the rules run every one. */
interface ChangeExample {
  readonly before: string;
  readonly says: string;
  /** A word that no current memory holds any more. */
  readonly gone?: string;
  /** A word that a current memory holds then. */
  readonly holds?: string;
}

const row = (
  name: string,
  read: ChangeRow["read"],
  before: string,
  says: string,
  then: Pick<ChangeExample, "gone" | "holds">,
): ChangeRow => ({ name, read, example: { before, says, ...then } });

/** The ways to say a change, in the order in which they are tried: the first that reads a clause has it. */
export const CHANGES: readonly ChangeRow[] = [
  row("replaced by", readReplacement, "My coach is Tove.", "Tove's been replaced by Magnus.", {
    gone: "Tove",
    holds: "Magnus",
  }),
  row("succeeded", succeeded, "My dentist is Joan.", "Joan retired so I see Marek now.", {
    gone: "called Joan",
    holds: "Marek",
  }),
  row("swapped", swapped, "I use Billdesk for my invoices.", "I switched from Billdesk to Ledgerly.", {
    gone: "Billdesk",
    holds: "Ledgerly",
  }),
  row("renamed", renamed, "My dog is called Rex.", "We renamed him Bruno.", { gone: "Rex", holds: "Bruno" }),
  row("moved", moved, "I live in Hull.", "I moved to Leeds last weekend.", { gone: "Hull", holds: "Leeds" }),
  row("rescheduled", rescheduled, "My party is on 14 June.", "The party got moved to 22 June.", {
    gone: "14 June",
    holds: "22 June",
  }),
  row("placed", placed, "My desk is on the second floor.", "They moved my desk to the fifth floor.", {
    gone: "second",
    holds: "fifth",
  }),
  row("risen", risen, "My salary is 52k.", "My salary went up to 61k.", { gone: "52k", holds: "61k" }),
  row("departed", departed, "My lodger is called Wim.", "Wim moved out.", { gone: "lodger is called Wim" }),
  row("lived", lived, "I'm dating Marco.", "I broke up with Marco.", { gone: "dating" }),
  row("employed", employed, "I work at Acme.", "I started at Fernhill last week.", {
    gone: "Acme",
    holds: "Fernhill",
  }),
  row("instead", instead, "I use Padlet.", "I use Miro instead of Padlet.", {
    gone: "Padlet",
    holds: "Miro",
  }),
  row("no longer", noLonger, "I use Padlet.", "I don't use Padlet anymore.", { gone: "Padlet" }),
  row("ended otherwise", endedOtherwise, "I take ramipril.", "The doctor took me off ramipril.", {
    gone: "takes",
  }),
  row("vanished", vanished, "I have a racing bike.", "My racing bike got stolen.", {
    gone: "has a racing bike",
  }),
  row("stopped", stopped, "I'm learning Welsh.", "I stopped learning Welsh.", { gone: "is learning" }),
  row("coloured", coloured, "My hair is brown.", "I dyed my hair pink.", { gone: "brown", holds: "pink" }),
  row("reached", reached, "I have 12,000 subscribers.", "We hit 15,000 subscribers.", {
    gone: "12,000",
    holds: "15,000",
  }),
  row("left", left, "I work at Acme.", "I left Acme.", { gone: "works at Acme" }),
  row("aged", aged, "I am 34 years old.", "I just turned 35.", { gone: "34", holds: "35" }),
  row("deceased", deceased, "My cat is diabetic.", "My cat died.", { gone: "diabetic" }),
  row("formerly", formerly, "I have a boat.", "I used to have a boat.", { gone: "has a boat" }),
  row(
    "fulfilled",
    fulfilled,
    "I promised my niece to paint her room.",
    "I painted my niece's room yesterday.",
    { gone: "promised" },
  ),
];
