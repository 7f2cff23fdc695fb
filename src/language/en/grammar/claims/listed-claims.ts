import type { AddProposal } from "../../../../ports/language/extractor.ts";
import { toSingular } from "../../word-forms.ts";
import { type Group, groupAt, memberClaims } from "../clauses/group-subjects.ts";
import { readList } from "../clauses/noun-phrases.ts";
import type { ClausePart } from "../clauses/parts.ts";
import type { Phrase } from "../clauses/phrases.ts";
import { adding, claimOf, said, thirdPerson } from "../context.ts";
import { ANIMALS, FEMALE, MALE } from "../words/lexicon.ts";
import { isName } from "../words/nouns.ts";
import { isPersonNoun } from "../words/persons.ts";
import type { Stretch } from "../words/token.ts";
import { compose, inflect } from "./sentence.ts";

/** "podcasts in Overcast, Castro and Pocket Casts": one for each, so that each can end by itself. */
export function listedMeans(part: ClausePart, phrase: Phrase): ClausePart[] | undefined {
  const { phrases, statement, tokens } = part;
  const means = phrases[phrases.indexOf(phrase) + 1];
  const isTaken = means?.head === "to" && /^(?:take|drive|bring|send)$/.test(statement.clause.verb.lemma);
  const isMeans =
    means?.kind === "preposition" && (isTaken || /^(?:in|on|with|at|via|through)$/.test(means.head ?? ""));
  if (!isMeans || phrase.items.length > 1 || means.items.length < 2 || means.to !== statement.clause.rest[1])
    return undefined;
  const isKept = /^(?:keep|write|store|track|do|save)$/.test(statement.clause.verb.lemma);
  if (isTaken) return means.items.map((item) => onlyItem(part, means, item));
  const isNamed = means.items.filter((item) => isName(tokens, ...item)).length;
  if (isNamed < (isKept ? 1 : means.items.length)) return undefined;
  return means.items.map((item) => onlyItem(part, means, item));
}

/** The clause as if the list held that one alone. */
function onlyItem(part: ClausePart, means: Phrase, item: Stretch): ClausePart {
  return {
    ...part,
    only: { all: [means.items[0]?.[0] ?? means.from, means.to], one: item },
    phrases: part.phrases.map((one) => (one === means ? { ...means, items: [item] } : one)),
  };
}

const MEASURE =
  /^(?:(?:an? )?(?:little |tiny |wee )?(?:bit|touch|spot|dash|smattering) of (?!an? |the )|(?:some|the odd|(?:the|an) occasional|a little) (?=\p{Lu}))/u;

/** "Linear and A BIT OF Figma": how much says nothing of what it is. */
export function withoutMeasure(value: string): string {
  return value.replace(MEASURE, "");
}

interface Listed {
  readonly items: readonly (readonly [number, number])[];
  /** "courses" */
  readonly kind: string;
}

/** "three courses: statistics, ceramics and Japanese": the list behind the number. */
export function listedBehind(part: ClausePart, phrase: Phrase): Listed | undefined {
  const { tokens } = part;
  const [item, ...others] = phrase.items;
  if (!item || !others.every((other) => isName(tokens, ...other))) return undefined;
  const noun = tokens[item[1] - 1];
  const counted = tokens
    .slice(...item)
    .some(
      ({ class: kind, lower }) =>
        kind === "number" || ["several", "some", "few", "these", "following"].includes(lower),
    );
  if (!noun || !counted || toSingular(noun.lower) === noun.lower || !/[,:(–—-]/.test(noun.after))
    return undefined;
  const list = readList(tokens, item[1], tokens.length);
  if (!list || list.items.length < 2) return undefined;
  return { items: list.items, kind: toSingular(noun.lower) };
}

export function listedClaims(part: ClausePart, relation: string, listed: Listed): AddProposal[] {
  const { context, tokens, statement } = part;
  const { subject, clause } = statement;
  const last = tokens[listed.items.at(-1)?.[1] ?? 0] ?? tokens.at(-1);
  const end = Math.max(
    statement.end,
    tokens[(listed.items.at(-1)?.[1] ?? 1) - 1]?.end ?? last?.end ?? statement.end,
  );
  const article = /^[aeiou]/.test(listed.kind) ? "an" : "a";
  const names = namesOf(part, listed);
  if (names) {
    const counted = said(context, tokens, part.phrases[0]?.items[0]?.[0] ?? 0, listed.items[0]?.[0] ?? 0);
    const whole = adding(
      context,
      { start: statement.start, end },
      {
        text: compose(subject.display, inflect(clause.verb, subject.plural), counted),
        claim: claimOf(subject.path, relation, counted),
      },
    );
    return [
      whole,
      ...names.flatMap((name) =>
        memberClaims(context, subject, listed.kind, { name }, { start: statement.start, end }),
      ),
    ];
  }
  return listed.items.map((item) => {
    const value = said(context, tokens, ...item);
    const text = compose(
      subject.display,
      inflect(clause.verb, subject.plural),
      thirdPerson(value, context, subject),
      `as ${article} ${listed.kind}`,
    );
    return adding(
      context,
      { start: statement.start, end },
      { text, claim: claimOf(subject.path, relation, value, `as ${article} ${listed.kind}`) },
    );
  });
}

/** "three kids: Ada, Bruno and little Cleo": names of persons or animals. */
function namesOf({ context, tokens }: ClausePart, { kind, items }: Listed): string[] | undefined {
  const head = kind.split(" ").at(-1) ?? kind;
  if (!isPersonNoun(head) && !ANIMALS.has(head) && !FEMALE.has(head) && !MALE.has(head)) return undefined;
  const names = items.map((item) => said(context, tokens, ...item).replace(/^(?:little|big|baby|old) /i, ""));
  return names.every((name) => /^\p{Lu}\S*(?: \p{Lu}\S*)*$/u.test(name)) ? names : undefined;
}

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
  const place = { start: statement.start, end };
  const each = group.members.flatMap((one) =>
    memberClaims(context, subject, toSingular(group.noun), one, place),
  );
  return [...told, ...each];
}
