import type { AddProposal, Proposal } from "../../../../ports/language/extractor.ts";
import { compose } from "../claims/sentence.ts";
import { lastTold } from "../claims/told.ts";
import { isHuman } from "../clauses/entities.ts";
import type { Entity } from "../clauses/entity.ts";
import { getStatementSpan, sentenceOf } from "../clauses/parts.ts";
import type { Phrase } from "../clauses/phrases.ts";
import { adding, claimOf, said } from "../context.ts";
import { held, targetOf } from "../forgetting/targets.ts";
import { isTime } from "../time/times.ts";
import { type Change, fromThen } from "./change.ts";
import { movedThing, sameThing } from "./change-days.ts";

const MOVES = new Set([
  "move",
  "relocate",
  "emigrate",
  "resettle",
  "move in",
  "move out",
  "settle",
  "move away",
  "move back",
  "settle down",
]);

/** "we moved to Leeds last weekend": where one lives from then on. A move ahead is a plan. */
export function moved(change: Change): Proposal[] | undefined {
  const { context, statement } = change;
  const { verb, tokens } = statement.clause;
  if (!MOVES.has(verb.lemma) || verb.denied || verb.chain.length > 0) return undefined;
  const mover = moverIn(change);
  if (!mover) return undefined;
  const company = verb.lemma === "move in" ? movedInWith(change) : undefined;
  if (company) return company;
  const target = whereTo(change);
  if (!target || (verb.progressive && !verb.perfect)) return undefined;
  const item = target.items[0];
  if (!item) return undefined;
  const where = said(context, tokens, ...item);
  if (isTime(tokens, ...item) || !isHome(change, mover, target, where)) return undefined;
  const isThing = IS_THING.test(where);
  const rest = said(context, tokens, ...statement.clause.rest);
  return [
    adding(context, getStatementSpan(change), {
      text: sentenceOf({ context, statement, dates: change.dates }, rest),
      claim: claimOf(mover.path, isThing && !/\p{Lu}/u.test(where) ? "live at" : "live in", where),
      holds: "one",
      kind: "fact",
      importance: 0.8,
      ...addressOf(change, mover),
      ...fromThen(change),
    }),
  ];
}

/** "Work moved me to the Rotterdam office": whom others move to a thing does not live there. */
function isHome(change: Change, mover: Entity, { head }: Phrase, where: string): boolean {
  const isThing = IS_THING.test(where);
  if (isProvider(change, where)) return false;
  const isInto = /^in/.test(head ?? "") && change.statement.clause.verb.lemma === "move in";
  return (isThing ? mover === change.statement.subject : /^\p{Lu}/u.test(where)) && !isInto;
}

/** "I'm with Admiral. I've moved to Aviva.": what is no place that is known, behind whom or what one was with. */
function isProvider({ context, statement: { clause } }: Change, where: string): boolean {
  const isPlace = clause.tokens.some(
    ({ word, tags }) =>
      where.includes(word) && ["Place", "City", "Country", "Region"].some((tag) => tags.has(tag)),
  );
  return !isPlace && lastTold(context).some(({ claim }) => /^(?:be with|use)$/.test(claim.relation));
}

const IS_THING = /^(?:the|a|an|my|our) /i;

/** The street and the house are left with the town. */
function addressOf({ context }: Change, { path }: Entity): Pick<AddProposal, "replaces"> {
  const found = held(context).filter(
    ({ claim }) => claim.subject === path && /^live (?:at|on|near)$/.test(claim.relation),
  );
  const target = targetOf(found);
  return target ? { replaces: target } : {};
}

function whereTo({ phrases }: Change): Phrase | undefined {
  return phrases.find(
    ({ kind, head }) =>
      kind === "preposition" &&
      /^(?:to|into|over to|out to|up to|down to|back to|in|in to|across to)$/.test(head ?? ""),
  );
}

/** Who lives elsewhere now: the mover, or whom somebody moved; "moved my account to Triodos" is about neither. */
function moverIn({ context, statement, phrases }: Change): Entity | undefined {
  const [first] = phrases;
  if (first?.kind !== "noun") return statement.subject.animate ? statement.subject : undefined;
  const item = first.items[0];
  const moved = item && context.discourse.resolve(statement.clause.tokens, ...item);
  return moved && isHuman(moved) ? moved : undefined;
}

/** "I've moved in with my boyfriend": with whom one lives from then on. */
function movedInWith(change: Change): Proposal[] | undefined {
  const { context, statement, phrases } = change;
  const { verb, tokens, rest } = statement.clause;
  const item = phrases.find(({ kind, head }) => kind === "preposition" && head === "with")?.items[0];
  if (!item || (verb.tense !== "past" && !verb.perfect)) return undefined;
  const whom = said(context, tokens, ...item);
  const old = held(context).filter(
    ({ claim }) =>
      claim.subject === statement.subject.path && claim.relation === "live with" && claim.value !== whom,
  );
  const target = targetOf(old);
  const [date] = change.dates;
  return [
    adding(context, getStatementSpan(change), {
      text: sentenceOf({ context, statement, dates: change.dates }, said(context, tokens, ...rest)),
      claim: claimOf(statement.subject.path, "live with", whom),
      importance: 0.8,
      ...(target ? { replaces: target } : {}),
      ...(date ? { when: date.iso } : {}),
      ...fromThen(change),
    }),
  ];
}

/** "they moved my desk to the fifth floor", "my class was moved to room 4": where a thing is from then on. */
export function placed(change: Change): Proposal[] | undefined {
  const { context, statement, phrases } = change;
  const { verb, tokens } = statement.clause;
  if (!/^(?:move|shift|relocate|transfer|put)$/.test(verb.lemma) || verb.denied) return undefined;
  const target = phrases.find(
    ({ kind, head }) => kind === "preposition" && /^(?:to|into|in|on)$/.test(head ?? ""),
  );
  const item = target?.items[0];
  const thing = item && movedThing(change);
  if (!item || !thing || thing.animate || thing.path === context.discourse.speaker.path) return undefined;
  const old = held(context).filter(
    ({ claim }) =>
      sameThing(claim.subject, thing.path) && /^be (?:in|on|at|near|by|under|behind)$/.test(claim.relation),
  );
  const [first] = old;
  if (!first) return undefined;
  const where = said(context, tokens, ...item);
  const joint = jointFor(where, first.claim.relation.slice(3));
  const replaced = targetOf(old);
  return [
    adding(context, getStatementSpan(change), {
      text: compose(thing.display, thing.plural ? "are" : "is", joint, where),
      claim: claimOf(first.claim.subject, `be ${joint}`, where),
      holds: "one",
      importance: 0.6,
      ...(replaced ? { replaces: replaced } : {}),
      ...fromThen(change),
    }),
  ];
}

/** "on the fifth floor", "in room 4". */
function jointFor(where: string, old: string): string {
  if (/\b(?:floor|shelf|wall|desk|balcony|roof|table)\b/i.test(where)) return "on";
  return /\b(?:room|garage|cellar|basement|kitchen|drawer|cupboard|box|shed|attic|bag)\b/i.test(where)
    ? "in"
    : old;
}
