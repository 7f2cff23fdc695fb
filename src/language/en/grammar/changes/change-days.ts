import type { Claim } from "../../../../domain/memory.ts";
import type { Proposal } from "../../../../ports/language/extractor.ts";
import { compose } from "../claims/sentence.ts";
import type { Entity } from "../clauses/entity.ts";
import { getStatementSpan } from "../clauses/parts.ts";
import { adding, type Context, claimOf } from "../context.ts";
import { type Held, held, targetOf, telling } from "../forgetting/targets.ts";
import type { SaidDate } from "../time/dates.ts";
import { type Change, companyOf, displayOf, sayIso } from "./change.ts";

const RESCHEDULES =
  /\b(?:mov|push|postpon|reschedul|extend|adjourn|(?:brought|bring)(?: [\w' -]+?)? forward|shift|switch|delay|chang|bump|put|set)(?:e|ed|d|back|ing|ped)?\b(?: (?:it|that|(?:my|our|the|his|her|their) [\w' -]+?))?(?: (?:back|forward|off|out|up))?(?: from .+?)? (?:to|until|till|for|by)\b/i;

/** "to Friday", "until 6pm": a new day or hour without a date. */
const SPOKEN_DAY =
  /\b(?:to|until|till|for) (?:the )?(?<day>(?:(?:mon|tues|wednes|thurs|fri|satur|sun)days?|mornings?|afternoons?|evenings?|weekends?)(?: .*)?|\d{1,2}(?:[:.]\d\d)? ?(?:am|pm|o['’]clock)?)$/i;

/** "The party got moved to 22 June", "they pushed my exam to Friday". */
export function rescheduled(change: Change): Proposal[] | undefined {
  const { context, statement, text, dates } = change;
  const spoken = SPOKEN_DAY.exec(text)?.groups?.day;
  const found = RESCHEDULES.exec(text);
  if (!found || (dates.length === 0 && spoken === undefined)) return undefined;
  const named = dates.at(-1);
  if (named && spoken === undefined && isFarBehind(text, found, named)) return undefined;
  const thing = ownThing(change, movedThing(change));
  if (!thing) return undefined;
  const value = named
    ? context.content.slice(statement.start + named.start, statement.start + named.end)
    : (spoken ?? "");
  const old = dated(context, thing);
  const date = inMonthOf(old[0], value, named, context.message.at);
  const target = targetOf(old);
  const claim = claimOnDay(thing, old[0]?.claim, value);
  const verb = /^\d/.test(value) && !date ? "is at" : "is on";
  return [
    adding(context, getStatementSpan(change), {
      text: compose(thing.display, companyOf(old[0]?.claim), verb, date ? sayIso(date.iso) : value),
      claim,
      // One "has" an exam and a sister: the exam on another day ends the exam alone.
      holds: /^be\b/.test(claim.relation) ? "one" : "many",
      kind: date ? "event" : "fact",
      importance: 0.7,
      ...(date ? { when: date.iso } : {}),
      ...(target ? { replaces: target } : {}),
    }),
  ];
}

const MONTH = /\b(?:jan|feb|mar|apr|may|june?|july?|aug|sept?|oct|nov|dec)(?:[a-z]{2,6})?\b/i;

/** "the 29th", of what was on 22 August: of the same month, where that was said and is still ahead. */
function inMonthOf(
  old: Held | undefined,
  value: string,
  date: SaidDate | undefined,
  at: string,
): SaidDate | undefined {
  const day = /^(?:the )?(\d{1,2})(?:st|nd|rd|th)$/i.exec(value)?.[1];
  const hasMonth = MONTH.test(`${old?.claim.value ?? ""} ${old?.claim.qualifier ?? ""}`);
  const when = hasMonth ? (old?.memory?.when ?? "") : "";
  if (!date || day === undefined || when.length < 10) return date;
  const iso = `${when.slice(0, 8)}${day.padStart(2, "0")}`;
  return iso >= at.slice(0, 10) ? { ...date, iso } : date;
}

/** "moved to Canal Street last month": a place, and when that was. */
function isFarBehind(text: string, found: RegExpExecArray, date: SaidDate): boolean {
  const behind = found.index + found[0].length;
  return (
    date.start - behind > 16 ||
    (/^\s*\p{Lu}\p{L}+ \p{Lu}/u.test(text.slice(behind)) && date.start > behind + 4)
  );
}

function ownThing({ context }: Change, thing: Entity | undefined): Entity | undefined {
  return thing && !thing.animate && thing.path !== context.discourse.speaker.path ? thing : undefined;
}

/** What was moved: the object that somebody moved, or the subject that "got moved". */
export function movedThing(change: Change): Entity | undefined {
  const { context, statement, phrases } = change;
  const { tokens, verb } = statement.clause;
  const first = phrases[0]?.items[0];
  if (first && /^(?:it|that)$/.test(tokens[first[0]]?.lower ?? "")) return lastDated(context);
  const object = phrases.find(
    ({ kind, items }) => kind === "noun" && items[0] && tokens[items[0][0]]?.class !== "pronoun",
  )?.items[0];
  const byOthers = /^(?:get|have|be)$/.test(verb.lemma) || verb.passive;
  const isObject = object && (!byOthers || verb.lemma === "have");
  return isObject ? context.discourse.resolve(tokens, ...object) : statement.subject;
}

/** What "it" is that somebody moves to another day: the thing whose day was told last. */
function lastDated(context: Context): Entity | undefined {
  const last = held(context).findLast(
    ({ claim, memory }) => claim.subject.includes("/") && memory?.when !== undefined,
  );
  if (!last) return undefined;
  const path = last.claim.subject;
  return { path, display: displayOf(path), animate: false, plural: false };
}

const WEEKLY = /\b(?:mon|tues|wednes|thurs|fri|satur|sun)days?\b/i;

/** What is known of the thing's day; else what has a day and names the thing. */
function dated(context: Context, thing: Entity): Held[] {
  const all = held(context);
  const own = all.filter(
    ({ claim, memory }) =>
      sameThing(claim.subject, thing.path) &&
      (/^be (?:on|due|at)/.test(claim.relation) ||
        memory?.when !== undefined ||
        (claim.relation === "be" &&
          /^(?:at |around )?(?:\d|(?:mon|tues|wednes|thurs|fri|satur|sun)day|noon|midnight)/i.test(
            claim.value,
          ))),
  );
  if (own.length > 0) return own;
  const name = telling(thing.path.split("/").at(-1) ?? "");
  if (name.length === 0) return [];
  return all.filter(({ memory, claim }) => {
    // "I have choir on Tuesdays": a day of each week is none of the calendar.
    const isWeekly = WEEKLY.test(`${claim.value} ${claim.qualifier ?? ""}`);
    if (memory?.when === undefined && !isWeekly) return false;
    const words = telling(`${claim.value} ${claim.subject}`);
    return name.every((word) => words.includes(word));
  });
}

/** An event keeps its claim and changes its day; of a thing the day is the claim. */
function claimOnDay(thing: Entity, old: Claim | undefined, value: string): Claim {
  if (old?.relation === "be") return claimOf(old.subject, "be", value);
  if (old && !/^be /.test(old.relation)) return claimOf(old.subject, old.relation, old.value, companyOf(old));
  return claimOf(old?.subject ?? thing.path, old?.relation ?? "be on", value);
}

export function sameThing(one: string, other: string): boolean {
  const a = telling(one.split("/").at(-1) ?? "");
  const b = telling(other.split("/").at(-1) ?? "");
  return (
    a.length > 0 &&
    b.length > 0 &&
    (a.every((word) => b.includes(word)) || b.every((word) => a.includes(word)))
  );
}
