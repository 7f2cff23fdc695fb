import { createRequire } from "node:module";
import { findOffset, toDateSpan } from "../../../../domain/time.ts";
import { relativeDate } from "./relative-dates.ts";

/** A date said in words, resolved against the time of the message. */
export interface SaidDate {
  readonly start: number;
  readonly end: number;
  /** ISO 8601: a day ("2026-04-17"), a month ("2026-04"), a year ("2019"), or a time where one was said. */
  readonly iso: string;
}

interface Components {
  date(): Date;
  isCertain(component: "hour" | "meridiem" | "day" | "weekday" | "month" | "year"): boolean;
}

interface Found {
  readonly index: number;
  readonly text: string;
  readonly start: Components;
}

interface DateParser {
  parse(
    text: string,
    reference: { instant: Date; timezone: number },
    options: { forwardDate: boolean },
  ): Found[];
}

interface Chrono {
  /** Reads 3/4 as 3 April, and "May 30" as May 2030. */
  readonly GB: DateParser;
  /** Reads 3/4 as March 4, and "May 30" as the day. */
  readonly casual: DateParser;
}

let loaded: Chrono | undefined;

function chrono(): Chrono {
  if (!loaded) {
    const load: (name: string) => unknown = createRequire(import.meta.url);
    loaded = load("chrono-node/en") as Chrono;
  }
  return loaded;
}

/** Cheap look for a word that can be part of a date, before the parser is loaded and asked. */
const HINT =
  /\d|\b(?:today|tomorrow|yesterday|tonight|ago|last|next|this|coming|weekend|weeks?|months?|years?|days?|morning|(?:mon|tues|wednes|thurs|fri|satur|sun)day|jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|january|february|march|april|june|july|august|sept|september|october|november|december|christmas|easter|good friday|pentecost|spring|summer|autumn|winter|fall|fortnight|couple|xmas|valentine|halloween|nye)\b/i;

const RATE =
  /\b(?:\S+ (?:days?|times?|nights?|hours?|evenings?|mornings?|weeks?)|once|twice|thrice) (?:a|an|per|each|every) (?:day|night|week|fortnight|month|year)\b/gi;

const HABIT =
  /\b(?:every|each|(?:mon|tues|wednes|thurs|fri|satur|sun)days|(?:mon|tues|wednes|thurs|fri|satur|sun)day (?:morning|afternoon|evening|night)s|weekdays|weekends|daily|(?:mon|tues|wednes|thurs|fri|satur|sun)day (?:to|till|until|through) (?:mon|tues|wednes|thurs|fri|satur|sun)day)\b/i;

/** A time that is no part of a habit, even beside a rate: "cut my hours to four days a week LAST MONTH". */
const ONCE = /\b(?:last|next) (?:week|month|year|\p{L}+day)\b|\bago\b|\b(?:yesterday|tomorrow)\b/iu;

/** What is done on one day of each week or month: "I do judo on Tuesday and Friday", "she has piano lessons on Monday", "the rent is due on the 1st". */
const WEEKDAY_NAME = "(?:mon|tues|wednes|thurs|fri|satur|sun)day";
const HABITUAL: readonly RegExp[] = [
  new RegExp(`\\bon ${WEEKDAY_NAME}s?(?:,| and| or) (?:on )?${WEEKDAY_NAME}\\b`, "i"),
  new RegExp(
    `\\b(?:i|we|they|he|she) (?!am |are |is |was |were |will |might |may |met )(?:only |usually |always )?[a-z]+ (?:[a-z]+ ){0,2}${WEEKDAY_NAME}s?(?:, | and | & ?)${WEEKDAY_NAME}\\b`,
    "i",
  ),
  new RegExp(
    `\\b(?:do|does|play|plays|train|trains|teach|teaches|sing|sings|swim|swims|volunteer|volunteers|(?:have|has|attend|attends|take|takes) (?:\\S+ ){0,3}(?:lessons|classes|practice|training|rehearsals?|tutoring)) .{0,40}\\bon ${WEEKDAY_NAME}\\b`,
    "i",
  ),
  /\b(?:rent|salary|wages?|pay|pays|paid|pension|bursary|allowance|mortgage|payday)\b.{0,30}\bon the \d{1,2}(?:st|nd|rd|th)\b(?! of)/i,
];

