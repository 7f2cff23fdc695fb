import { toSingular } from "../../../../domain/text/english-forms.ts";
import type { AddProposal } from "../../../../ports/language/extractor.ts";
import { type Group, groupAt } from "../clauses/group-subjects.ts";
import type { ClausePart } from "../clauses/parts.ts";
import type { Phrase } from "../clauses/phrases.ts";
import { adding, claimOf, said, thirdPerson } from "../context.ts";
import type { Stretch } from "../words/token.ts";
import { compose, inflect } from "./sentence.ts";

/** A group behind its number, in a list. */
interface Grouped extends Group {
  readonly counted: Stretch;
  /** What the list goes on with. */
  readonly others: readonly Stretch[];
}

/** "three cats, Tik, Tak and Toe, and a pond": the names of those that are counted, and what is told beside them. */
export function groupIn({ tokens, context, statement }: ClausePart, { items }: Phrase): Grouped | undefined {
  const [counted] = items;
  const group = counted && groupAt(tokens, counted[1] - 1);
  const isCounted = counted && tokens.slice(...counted).some(({ class: kind }) => kind === "number");
  const isOwn = statement.subject.path === context.discourse.speaker.path;
  if (!group || !isCounted || !isOwn) return undefined;
  return { ...group, counted, others: items.filter(([from]) => from >= group.to) };
}

/** The counted thing, what is listed beside it, and each by name. */
export function groupClaims(part: ClausePart, relation: string, group: Grouped): AddProposal[] {
  const { context, tokens, statement } = part;
  const { subject, clause } = statement;
  const end = Math.max(statement.end, tokens[group.to - 1]?.end ?? 0);
  const told = [group.counted, ...group.others].map((item) => {
    const value = said(context, tokens, ...item);
    return adding(
      context,
      { start: statement.start, end },
      {
        text: compose(
          subject.display,
          inflect(clause.verb, subject.plural),
          thirdPerson(value, context, subject),
        ),
        claim: claimOf(subject.path, relation, value),
      },
    );
  });
  return [...told, ...group.names.map((name) => namedOne(part, toSingular(group.noun), name, end))];
}

/** One of several who bear the same noun has a path of its own: "user/kid Ada". */
export function namedOne(part: ClausePart, kind: string, name: string, end: number): AddProposal {
  const { context, statement } = part;
  const { subject } = statement;
  return adding(
    context,
    { start: statement.start, end },
    {
      text: compose(`${subject.display}'s ${kind}`, "is called", name),
      claim: claimOf(`${subject.path}/${kind} ${name}`, "be called", name),
      importance: 0.8,
    },
  );
}
