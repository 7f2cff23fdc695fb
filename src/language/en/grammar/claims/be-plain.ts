import type { AddProposal, ProposalTarget } from "../../../../ports/language/extractor.ts";
import { isSingleValued } from "../../relations/relations.ts";
import type { Entity } from "../clauses/entity.ts";
import { headWord } from "../clauses/head-words.ts";
import {
  type ClausePart,
  getStatementSpan,
  leadText,
  qualifierOf,
  relationWith,
  restWith,
  sentenceOf,
  whenOf,
} from "../clauses/parts.ts";
import type { Phrase } from "../clauses/phrases.ts";
import { adding, claimOf, said } from "../context.ts";
import { FIRST_POSSESSIVE } from "../words/lexicon.ts";
import { isName, type nounOf } from "../words/nouns.ts";
import { isPersonNoun } from "../words/persons.ts";
import { isFavourite, withoutNow } from "./favourites.ts";
import { withoutMeasure } from "./listed-claims.ts";
import { called } from "./name-claims.ts";
import { measuredBefore } from "./replaced.ts";
import { compose } from "./sentence.ts";
import { formerTrade } from "./trades.ts";

/** What somebody or something is for longer than a day. */
export function lastingClaims(
  part: ClausePart,
  phrase: Phrase,
  item: readonly [number, number],
  noun: ReturnType<typeof nounOf>,
): AddProposal[] {
  // "my ring is my grandmother's": whose it is, and not what.
  if (part.tokens[item[1] - 1]?.owner) return [];
  const isOwn = FIRST_POSSESSIVE.has(noun.possessive ?? "");
  return (isOwn ? attributeOfSpeaker(part, noun, item) : undefined) ?? bePlain(part, phrase, item);
}

/** "Dune is my favourite book": said of the book, told of the user. */
function attributeOfSpeaker(
  part: ClausePart,
  noun: ReturnType<typeof nounOf>,
  item: readonly [number, number],
): AddProposal[] | undefined {
  const { context, tokens, statement } = part;
  const { subject, clause } = statement;
  const plain = withoutNow(headWord(tokens, noun));
  const isLeast = tokens.slice(...item).some(({ lower }) => lower === "least");
  const head = isLeast && !plain.startsWith("least") ? `least ${plain}` : plain;
  const speaker = context.discourse.speaker;
  if (head === "" || clause.verb.denied) return undefined;
  const isPerson = isPersonNoun(head.split(" ").at(-1) ?? head);
  const inner = noun.possessive === "my" || noun.possessive === "our";
  // "one of my favourite games": there are others.
  if (tokens[item[0]]?.lower === "one") return /favou?rite|fave/.test(head) ? [] : undefined;
  if (!inner || (!/favou?rite|fave|usual|go-to/.test(head) && !isPerson)) return undefined;
  const value = subjectValue(part, subject, isPerson);
  if (value === undefined) return undefined;
  const path = `${speaker.path}/${head}`;
  const display = `${speaker.path === "user" ? "The user's" : `${speaker.display}'s`} ${head}`;
  const owner: Entity = { path, display, animate: isPerson, plural: false };
  context.discourse.mention(owner);
  if (isPerson) return [called(part, owner, value, { holds: "many" })];
  return [
    adding(context, getStatementSpan(part), {
      text: compose(display, "is", value),
      claim: claimOf(path, "be", value),
      kind: "preference",
      holds: "one",
      importance: 0.7,
    }),
  ];
}

function subjectValue(part: ClausePart, subject: Entity, isPerson: boolean): string | undefined {
  const { tokens, statement, context } = part;
  const span = statement.clause.subject;
  // "My best man is my cousin Rory": a role, and no name.
  if (span && isPerson && tokens[span[0]]?.class === "possessive") return undefined;
  if (span && tokens[span[0]]?.class !== "pronoun") return said(context, tokens, ...span);
  // "I'm my mother's carer": no name is told.
  if (subject.path === context.discourse.speaker.path) return undefined;
  return subject.name ?? (subject.path.includes("/") ? undefined : subject.display);
}

/** What employs people, in small letters: "a cleaner for a big law firm". */
const EMPLOYER =
  /(?:compan(?:y|ies)|firm|agency|council|government|school|university|college|hospital|clinic|bank|charity|church|army|navy|airline|newspaper|magazine|studio|startup|start-up|business|city|county|state|police|museum|library|station|department|ministry|organi[sz]ation|foundation|store|shop|restaurant|hotel|team|club|factory|manufacturer|publisher|contractor|brand)s?$/;

