import { findOffset, toDateSpan } from "../../../../domain/time.ts";
import type { EraseProposal } from "../../../../ports/language/extractor.ts";
import { findTopic } from "../../topics.ts";
import { datesIn } from "../time/dates.ts";

/** What is meant as a whole rather than by what it says: a span of time, this conversation, a topic. */
export type EraseScope = Pick<EraseProposal, "from" | "to" | "session" | "topic">;

const ALL =
  "(?:about )?(?:absolutely )?(?:(?:all |any )?(?:of )?(?:my|our|the) (?:messages?|chats?|conversations?|talks?)|all (?:that|the things|of it|messages)|everything|anything|all|whatever|what|that|the things?)";
const SAID =
  "(?:(?: that)? (?:i|we)(?:['’]ve| have|['’]d| had)? ?(?:ever |just )?(?:told you|said(?: to you)?|mentioned(?: to you)?|wrote(?: to you)?|written|shared(?: with you)?|gave you|sent(?: you)?|talked about|discussed|spoke about|typed))?";
const CONVERSATION = new RegExp(
  `^(?:${ALL}${SAID} (?:in|during|from) )?(?:about )?(?:(?:any|all|none|nothing) of )?(?:this|our|the) (?:whole |entire |current |last )?(?:conversation|chat|session|discussion|talk|thread|exchange)(?: so far| we just had| today)?$`,
  "i",
);
const ONLY_SAID = new RegExp(`^(?:${ALL})?${SAID}$`, "i");
const TIMED = new RegExp(`^${ALL}${SAID}(?: you)? (?<time>\\S.*)$`, "i");
const TOPICAL = [
  new RegExp(
    `^${ALL}(?:${SAID}| (?:that )?you(?:['’]ve)? (?:know|remember|have|stored|learned|learnt))? (?:about|regarding|concerning|on) (?:my|our) (?<topic>[\\p{L} -]+)$`,
    "iu",
  ),
  /^(?:about )?(?:all (?:of )?)?(?:my|our) (?<topic>\p{L}+(?: \p{L}+)?) (?:history|information|info|details|data|records?|matters|issues|problems)$/iu,
  /^(?:about )?(?:all (?:of )?)?(?:my|our) (?:whole |entire )?(?<topic>health|medical|finances|family|religion|politics|faith|beliefs|love life|sex life)(?: (?:history|information|info|details|data|records?))?$/iu,
];

/** The scope that the words behind "forget" name, if they name one. `at` is when they were said (ISO 8601). */
export function eraseScope(object: string, at: string): EraseScope | undefined {
  const plain = object
    .trim()
    .replace(/[.!]+$/, "")
    .replace(/,?\s+please$/i, "");
  if (CONVERSATION.test(plain)) return { session: true };
  const time = TIMED.exec(plain)?.groups?.time;
  const span = time === undefined ? undefined : spanMeant(time, at);
  if (span) return span;
  for (const pattern of TOPICAL) {
    const name = pattern.exec(plain)?.groups?.topic?.toLowerCase() ?? "";
    const topic = findTopic(name) ?? findTopic(`${name} history`);
    if (name !== "" && topic) return { topic: topic.name };
  }
  return undefined;
}

/** Whether words say no more than that something was told: "all we've said". */
export function isOnlySaid(object: string): boolean {
  return (
    /\S/.test(object) && ONLY_SAID.test(` ${object.trim()}`.replace(/^ (?=all|any|every|what|the)/i, ""))
  );
}

const DAY = 86_400_000;
const UNITS: Readonly<Record<string, number>> = {
  minute: 60_000,
  hour: 3_600_000,
  day: DAY,
  week: 7 * DAY,
  fortnight: 14 * DAY,
  month: 30 * DAY,
  year: 365 * DAY,
};
const NUMBERS: Readonly<Record<string, number>> = {
  a: 1,
  an: 1,
  one: 1,
  two: 2,
  three: 3,
  four: 4,
  five: 5,
  six: 6,
  seven: 7,
  ten: 10,
  few: 3,
  couple: 2,
};
const PAST_UNITS =
  /^(?:in|during|within|over|for) (?:the )?(?:last|past)(?: (?<count>\d+|\p{Ll}+))? (?:of )?(?<unit>minute|hour|day|week|fortnight|month|year)s?$/iu;
