import { groupAt } from "./group-subjects.ts";
import { type ClausePart, datesOf } from "./parts.ts";
import type { Phrase } from "./phrases.ts";

/** "a storage unit in Kew AND a garage in Acton", "at the library AND weekends at a stall": each by itself. */
export function conjunctsOf(part: ClausePart): ClausePart[] {
  const { phrases, tokens, statement } = part;
  const [from, to] = statement.clause.rest;
  const cuts = phrases.flatMap((phrase, k) => {
    const isAnd = phrase.kind === "other" && ["and", "plus", "&"].includes(tokens[phrase.from]?.lower ?? "");
    return isAnd && isAlike(phrases, k) && !isInGroup(part, phrase) ? [phrase] : [];
  });
  const apposed = phrases.filter(
    (phrase, k) => isApposed(part, phrases[k - 1], phrase) || isNextPair(part, phrases, k),
  );
  const all = [
    ...cuts.map((cut) => ({ from: cut.from, to: cut.to })),
    ...apposed.map((phrase) => ({ from: phrase.from, to: phrase.from })),
  ].sort((a, b) => a.from - b.from);
  if (all.length === 0 || statement.clause.verb.denied) return [];
  const edges = [from, ...all.map((cut) => cut.to)];
  return edges.map((start, k): ClausePart => {
    const end = all[k]?.from ?? to;
    return {
      ...part,
      dates: ownDates(part, start, end),
      ...(k > 0 ? { isBeside: true } : {}),
      phrases: phrases.filter((phrase) => phrase.from >= start && phrase.to <= end),
      statement: { ...statement, clause: { ...statement.clause, rest: [start, end] } },
    };
  });
}

/** "two daughters, Zosia 9 years AND Hania 4 years": the names are those of the ones that are counted. */
function isInGroup({ tokens, statement }: ClausePart, { from }: Phrase): boolean {
  const [start] = statement.clause.rest;
  return tokens.slice(start, from).some((_, i) => (groupAt(tokens, start + i)?.to ?? 0) > from);
}

/** "Cadiz in March and Seville in May": to each its own date, where it has one. */
function ownDates(part: ClausePart, from: number, to: number): ClausePart["dates"] {
  const { context, statement, tokens } = part;
  const [first, last] = [tokens[from], tokens[to - 1]];
  if (!first || !last) return part.dates;
  const shift = first.start - statement.start;
  const own = datesOf(context, { ...statement, start: first.start, end: last.end });
  if (own.length === 0) return part.dates;
  return own.map((date) => ({ ...date, start: date.start + shift, end: date.end + shift }));
}

/** "piano on Mondays, JUDO on Wednesdays": a thing with its time or place behind another such. */
function isNextPair({ tokens }: ClausePart, phrases: readonly Phrase[], k: number): boolean {
  const [first, last, phrase, next] = [phrases[k - 2], phrases[k - 1], phrases[k], phrases[k + 1]];
  const isPair = (one: Phrase | undefined, two: Phrase | undefined): boolean =>
    one?.kind === "noun" && (two?.kind === "time" || two?.kind === "preposition");
  if (!last || !isPair(first, last) || !isPair(phrase, next) || last.kind !== next?.kind) return false;
  return last.head === next.head && /,/.test(tokens[last.to - 1]?.after ?? "");
}

/** "two properties, A COTTAGE in Wales": what the number counts. */
function isApposed({ tokens }: ClausePart, last: Phrase | undefined, phrase: Phrase): boolean {
  if (last?.kind !== "noun" || phrase.kind !== "noun" || last.items.length !== 1) return false;
  const isCounted = tokens.slice(last.from, last.to).some(({ class: kind }) => kind === "number");
  const isOne = ["a", "an"].includes(tokens[phrase.from]?.lower ?? "");
  return isCounted && isOne && /[,:]/.test(tokens[last.to - 1]?.after ?? "");
}

/** What follows "and" is of the kind of what the verb took first: a thing for a thing, a place for a place. */
function isAlike(phrases: readonly Phrase[], at: number): boolean {
  const telling = (one: Phrase): boolean => one.kind === "noun" || one.kind === "preposition";
  const first = phrases.slice(0, at).find(telling);
  const next = phrases.slice(at + 1).find(telling);
  const between = phrases.slice(at + 1, next ? phrases.indexOf(next) : undefined);
  if (!first || !next || between.some(({ kind }) => kind !== "time")) return false;
  return first.kind === next.kind && (first.kind === "noun" || first.head === next.head);
}
