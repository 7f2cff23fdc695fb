import { absolute, compose, inflect } from "../claims/sentence.ts";
import { type Context, type Statement, said, saidAt, thirdPerson, tidy } from "../context.ts";
import { datesIn, momentOf, type SaidDate } from "../time/dates.ts";
import { isTimeNoun } from "../time/times.ts";
import type { Stretch, Token } from "../words/token.ts";
import { type Phrase, phrasesOf } from "./phrases.ts";
import type { Denial, Link } from "./verbs.ts";

export interface ClausePart {
  readonly context: Context;
  readonly statement: Statement;
  readonly phrases: readonly Phrase[];
  readonly dates: readonly SaidDate[];
  readonly tokens: readonly Token[];
  /** Told beside another of the same clause: it takes the place of nothing. */
  readonly isBeside?: boolean;
  /** Of a list behind the value, the one member that is told here. */
  readonly only?: { readonly all: Stretch; readonly one: Stretch };
}

/** "I'd love to", "I would like to": a wish, though "would" leaves open. */
export function isWish({ statement }: ClausePart): boolean {
  const { verb } = statement.clause;
  const { tokens, verb: own } = statement.clause;
  if (
    verb.modal === "would" &&
    (tokens[own.from + 1]?.lower === "rather" || tokens[own.to]?.lower === "rather")
  )
    return true;
  return verb.modal === "would" && ["love", "like", "prefer"].includes(verb.chain[0]?.verb ?? verb.lemma);
}

/** The dates of a clause, places counted in the statement's own words. */
export function datesOf(context: Context, statement: Statement): SaidDate[] {
  // Asked for what a clause changes and for what it tells; reading dates is a tenth of all the work.
  const before = datesRead.get(statement);
  if (before) return before;
  const dates = readDates(context, statement);
  datesRead.set(statement, dates);
  return dates;
}

const datesRead = new WeakMap<Statement, SaidDate[]>();

function readDates(context: Context, statement: Statement): SaidDate[] {
  const { verb } = statement.clause;
  const text = context.content.slice(statement.start, statement.end);
  const ahead =
    verb.tense === "future" ||
    (verb.tense === "present" && (!verb.perfect || /\b(?:until|till|til) /i.test(text))) ||
    verb.chain.some((link) =>
      ["plan", "be going", "want", "hope", "intend", "promise", "need", "have"].includes(link.verb),
    );
  const dates = datesIn(text, saidAt(context.message), ahead || isArranged(text));
  return isHabit(verb) ? dates.filter(({ start, end }) => !DAY_PART.test(text.slice(start, end))) : dates;
}

const MOVED =
  "(?:moved|pushed|put|shifted|postponed|rescheduled|rearranged|delayed|deferred|extended|brought|changed|bumped|set|fixed|scheduled|booked|planned|arranged|due)";
const DATED =
  "(?:the )?(?:\\d{1,2}(?:st|nd|rd|th)?\\b|(?:next |this |coming )*(?:mon|tues|wednes|thurs|fri|satur|sun)day|next|(?:early |late |mid-?)?(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)|tomorrow|spring|summer|autumn|winter)";
/** "got moved to 24 June", "I've got to renew it by the 1st": what is arranged lies ahead, whenever it was arranged. */
const ARRANGED = new RegExp(
  `\\b${MOVED}\\b(?: (?:back|forward|out|up|off|it|them|again|(?!(?:here|there|out|in|back|home|house|away)\\b)\\S+ \\S+))?(?: to| until| till| for| by)? (?:on )?${DATED}` +
    `|\\b(?:got|have|has|need|needs|must|should|supposed|meant) (?:got )?to\\b.*\\b(?:by|on|before|until|till|in|at|this|next|tomorrow)\\b`,
  "i",
);

function isArranged(text: string): boolean {
  return ARRANGED.test(text);
}

/** "I run in the morning": of every day. */
const DAY_PART =
  /^(?:in |at |during )?(?:the )?(?:early |late )?(?:mornings?|afternoons?|evenings?|nights?|noon|midnight)$|\bof the month$/i;

function isHabit(verb: Statement["clause"]["verb"]): boolean {
  return (
    verb.tense === "present" &&
    !verb.progressive &&
    !verb.perfect &&
    !verb.chain.some(({ next }) => next === "to")
  );
}