const BETWEEN = /^(?:between|from) (?<first>.+?) (?:and|to|until|till|through) (?<last>.+)$/i;
const BOUND =
  /^(?<bound>before|until|till|up to|prior to|after|since|from)\s+(?<date>.+?)(?: on(?:wards)?| on)?$/i;

interface Reach {
  readonly from?: string;
  readonly to?: string;
}

/** "yesterday", "before March", "between Monday and Wednesday", "in the last two hours". */
function spanMeant(time: string, at: string): Reach | undefined {
  if (PAST_UNITS.test(time)) return lastUnits(time, at);
  return (
    betweenDates(time, at) ??
    boundSpan(time, at) ??
    dateSpan(time.replace(/^(?:on|in|during|at|from) /i, ""), at)
  );
}

function lastUnits(time: string, at: string): Reach | undefined {
  const { count, unit = "" } = PAST_UNITS.exec(time)?.groups ?? {};
  const many = count === undefined ? 1 : (NUMBERS[count.toLowerCase()] ?? Number(count));
  const length = many * (UNITS[unit.toLowerCase()] ?? Number.NaN);
  return Number.isFinite(length) ? { from: new Date(Date.parse(at) - length).toISOString() } : undefined;
}

function betweenDates(time: string, at: string): Reach | undefined {
  const { first, last } = BETWEEN.exec(time)?.groups ?? {};
  const from = first === undefined ? undefined : dateSpan(first, at)?.from;
  const to = last === undefined ? undefined : dateSpan(last, at)?.to;
  return from !== undefined && to !== undefined && to > from ? { from, to } : undefined;
}

function boundSpan(time: string, at: string): Reach | undefined {
  const { bound = "", date } = BOUND.exec(time)?.groups ?? {};
  // "from last week" is that week, "from Monday" goes on until now.
  const isSpan =
    /^from$/i.test(bound) && /^(?:last|this|the (?:last|past)|yesterday|today)\b/i.test(date ?? "");
  const span = date === undefined || isSpan ? undefined : dateSpan(date, at);
  if (!span) return undefined;
  if (/^(?:before|until|till|up to|prior to)$/i.test(bound)) return { to: span.from };
  return { from: /^after$/i.test(bound) ? span.to : span.from };
}

/** The span of a day, a week, a month or a year that is all a text names. */
function dateSpan(text: string, at: string): { from: string; to: string } | undefined {
  if (/^(?:the )?last night$/i.test(text)) return nightSpan(at);
  const week = /^(?<which>last|this|the (?:last|past)) (?<unit>week|weekend)$/i.exec(text)?.groups;
  if (week) return weekSpan(/last|past/i.test(week.which ?? ""), /end/i.test(week.unit ?? ""), at);
  const said = `I said it ${/^(?:last|this|yesterday|today|tonight|\d+ \p{L}+ ago)/iu.test(text) ? "" : "in "}${text}`;
  const [date, ...others] = datesIn(said, at, false);
  if (!date || others.length > 0) return undefined;
  // Other words beside the date say something of what is meant.
  const beside = said.slice(9, date.start) + said.slice(date.end);
  if (/\p{L}{3,}/u.test(beside.replace(/\b(?:the|and|morning|evening|afternoon|night)\b/gi, "")))
    return undefined;
  const iso = date.iso.length > 10 ? date.iso.slice(0, 10) : date.iso;
  return toDateSpan(iso, findOffset(at));
}

const EVENING_HOURS = 8;
const NIGHT_HOURS = 6;

/** The evening before, from 16:00, and the night until 06:00. */
function nightSpan(at: string): { from: string; to: string } {
  const today = Date.parse(toDateSpan(at.slice(0, 10), findOffset(at)).from);
  const hour = UNITS.hour ?? 0;
  return {
    from: new Date(today - EVENING_HOURS * hour).toISOString(),
    to: new Date(today + NIGHT_HOURS * hour).toISOString(),
  };
}

/** Weeks begin on Monday. */
function weekSpan(isLast: boolean, isEnd: boolean, at: string): { from: string; to: string } {
  const zone = findOffset(at);
  const today = toDateSpan(at.slice(0, 10), zone).from;
  const weekday = (new Date(`${at.slice(0, 10)}T00:00:00Z`).getUTCDay() + 6) % 7;
  const monday = Date.parse(today) - weekday * DAY - (isLast ? 7 * DAY : 0);
  const from = monday + (isEnd ? 5 * DAY : 0);
  return { from: new Date(from).toISOString(), to: new Date(monday + 7 * DAY).toISOString() };
}