/** Whether the place behind what somebody is, is where they work: "a nurse at St Olaf", and not "a sucker for sweets". */
function isEmployed(
  { tokens, statement }: ClausePart,
  head: string,
  { kind, head: joint, items, to }: Phrase,
): boolean {
  const where = items[0];
  if (kind !== "preposition" || !where || statement.clause.verb.denied) return false;
  if (/^(?:member|regular|customer|guest|patient|fan|volunteer)$/.test(head)) return false;
  const last = tokens[to - 1]?.lower ?? "";
  if (joint === "at") return last !== "living" && (isPersonNoun(head) || isName(tokens, ...where));
  const isOneThat = isName(tokens, ...where) || EMPLOYER.test(last);
  return (joint === "for" || joint === "with") && isPersonNoun(head) && isOneThat;
}

function bePlain(part: ClausePart, phrase: Phrase, item: readonly [number, number]): AddProposal[] {
  const { context, tokens, statement, phrases } = part;
  const { subject, clause } = statement;
  const isSpeaker = subject.path === context.discourse.speaker.path;
  const next = phrases[phrases.indexOf(phrase) + 1];
  const head = tokens[item[1] - 1]?.lower ?? "";
  const employer = subject.animate || isSpeaker ? next : undefined;
  if (employer && isEmployed(part, head, employer)) {
    return jobClaims(part, phrase, employer);
  }
  const thing = subject.path.split("/").at(-1) ?? "";
  const items =
    phrase.items.length > 1 && !isSingleValued(thing) ? phrase.items : [[phrase.from, phrase.to] as const];
  const isPast = clause.verb.tense === "past";
  const isOneOf = /^(?:another |one )(?:one )?of\b/i.test(
    context.content.slice(statement.start, statement.end),
  );
  return items.map((one) => {
    const value = memberValue(part, one, items.length);
    const hasNow = !isPast && !clause.verb.denied;
    return adding(context, getStatementSpan(part), {
      text: sentenceOf(part, restWith(part, phrase, one), leadText(part)),
      claim: claimOf(
        subject.path,
        isPast ? "used to be" : relationWith(clause.verb.denied, "be"),
        value,
        qualifierOf(part, phrase),
      ),
      kind: kindOfBeing(thing, isPast),
      holds: hasNow && !isOneOf && isSingleValued(thing) ? "one" : "many",
      importance: isSpeaker ? 0.7 : 0.6,
      ...(hasNow ? formerTrade(context, statement, value) : {}),
      ...(hasNow ? formerMeasure(part, value) : {}),
      ...(isSpeaker || isSingleValued(thing) ? {} : { confidence: 0.8 }),
      ...whenOf(part),
    });
  });
}

function memberValue(
  { context, tokens }: ClausePart,
  item: readonly [number, number],
  count: number,
): string {
  const value = said(context, tokens, ...item);
  return count > 1 ? withoutMeasure(value) : value;
}

/** "I'm a size 10 now": the same with another number. */
function formerMeasure(part: ClausePart, value: string): { replaces?: ProposalTarget } {
  const measured = measuredBefore(part, "be", value);
  return measured ? { replaces: { ids: [measured] } } : {};
}

function kindOfBeing(thing: string, isPast: boolean): "event" | "preference" | "fact" {
  if (isPast) return "event";
  return isFavourite(thing) ? "preference" : "fact";
}

/** "I'm a nurse at St Olaf": what one is, and where; each can change by itself. */
function jobClaims(part: ClausePart, job: Phrase, employer: Phrase): AddProposal[] {
  const { context, tokens, statement } = part;
  const { subject, clause } = statement;
  const title = said(context, tokens, job.from, job.to);
  // "The wedding is 14 June at the Grand": no trade.
  if (/^\d/.test(title)) return [];
  const where = said(context, tokens, employer.items[0]?.[0] ?? employer.from, employer.to);
  const past = clause.verb.tense === "past";
  const be = past ? "was" : "is";
  return [
    adding(context, getStatementSpan(part), {
      text: compose(subject.display, be, title),
      claim: claimOf(subject.path, past ? "used to be" : "be", title, qualifierOf(part, job, employer)),
      kind: past ? "event" : "fact",
      holds: "many",
      importance: 0.8,
      ...(past ? {} : formerTrade(part.context, part.statement, title)),
    }),
    adding(context, getStatementSpan(part), {
      text: compose(subject.display, past ? "worked at" : "works at", where),
      claim: claimOf(subject.path, past ? "used to work at" : "work at", where),
      kind: past ? "event" : "fact",
      ...(past ? { holds: "many" as const } : {}),
      importance: 0.8,
    }),
  ];
}