export function isPlace(phrases: readonly Phrase[]): boolean {
  return (
    phrases[0]?.kind === "preposition" && ["to", "over to", "out to", "up to"].includes(phrases[0].head ?? "")
  );
}

/** Where a statement stands in its message. */
export function getStatementSpan({ statement }: { readonly statement: Pick<Statement, "start" | "end"> }): {
  start: number;
  end: number;
} {
  return { start: statement.start, end: statement.end };
}

/** Everything in the clause but subject, verb and value, as it stands. */
export function qualifierOf(part: ClausePart, ...taken: readonly (Phrase | undefined)[]): string {
  const { context, statement, phrases, tokens } = part;
  const { clause } = statement;
  const bits: string[] = [];
  const lead = said(context, tokens, ...clause.lead);
  if (lead !== "" && isTellingLead(part)) bits.push(lead.charAt(0).toLowerCase() + lead.slice(1));
  const end = withoutTail(part);
  for (const phrase of phrases) {
    if (taken.includes(phrase) || phrase.from >= end) continue;
    const words = onlyOne(part, phrase.from, phrase.to);
    if (words === "" || (phrase.kind === "other" && !isTellingWord(tokens, phrase))) continue;
    bits.push(words);
  }
  if (statement.circumstance) bits.push(statement.circumstance);
  return tidy(bits.join(" ")).slice(0, 200);
}

function isTellingLead({ statement, tokens }: ClausePart): boolean {
  const [from, to] = statement.clause.lead;
  const slice = tokens.slice(from, to);
  const isOfTalk = slice[0]?.lower === "on" && slice.some(({ lower }) => /^(?:note|hand)$/.test(lower));
  // "On another note, …", "Two years now, and …": of the talk.
  const lead = slice.map(({ lower }) => lower).join(" ");
  if (
    /^(?:in other news|on the (?:bright|plus|other) side|to be (?:fair|honest)|long story short|for the record|fun fact|in case)/.test(
      lead,
    )
  )
    return false;
  if (isOfTalk || slice[0]?.class === "number") return false;
  // "Monday at 2 the dentist, and on Friday": a noun phrase of its own belongs to something else.
  if (phrasesOf(tokens, from, to).some(({ kind }) => kind === "noun")) return false;
  return (
    slice.some((token) => token.class === "preposition") ||
    slice.some(({ lower }) => lower === "every" || lower === "each") ||
    slice.some(({ lower }) => /s$/.test(lower) && isTimeNoun(lower))
  );
}

function isTellingWord(tokens: readonly Token[], phrase: Phrase): boolean {
  const token = tokens[phrase.from];
  if (!token || phrase.to - phrase.from !== 1) return true;
  return (
    token.class === "number" ||
    (token.class === "adverb" &&
      /^(?:twice|once|daily|weekly|monthly|abroad|together|alone|remotely|professionally|competitively|back|mostly|part-time|full-time)$/.test(
        token.lower,
      ))
  );
}

/** The sentence of a clause: subject, verb as the third person has it, and the rest with its dates made plain. */
export function sentenceOf(
  part: { context: Context; statement: Statement; dates: readonly SaidDate[] },
  rest: string,
  lead = "",
): string {
  const { context, statement, dates } = part;
  const { subject, clause } = statement;
  const whole = context.content.slice(statement.start, statement.end);
  const told = thirdPerson(absolute(rest, dates, whole), context, subject);
  const text = compose(
    subject.display,
    inflect(clause.verb, subject.plural),
    told,
    thirdPerson(absolute(lead, dates, whole), context, subject),
  );
  return text;
}

/** ", no wigs", ", been there for years", ", thank you": said behind the statement, and no part of it. */
const TAIL =
  /^(?:no|so|been|yeah|yes|haha|lol|omg|ouch|wow|thank|thanks|please|sorry|ok|okay|though|mind|have|has|honestly|obviously|luckily|sadly|right|ugh|yay)$/;

/** Where the words of a clause end that belong to what it says. */
function withoutTail({ tokens, statement }: ClausePart): number {
  const [from, to] = statement.clause.rest;
  for (let at = from + 1; at < to; at += 1) {
    if (/^,\s*$/.test(tokens[at - 1]?.after ?? "") && TAIL.test(tokens[at]?.lower ?? "")) return at;
  }
  return to;
}