/** "May 30", "April 21st", without a date in figures. */
const MONTH_FIRST =
  /^(?!.*\b\d{1,2}[/.]\d{1,2}\b(?:[/.]\d|.*\d[/.]\d)).*\b(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\.? (?:[12]?\d|3[01])(?:st|nd|rd|th)?(?![\d:%]|[.,]\d)/is;

/** "I read it in two weeks", "I passed after three years": how long it took. */
const LENGTH = /^(?:in|within|after) .*\b(?:days?|weeks?|months?|years?)$/i;

/** The dates that a text names. `future` where the tense looks ahead. Habits ("every Monday") are no dates. */
export function datesIn(said: string, at: string, future: boolean): SaidDate[] {
  if (said.length > 600 || !HINT.test(said)) return [];
  const text = said.replace(RATE, (rate) => " ".repeat(rate.length));
  if (HABIT.test(text) || (text !== said && !ONCE.test(text))) return [];
  if (future && HABITUAL.some((pattern) => pattern.test(text))) return [];
  const zone = findOffset(at);
  // The clock on the wall is taken for one in UTC: a day is a day wherever it is.
  const instant = new Date(zone === undefined ? at : at.replace(zone, "Z"));
  if (Number.isNaN(instant.getTime())) return [];
  const found = datesAt(text, instant, future);
  if (zone === undefined) return found;
  return found.map((date) => ({ ...date, iso: date.iso.replace(/Z$/, zone) }));
}

/** "since January" looks back, whatever the tense. */
const SINCE = /\bsince (?:early |late |the |around )?$/i;

/** "booked flights for the 21st": ahead, whatever the tense. */
const FOR_DAY =
  /\bfor (?:the |this |next )?(?:\d{1,2}(?:st|nd|rd|th)|(?:mon|tues|wednes|thurs|fri|satur|sun)day)\b(?! (?:last|ago))/i;

const BOOKED =
  "\\b(?:booked|reserved|scheduled|arranged|organi[sz]ed|pencill?ed)\\b[^.!?]{0,60}\\bfor (?:the )?(?:(?:first|second|third|last) (?:week|weekend|half) (?:of|in) )?";

/** "She has booked Livigno for the last week of January": ahead, whatever the tense. */
const BOOKED_FOR = new RegExp(`${BOOKED}$`, "i");
const BOOKED_FOR_FEAST = new RegExp(`${BOOKED}(?:easter|good friday|whit|pentecost)`, "i");

/** "They asked for it by Thursday": the time that somebody is given lies ahead. "By Friday I was exhausted" does not. */
const DEADLINE =
  /\b(?:want|need|ask|due|deadline|had to|must|owe|expect|promis|requir)\w*\b.{0,80}\bby (?:the |about |around |end of |eod )?$/i;

/** "They've moved my driving test to 24 March" */
const MOVED =
  /\b(?:mov|postpon|push|reschedul|rearrang|delay|shift|put back|put off|br(?:ing|ought) forward)\w*\b.{0,40}\b(?:to|until|till) (?:the )?$/i;

/** "I got an extension until 15 July": a limit can lie ahead of what is told of the past. */
const LIMIT = /\b(?:until|till|'?til|by|from|starting|as of) (?:the |about |around )?$/i;

function datesAt(text: string, instant: Date, looksAhead: boolean): SaidDate[] {
  const future = looksAhead || FOR_DAY.test(text);
  const plain = text.replace(/’/g, "'");
  const relative =
    relativeDate(plain, instant, future || BOOKED_FOR_FEAST.test(plain)) ?? numberedWeekday(plain, instant);
  if (relative) return [relative];
  const parser = MONTH_FIRST.test(plain) ? chrono().casual : chrono().GB;
  const found = parser
    .parse(plain.replace(FROM_DAY, "    "), { instant, timezone: 0 }, { forwardDate: future })
    .filter((one) => !isCutNumber(one, plain) && isDate(one, plain) && (future || !LENGTH.test(one.text)))
    .map((one) => ({
      start: one.index,
      end: one.index + one.text.length,
      iso: isoOf(one, instant, directionOf(plain.slice(0, one.index), future)),
    }));
  if (found.length > 0) return found;
  return byHand(plain, instant, future);
}

/** "from 1 September": the parser takes the 1 for an hour. */
const FROM_DAY =
  /\bfrom(?= \d{1,2}(?:st|nd|rd|th)? (?:of )?(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec))/gi;

/**
 * Where a day without a year lies, seen from the message. `near` takes the nearest one on either side. `due` takes the next weekday or month,
 * and the nearest day of a month.
 */
type Direction = "ahead" | "behind" | "near" | "due";

function directionOf(before: string, future: boolean): Direction {
  if (future) return SINCE.test(before) ? "behind" : "ahead";
  if (BOOKED_FOR.test(before)) return "ahead";
  if (DEADLINE.test(before) || MOVED.test(before)) return "due";
  return LIMIT.test(before) ? "near" : "behind";
}

/** "Thursday the 23rd": the nearest such day whose number and weekday agree. */
function numberedWeekday(text: string, instant: Date): SaidDate | undefined {
  const said = NUMBERED_WEEKDAY.exec(text);
  if (!said?.groups) return undefined;
  const weekday = WEEKDAYS.indexOf((said.groups.weekday ?? "").toLowerCase());
  const today = Date.UTC(instant.getUTCFullYear(), instant.getUTCMonth(), instant.getUTCDate());
  const days = Array.from(
    { length: 25 },
    (_, i) =>
      new Date(Date.UTC(instant.getUTCFullYear(), instant.getUTCMonth() + i - 12, Number(said.groups?.day))),
  );
  const [day] = days
    .filter((one) => one.getUTCDay() === weekday && one.getUTCDate() === Number(said.groups?.day))
    .sort((one, other) => Math.abs(one.getTime() - today) - Math.abs(other.getTime() - today));
  return day && at(said, day.toISOString().slice(0, 10));
}

const WEEKDAYS = "sun mon tues wednes thurs fri satur".split(" ");
const NUMBERED_WEEKDAY =
  /\b(?<weekday>mon|tues|wednes|thurs|fri|satur|sun)day,? (?:the )?(?<day>\d{1,2})(?:st|nd|rd|th)\b(?!,? (?:of )?(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec))/i;

/** "this minute", "30 minutes to it": now, or how long it takes; "2 hours ago" is a time. */
function isMomentLong(words: string): boolean {
  return /\b(?:seconds?|minutes?|mins?|hours?|hrs?)\b/i.test(words) && !/^in\b|\bago$/i.test(words);
}

/** "in August, from 1,595": the 1 is no hour. */
function isCutNumber({ index, text }: Found, whole: string): boolean {
  return /^[.,]\d/.test(whole.slice(index + text.length));
}

/** "during the week": of every one; "the day after": after another day than that of the message. */
const AFTER_ANOTHER =
  /^(?:the )?(?:(?:week|month|year)|(?:\S+ )?(?:day|week|weekend|month|year)s? (?:after|before))$/i;
/** "my last year of school": the last of something, and not the one before this. */
const LAST_OF = /^(?:the |my |our )?(?:first|last|next) (?:day|week|month|year)$/i;

/** Whether it is counted from another day than that of the message, or is a part of something. */
function isOfAnother(found: Found, text: string): boolean {
  const behind = text.slice(found.index + found.text.length);
  return AFTER_ANOTHER.test(found.text) || (LAST_OF.test(found.text) && /^ of (?!\d)/i.test(behind));
}

function isDate(found: Found, text: string): boolean {
  const { start } = found;
  const hasDay =
    start.isCertain("day") ||
    start.isCertain("weekday") ||
    start.isCertain("month") ||
    start.isCertain("year");
  // "may" as a verb, "march", "sat" are read as dates.
  if (
    /^(?:may|march|mar|sat|sun|sec|second|dec|now)$/i.test(found.text) &&
    !/(?:in|on|since|by|until|till|last|next|this|before|after|for|of|early|mid|late|mid-) ?(?:may|march|mar|sat|sun|dec)\b/i.test(
      text,
    )
  )
    return false;
  if (isMomentLong(found.text) || isNameOfThing(found, text)) return false;
  if (isOfAnother(found, text)) return false;
  const before = text.slice(Math.max(0, found.index - 12), found.index).toLowerCase();
  // "ten a day", "two weeks long": a length or a rate, no date; "in two weeks", "two weeks ago" are.
  if (
    /^(?:about )?(?:a|an|per|\p{L}+(?:ty|teen)(?:-\p{L}+)?|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|\d+|few|couple)?(?: of)? ?(?:seconds?|minutes?|mins?|hours?|hrs?|days?|weeks?|months?|years?)$/iu.test(
      found.text.trim().replace(/^for /i, ""),
    ) &&
    !/\b(?:in|within) (?:about |like |just )?$/.test(before)
  )
    return false;
  if (
    /^(?:the )?weekend$/i.test(found.text) &&
    !/(?:at|over|this|next|last|coming|on) (?:the )?(?:coming )?$/.test(before)
  )
    return false;
  // "closes at 5:30": an hour of any day.
  const isHourAlone = start.isCertain("hour") && !hasDay;
  if (isHourAlone && !/\b(?:today|tonight|tomorrow|yesterday|morning|afternoon|evening|night)\b/i.test(text))
    return false;
  if (/^\d+\s?(?:h|m|min|mins|s|sec)\b/i.test(found.text)) return false;
  return hasDay || /morning|tonight|afternoon|evening|today|\d[:.]\d\d|[ap]m/i.test(found.text);
}

const NO_NOUN =
  "(?!(?:morning|afternoon|evening|night|lunchtime|noon|after|before|at|and|or|to|till|until|through|in|on|of|for|from|with|by|the|an?|my|our|i|we|he|she|they|it|is|was|were|when|that|which|who|because|so|but|if|last|next|this|ago|again|too|instead|week|month|year)\\b)";
const NAMED = new RegExp(`^ ${NO_NOUN}\\p{Ll}{3,}`, "u");

/** "the Sunday market", "our Friday call", "the May issue": a day before a noun is part of its name. */
function isNameOfThing(found: Found, text: string): boolean {
  const isBare = /^(?:(?:mon|tues|wednes|thurs|fri|satur|sun)day|\p{Lu}\p{Ll}+)$/u.test(found.text.trim());
  const before = text.slice(0, found.index);
  const after = text.slice(found.index + found.text.length);
  return isBare && /\b(?:the|an?|my|our|his|her|their|your|every)\s+$/i.test(before) && NAMED.test(after);
}

function isoOf(found: Found, instant: Date, direction: Direction): string {
  const { start } = found;
  const text = found.text.toLowerCase();
  let date = isAfternoon(start, text) ? new Date(start.date().getTime() + 12 * 3_600_000) : start.date();
  const future = isAhead(start, text, direction);
  if (/last weekend/.test(text)) date = weekendBefore(instant);
  else if (/last week$/.test(text)) date = new Date(instant.getTime() - 7 * 86_400_000);
  else if (/next (?:mon|tues|wednes|thurs|fri|satur|sun)day/.test(text)) date = nextDay(date, instant);
  else if (!start.isCertain("year") && start.isCertain("month"))
    date =
      /^(?:near|due)$/.test(direction) && start.isCertain("day")
        ? nearestYear(date, instant)
        : nearest(date, instant, future, start.isCertain("day"));
  else if (start.isCertain("weekday") && !start.isCertain("day"))
    date = weekdayTowards(date, instant, /^last\b/.test(text) ? "behind" : direction);
  return cutIso(date.toISOString(), start, text);
}

/** "postponed to June" is ahead, too; "last June" never is. */
function isAhead(start: Components, text: string, direction: Direction): boolean {
  const isDueMonth = direction === "due" && !start.isCertain("day");
  return (direction === "ahead" || isDueMonth) && !/^(?:last|past)\b/.test(text);
}

function weekdayTowards(date: Date, instant: Date, direction: Direction): Date {
  const week = 7 * 86_400_000;
  const isBefore = date.toISOString().slice(0, 10) < instant.toISOString().slice(0, 10);
  if (direction === "due") return isBefore ? new Date(date.getTime() + week) : date;
  return direction !== "ahead" && date > instant ? new Date(date.getTime() - week) : date;
}

/** "Friday at 3": few things that people tell of take place between one and seven at night. */
function isAfternoon(start: Components, text: string): boolean {
  return (
    start.isCertain("hour") &&
    !start.isCertain("meridiem") &&
    /(?:^|\bat )[1-6](?:$|,| o['’]?clock| on )/.test(text)
  );
}

/** As much of a date as was said. */
function cutIso(iso: string, start: Components, text: string): string {
  if (start.isCertain("hour") && !/night|morning|evening|afternoon/.test(text.replace(/\d.*$/, "")))
    return iso;
  const dayKnown =
    start.isCertain("day") ||
    start.isCertain("weekday") ||
    /today|tonight|yesterday|tomorrow|morning|night|week|days? ago/.test(text);
  if (dayKnown) return iso.slice(0, 10);
  if (start.isCertain("month") || /month/.test(text)) return iso.slice(0, 7);
  return iso.slice(0, /year/.test(text) ? 4 : 10);
}

/** "Next Friday", said on a Friday, is a week away and not today. */
function nextDay(date: Date, instant: Date): Date {
  return date.getTime() - instant.getTime() < 43_200_000 ? new Date(date.getTime() + 7 * 86_400_000) : date;
}

function weekendBefore(instant: Date): Date {
  const day = instant.getUTCDay();
  // The Saturday of the weekend that is over.
  const back = day === 0 ? 8 : day + 1;
  return new Date(instant.getTime() - back * 86_400_000);
}

/** A month or a day without a year: ahead of the message where the tense looks ahead, else behind it. */
function nearest(date: Date, instant: Date, future: boolean, dayKnown: boolean): Date {
  const moved = new Date(date);
  const slack = dayKnown ? 86_400_000 : 31 * 86_400_000;
  if (future && moved.getTime() < instant.getTime() - slack) moved.setUTCFullYear(moved.getUTCFullYear() + 1);
  if (!future && moved.getTime() > instant.getTime() + 86_400_000)
    moved.setUTCFullYear(moved.getUTCFullYear() - 1);
  return moved;
}

function nearestYear(date: Date, instant: Date): Date {
  const years = [-1, 0, 1].map((away) => {
    const moved = new Date(date);
    moved.setUTCFullYear(instant.getUTCFullYear() + away);
    return moved;
  });
  const away = (one: Date): number => Math.abs(one.getTime() - instant.getTime());
  return years.reduce((best, one) => (away(one) < away(best) ? one : best));
}

const SEASONS: Readonly<Record<string, string>> = {
  spring: "04",
  summer: "07",
  autumn: "10",
  fall: "10",
  winter: "01",
  christmas: "12",
};

/** "since jan", "from feb": the parser knows months of three letters behind "in" alone. */
const SHORT_MONTH =
  /\b(?<joint>since|from|until|till|by|before|after|on|of|this|next|last|early|late|mid) (?<month>jan|feb|mar|apr|jun|jul|aug|sep|oct|nov|dec)\b(?!\.? ?\d)/i;
const MONTHS = "jan feb mar apr may jun jul aug sep oct nov dec".split(" ");

function shortMonth(
  { joint = "", month = "" }: Readonly<Record<string, string | undefined>>,
  instant: Date,
  future: boolean,
): string {
  const first = new Date(Date.UTC(instant.getUTCFullYear(), MONTHS.indexOf(month.toLowerCase()), 1));
  const isAhead = /^(?:since|last)$/i.test(joint) ? false : future || /^next$/i.test(joint);
  if (!isAhead && first > instant) first.setUTCFullYear(first.getUTCFullYear() - 1);
  return nearest(first, instant, isAhead, false).toISOString().slice(0, 7);
}

/** What the parser does not know: "in 2019", "the 14th", "last summer". */
function byHand(text: string, instant: Date, future: boolean): SaidDate[] {
  const year = /\b(?:in|since|from|until|back in|around|of) ((?:19|20)\d\d)\b/i.exec(text);
  if (year?.[1]) return [at(year, year[1])];
  const short = SHORT_MONTH.exec(text);
  if (short?.groups?.month) {
    const end = short.index + short[0].length;
    return [{ start: end - short.groups.month.length, end, iso: shortMonth(short.groups, instant, future) }];
  }
  const season = /\b(last|next|this) (spring|summer|autumn|fall|winter|christmas)\b/i.exec(text);
  if (season?.[1] && season[2])
    return [at(season, seasonOf(season[1].toLowerCase(), season[2].toLowerCase(), instant))];
  const day =
    /\b(?:on )?the (\d{1,2})(?:st|nd|rd|th)\b(?! (?:floor|of every|of each|grade|time|century))/i.exec(text);
  if (!day?.[1]) return [];
  const iso = dayOfMonth(Number(day[1]), instant, future || DEADLINE.test(text.slice(0, day.index)));
  return iso === undefined ? [] : [at(day, iso)];
}

function at(match: RegExpExecArray, iso: string): SaidDate {
  return { start: match.index, end: match.index + match[0].length, iso };
}

function seasonOf(which: string, season: string, instant: Date): string {
  const month = SEASONS[season] ?? "07";
  const year = instant.getUTCFullYear();
  const now = instant.getUTCMonth() + 1;
  if (which === "last") return `${Number(month) < now ? year : year - 1}-${month}`;
  if (which === "next") return `${Number(month) > now ? year : year + 1}-${month}`;
  return `${year}-${month}`;
}

/** The next such day, or the latest one. Months without it are skipped. */
function dayOfMonth(day: number, instant: Date, future: boolean): string | undefined {
  const today = Date.UTC(instant.getUTCFullYear(), instant.getUTCMonth(), instant.getUTCDate());
  return Array.from({ length: 4 }, (_, i) => instant.getUTCMonth() + (future ? i : -i))
    .map((month) => new Date(Date.UTC(instant.getUTCFullYear(), month, day)))
    .filter((date) => date.getUTCDate() === day)
    .find((date) => (future ? date.getTime() >= today : date.getTime() <= today))
    ?.toISOString()
    .slice(0, 10);
}

/** A date as a moment, for validity: the beginning of its span. */
export function momentOf(iso: string, zone?: string): string {
  return iso.length > 10 ? new Date(iso).toISOString() : toDateSpan(iso, zone).from;
}

/** Whether a thing is a day that returns each year: a birthday has no year of its own. */
export function isYearlyDay(path: string): boolean {
  return /\b(?:birthday|bday|anniversary|name day|saint's day)$/i.test(path);
}

/** "the 14th of May", "March 3rd", "14/5". */
export function namesMonth(text: string): boolean {
  return /\b(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)|\d[./]\d/i.test(text);
}
