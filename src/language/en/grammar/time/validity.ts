import { toDateSpan } from "../../../../domain/time.ts";
import type { AddProposal } from "../../../../ports/language/extractor.ts";
import { getRelation } from "../../relations/relations.ts";
import { type ClausePart, isOver, isSince } from "../clauses/parts.ts";
import { said, saidAt } from "../context.ts";
import { datesIn, momentOf } from "./dates.ts";

/** A stretch of time as it is said: dates in ISO 8601, each as exact as the words. */
interface SaidStretch {
  readonly from?: string;
  /** The last day, month or year of it. */
  readonly until?: string;
}

const MONTH =
  "(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sep(?:t(?:ember)?)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)";
const DAY = "(?:mon|tues|wednes|thurs|fri|satur|sun)day";
const WORDS = `(?:the |about |around |early |late |mid-?|(?:the )?(?:end|start|beginning|middle) of )*(?:(?:next|last|this|coming|following) (?:week(?:end)?|month|year|spring|summer|autumn|winter|${DAY}|${MONTH})|(?:\\d{1,2}(?:st|nd|rd|th)?(?: of)? ${MONTH}|${MONTH}(?: \\d{1,2}(?:st|nd|rd|th)?)?)(?:,? (?:19|20)\\d\\d)?|(?:19|20)\\d\\d(?:-\\d\\d(?:-\\d\\d)?)?|\\d{1,2}(?:st|nd|rd|th)|${DAY}|today|tomorrow|tonight|yesterday|(?:new year|christmas|easter))\\b`;
/** Stands in all that `WORDS` takes: to compile the patterns below takes milliseconds. */
const NAMED =
  /\d|week|month|year|spring|summer|autumn|winter|day|jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|tomorrow|tonight|christmas|easter/i;
const OPEN = `(?:\\d{1,2}(?:st|nd|rd|th)?|${WORDS})`;

const RANGE = new RegExp(
  `\\b(?:from |between |\\()(?<from>${OPEN}) ?(?:to|until|till|through|and|-|–|—) ?(?<to>${WORDS})|\\b(?:in |during )?(?<first>(?:19|20)\\d\\d) ?[-–—] ?(?<last>(?:19|20)\\d\\d)\\b`,
  "i",
);
const UNTIL = new RegExp(`\\b(?:until|till|'til|up until|up to|through(?: to)?) (?<to>${WORDS})`, "i");
const STARTING = new RegExp(
  `\\b(?:starting|beginning|as of|as from|effective|with effect from) (?:from |in |on )?(?<from>${WORDS})|^from (?<since>${WORDS})(?: on(?:wards?)?)?(?=,| (?:i|we|my|our|he|she|they)\\b)|\\bfrom (?<onward>${WORDS}) on(?:wards?)?\\b`,
  "i",
);
/** "open Monday to Saturday": each week, and no stretch of time. */
const WEEKLY = new RegExp(
  `\\b${DAY}s?,? (?:to|till|until|through|and) ${DAY}s?\\b|\\bevery\\b|\\beach\\b`,
  "i",
);

/** The stretch that words name, resolved against the time and zone `at`. Nothing where they name none. */
export function stretchIn(text: string, at: string, ahead: boolean): SaidStretch {
  if (text.length > 600 || !NAMED.test(text) || WEEKLY.test(text)) return {};
  const range = RANGE.exec(text)?.groups;
  if (range) {
    const until = dateOf(range.to ?? range.last, at, ahead);
    const from = until && startOf(range.from ?? range.first ?? "", until, at, ahead);
    return from !== undefined && until !== undefined && from <= until ? { from, until } : {};
  }
  const until = dateOf(UNTIL.exec(text)?.groups?.to, at, ahead);
  const starting = STARTING.exec(text)?.groups;
  const from = dateOf(starting?.from ?? starting?.since ?? starting?.onward, at, ahead);
  return { ...(from === undefined ? {} : { from }), ...(until === undefined ? {} : { until }) };
}

function dateOf(words: string | undefined, at: string, ahead: boolean): string | undefined {
  if (words === undefined) return undefined;
  const bare = words.replace(/^(?:about|around) /i, "").trim();
  if (/^(?:19|20)\d\d$/.test(bare)) return bare;
  const joint = /^(?:next|last|this|today|tomorrow|tonight|yesterday|the end|early|late|mid)/i.test(bare)
    ? ""
    : "on ";
  const [date] = datesIn(`${joint}${bare}`, at, ahead);
  return date?.iso.slice(0, 10);
}

