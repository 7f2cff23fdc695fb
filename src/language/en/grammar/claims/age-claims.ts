import type { AddProposal } from "../../../../ports/language/extractor.ts";
import { formatDateInWords } from "../../format-date.ts";
import { type ClausePart, getStatementSpan } from "../clauses/parts.ts";
import { adding, claimOf, saidAt } from "../context.ts";
import { compose } from "./sentence.ts";

const AGE =
  /^(\d{1,3}|(?:twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety)?[- ]?(?:one|two|three|four|five|six|seven|eight|nine)|ten|eleven|twelve|(?:thir|four|fif|six|seven|eigh|nine)teen|twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety)(?: years? old| y\/?o)?$/i;

/** "34", "thirty-four years old" */
export function isAge(value: string): boolean {
  const age = AGE.exec(value)?.[1];
  return age !== undefined && !(Number(age) > OLDEST);
}

const OLDEST = 125;

/** "I'm 34": how old somebody is. Of "we" it is a number of people. */
export function ageClaims(part: ClausePart, value: string): AddProposal[] {
  const { statement, context } = part;
  const age = AGE.exec(value)?.[1] ?? value;
  const { verb } = statement.clause;
  const first = statement.clause.subject && statement.clause.tokens[statement.clause.subject[0]];
  if (first?.lower === "we" && !/old$/i.test(value)) return [];
  if (verb.denied || verb.tense === "past" || verb.perfect) return [];
  const [date] = part.dates;
  if (date && date.iso > saidAt(context.message).slice(0, date.iso.length))
    return [turning(part, age, date.iso)];
  return [
    adding(context, getStatementSpan(part), {
      text: compose(statement.subject.display, "is", age, "years old"),
      claim: claimOf(statement.subject.path, "be aged", age),
      importance: 0.7,
    }),
  ];
}

/** "My mother is 70 on Friday": not yet. */
function turning(part: ClausePart, age: string, iso: string): AddProposal {
  const { subject } = part.statement;
  const day = `${iso.length >= 10 ? "on" : "in"} ${formatDateInWords(iso, { weekday: false })}`;
  return adding(part.context, getStatementSpan(part), {
    text: compose(subject.display, subject.plural ? "turn" : "turns", age, day),
    claim: claimOf(subject.path, "turn", age, day),
    kind: "event",
    holds: "many",
    when: iso,
  });
}