/** The words of a stretch, with one member instead of a list behind the value. */
function onlyOne({ context, tokens, only }: ClausePart, from: number, to: number): string {
  if (!only || only.all[0] < from || only.all[1] > to) return said(context, tokens, from, to);
  return [
    said(context, tokens, from, only.all[0]),
    said(context, tokens, ...only.one),
    said(context, tokens, only.all[1], to),
  ]
    .filter((text) => text !== "")
    .join(" ");
}

/** The rest of the clause with one member of a list instead of all. */
export function restWith(
  part: ClausePart,
  phrase: Phrase | undefined,
  item: readonly [number, number] | undefined,
): string {
  const { context, tokens, statement } = part;
  const from = statement.clause.rest[0];
  const to = withoutTail(part);
  if (!phrase || !item || phrase.items.length < 2) return onlyOne(part, from, to);
  const before = said(context, tokens, from, phrase.items[0]?.[0] ?? from);
  const after = said(context, tokens, phrase.items.at(-1)?.[1] ?? to, to);
  return [before, said(context, tokens, ...item), after].filter((text) => text !== "").join(" ");
}

export function leadText(part: ClausePart): string {
  const { context, tokens, statement } = part;
  const lead = isTellingLead(part) ? said(context, tokens, ...statement.clause.lead) : "";
  const low = lead.charAt(0).toLowerCase() + lead.slice(1);
  return [low, statement.circumstance ?? ""].filter((text) => text !== "").join(" ");
}

export function whenOf({ dates }: ClausePart): { when?: string } {
  const [date] = dates;
  return date ? { when: date.iso } : {};
}

export function relationWith(deny: Denial | undefined, relation: string): string {
  return deny ? `${relationDenial(deny)} ${relation}` : relation;
}

/** "rarely", "not often": the words of a memory keep it, and its relation is denied. */
function relationDenial(denied: Denial): "not" | "never" {
  return denied === "never" ? "never" : "not";
}

/** The verbs of a clause as a relation: "learn", "plan to hike", "not eat", "used to live". */
export function verbPhrase(part: { statement: Statement }): string {
  const { verb } = part.statement.clause;
  const links = verb.chain.filter(({ verb: name }) => !["start", "begin", "keep", "continue"].includes(name));
  const words = links.map(linkWord);
  const last = links.at(-1)?.next === "gerund" ? gerundOf(verb.lemma, part) : verb.lemma;
  if (links.length === 0 && isRather(verb)) return verb.denied ? "not prefer" : "prefer";
  if (cannotStand(verb)) return "hate";
  if (verb.modal === "can" && links.length === 0) words.unshift("can");
  const base = [...words, last].join(" ");
  return relationWith(verb.denied, base);
}

function linkWord(link: Link): string {
  if (link.verb === "use") return "used to";
  return link.next === "to" ? `${link.verb} to` : link.verb;
}

function cannotStand({ modal, denied, lemma }: Statement["clause"]["verb"]): boolean {
  return modal === "can" && denied !== undefined && ["stand", "bear", "stomach", "abide"].includes(lemma);
}

/** "I'd rather have the train" */
function isRather({ modal, lemma }: Statement["clause"]["verb"]): boolean {
  return modal === "would rather" && ["have", "take", "use", "get"].includes(lemma);
}

export function gerundOf(lemma: string, part: { statement: Statement }): string {
  const { clause } = part.statement;
  const token = clause.tokens
    .slice(clause.verb.from, clause.verb.to)
    .findLast(({ class: kind }) => kind === "verb");
  return token && /ing$/.test(token.lower) ? lemma.replace(/^\S+/, token.lower) : lemma;
}

/** Whether the clause tells of something that is over. */
export function isOver({ statement }: ClausePart): boolean {
  const { verb } = statement.clause;
  return verb.tense === "past" || verb.chain[0]?.verb === "use";
}

export function isSince({ context, statement }: ClausePart): boolean {
  return /\bsince\b/i.test(context.content.slice(statement.start, statement.end));
}

/** "since September": true from then on. */
export function since(part: ClausePart): { validFrom?: string } {
  const [date] = part.dates;
  return date && isSince(part) ? { validFrom: momentOf(date.iso, part.context.message.zone) } : {};
}