/** "2 to 9 April", "May to July 2023": what the first leaves out, the last says. */
function startOf(words: string, until: string, at: string, ahead: boolean): string | undefined {
  const day = /^(?:the )?(\d{1,2})(?:st|nd|rd|th)?$/.exec(words)?.[1];
  if (day !== undefined)
    return until.length === 10 ? `${until.slice(0, 8)}${day.padStart(2, "0")}` : undefined;
  const hasYear = /\b(?:19|20)\d\d\b|last|next|this|ago|yesterday|today|tomorrow/i.test(words);
  if (hasYear || until.length === 4) return dateOf(words, at, ahead);
  const from = dateOf(`${words} ${until.slice(0, 4)}`, at, ahead);
  if (from === undefined || from <= until) return from;
  return dateOf(`${words} ${Number(until.slice(0, 4)) - 1}`, at, ahead);
}

const LENGTH =
  /\bfor (?:about |over |almost |nearly |around |the (?:last|past) )?(?<length>(?:an?|\d{1,2}|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve) (?:years?|months?|weeks?|days?))\b(?! (?:and a half|or))/i;

/** "I've had this phone for two years": since two years ago. */
function sinceLength(text: string, at: string, isSince: boolean): string | undefined {
  const length = isSince ? LENGTH.exec(text)?.groups?.length : undefined;
  const [date] = length === undefined ? [] : datesIn(`${length} ago`, at, false);
  return date?.iso.slice(0, 10);
}

/** What is so since a day did not happen on that day. */
function withoutWhen({ when: _when, ...claim }: AddProposal): AddProposal {
  return claim;
}

/** The words of a clause, with what leads it. */
function wordsOf({ context, statement }: ClausePart): string {
  const { tokens, lead } = statement.clause;
  const before = context.content.slice(Math.max(0, statement.start - 30), statement.start);
  const opening =
    /(?:^|[.!?;]\s*)((?:from|starting|beginning|as of|until|between) [^.!?;]*)$/i.exec(before)?.[1] ?? "";
  const clause = context.content.slice(statement.start, statement.end);
  const led = said(context, tokens, ...lead);
  return `${clause.includes(led) ? "" : `${led} `}${opening}${clause}`.trim();
}

/**
 * What a clause tells with the time in which it holds: "from 2015 to 2019", "until Friday", "starting Monday". What is
 * told of the past has ended by the time it is told.
 */
export function withValidity(part: ClausePart, claims: readonly AddProposal[]): AddProposal[] {
  const { context, statement } = part;
  const { verb } = statement.clause;
  if (claims.length === 0 || verb.denied) return [...claims];
  const text = wordsOf(part);
  const over = isOver(part);
  const at = saidAt(context.message);
  const { from: told, until } = stretchIn(text.replace(/’/g, "'"), at, !over);
  const since = isSince(part) && !over ? part.dates[0]?.iso : undefined;
  const from = told ?? since ?? sinceLength(text, at, verb.perfect && !over);
  if (from === undefined && until === undefined) return [...claims];
  const { zone } = context.message;
  const end = until === undefined ? undefined : toDateSpan(until, zone).to;
  const validTo = end !== undefined && over && end > context.message.at ? context.message.at : end;
  const times: Times = {
    ...(from === undefined ? {} : { validFrom: momentOf(from, zone) }),
    ...(validTo === undefined ? {} : { validTo }),
    ...(told === undefined ? {} : { when: told }),
  };
  const isNow = verb.tense === "present";
  return claims.map((claim) => withTimes(since === undefined ? claim : withoutWhen(claim), times, isNow));
}

type Times = Pick<AddProposal, "validFrom" | "validTo" | "when">;

/** What somebody is called stays so, however long they are away. */
function withTimes(claim: AddProposal, times: Times, isNow: boolean): AddProposal {
  if (claim.kind === "entity") return claim;
  const isLasting = claim.kind === "event" && claim.claim && isNow;
  const kind = isLasting ? { kind: getRelation(claim.claim?.relation ?? "").kind } : {};
  return { ...claim, ...times, ...kind };
}
