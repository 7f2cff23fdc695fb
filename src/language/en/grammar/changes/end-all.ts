import type { AddProposal, Proposal } from "../../../../ports/language/extractor.ts";
import { compose } from "../claims/sentence.ts";
import { lastBreath } from "../claims/told.ts";
import { getStatementSpan } from "../clauses/parts.ts";
import type { Phrase } from "../clauses/phrases.ts";
import { adding, claimOf, ending, said, thirdPerson } from "../context.ts";
import { type Held, held, meant, targetOf, telling } from "../forgetting/targets.ts";
import { MODALS } from "../words/lexicon.ts";
import { type Change, endedAt, owner, thirdRelation } from "./change.ts";
import { endings } from "./members.ts";

/** The things a phrase names, one by one. */
export function namesIn(change: Change, phrase: Phrase | undefined): string[] {
  const { context, statement } = change;
  const { tokens, rest } = statement.clause;
  if (!phrase) return [said(context, tokens, ...rest)];
  const items = phrase.items.length > 0 ? phrase.items : [[phrase.from, phrase.to] as const];
  return items.map((item) => said(context, tokens, ...item));
}

/** Ends what is meant by each name; what was never known is kept as it was said. */
export function endAll(
  change: Change,
  names: readonly string[],
  relation: string | undefined,
  keepDenial: boolean,
): Proposal[] {
  return names.flatMap((named) => {
    // Whatever ends, who is called what stays so.
    const wanted = { named, isNoName: true, ...owner(change) };
    const exact = relation === undefined ? [] : meant(change.context, { ...wanted, relation });
    const own = exact.length > 0 ? exact : meant(change.context, wanted);
    const found = own.length > 0 ? own : orElse(withThem(change, named), oneByName(change, named));
    const ended = endings(change.context, getStatementSpan(change), found, named, endedAt(change));
    if (ended.length > 0) return ended;
    if (relation === undefined || !keepDenial) return [];
    return ONE_THING.test(named)
      ? endPointed(change, relation, named)
      : [endUnnamed(change, relation, named)];
  });
}

function orElse(found: readonly Held[], others: readonly Held[]): readonly Held[] {
  return found.length > 0 ? found : others;
}

/** "sold Thunder", of two horses that have names: that one, and how many there are. */
function oneByName({ context }: Change, words: string): Held[] {
  const all = held(context);
  const named = words.replace(/ as (?:an?|my|our) .*$/i, "");
  const naming = all.find(
    ({ claim }) =>
      claim.relation === "be called" &&
      claim.value.toLowerCase() === named.toLowerCase() &&
      claim.subject.endsWith(` ${claim.value}`),
  );
  if (!naming) return [];
  const noun =
    naming.claim.subject
      .slice(0, -naming.claim.value.length - 1)
      .split("/")
      .at(-1) ?? "";
  const counted = all.filter(
    ({ claim }) =>
      /^(?:have|own|keep)$/.test(claim.relation) &&
      /^(?:\d+|two|three|four|five|six|seven|eight) /i.test(claim.value) &&
      telling(claim.value).includes(telling(noun)[0] ?? noun),
  );
  return [naming, ...counted];
}

/** "the kids have quit choir", where the user takes the kids to choir. */
function withThem(change: Change, named: string): Held[] {
  const { context, statement } = change;
  const [root, thing, ...more] = statement.subject.path.split("/");
  if (root !== "user" || thing === undefined || more.length > 0) return [];
  const them = telling(thing);
  return meant(context, { named, isNoName: true }).filter(({ claim }) => {
    const words = telling(`${claim.value} ${claim.qualifier ?? ""}`);
    return them.length > 0 && them.every((word) => words.includes(word));
  });
}

const ONE_THING = /^(?:it|that|this|that one|this one)$/i;

/** "Magnet - not using it anymore": what the words before it name; else the one thing that there is, and never several. */
function endPointed(change: Change, relation: string, named: string): Proposal[] {
  const { context, statement } = change;
  const all = held(context).filter(
    ({ claim }) => claim.subject === statement.subject.path && claim.relation.startsWith(relation),
  );
  if (all.length < 2) return [endUnnamed(change, relation, named)];
  const words = telling(context.content.slice(0, statement.end));
  const told = all.filter(({ claim }) => {
    const own = telling(claim.value);
    return own.length > 0 && own.every((word) => words.includes(word));
  });
  const last = told.length > 0 ? told : ofClaims(all, lastBreath(context, statement.start));
  const target = told.length > 0 || last.length === 1 ? targetOf(last) : undefined;
  return target ? [ending(context, getStatementSpan(change), target, endedAt(change))] : [];
}

function ofClaims(all: readonly Held[], some: readonly Held[]): Held[] {
  return some.filter(({ claim }) => all.some((one) => one.claim === claim));
}

/** "I don't smoke anymore": without a name it ends all of the kind; what was never known is kept as it was said. */
function endUnnamed(change: Change, relation: string, named: string): Proposal {
  const { context, statement } = change;
  const isAll = telling(named).length === 0 && relation !== "be" && relation !== "have";
  const all = isAll
    ? held(context).filter(
        ({ claim }) => claim.subject === statement.subject.path && claim.relation.startsWith(relation),
      )
    : [];
  const target = targetOf(all);
  return target
    ? ending(context, getStatementSpan(change), target, endedAt(change))
    : denial(change, relation, named);
}

/** "no longer uses"; behind a modal the verb keeps its form: "can no longer do". */
function noLonger(relation: string): string {
  const [first = relation, second] = relation.split(" ");
  return MODALS.has(first) && second !== undefined
    ? `${first} no longer ${second}`
    : `no longer ${thirdRelation(first)}`;
}

const ANY_MORE = /(?:^|\s+)any ?(?:more|longer)\b/gi;

function denial(change: Change, relation: string, named: string): AddProposal {
  const { context, statement } = change;
  const { verb, tokens, rest } = statement.clause;
  const told = thirdPerson(said(context, tokens, ...rest), context, statement.subject).replace(ANY_MORE, "");
  const text = verb.copula
    ? compose(statement.subject.display, "is no longer", told)
    : compose(statement.subject.display, noLonger(relation), told);
  return adding(context, getStatementSpan(change), {
    text,
    claim: claimOf(statement.subject.path, `not ${relation}`, named.replace(ANY_MORE, "")),
    kind: "fact",
    holds: "many",
    confidence: 0.8,
  });
}
