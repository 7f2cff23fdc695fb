/** Dates that are counted from the day of the message: "in two weeks", "Monday week", "the Friday after next". */

const DAY = 86_400_000;

const COUNTS = new Map([
  ..."one two three four five six seven eight nine ten eleven twelve"
    .split(" ")
    .map((word, i) => [word, i + 1] as const),
  ["a", 1],
  ["an", 1],
  ["couple", 2],
  ["few", 3],
]);

const NUMBER = "(?<count>\\d{1,3}|an?|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)";
const UNIT = "(?<unit>day|week|fortnight|month|year)s?";
const WEEKDAYS = ["sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"];
const WEEKDAY = "(?<weekday>(?:mon|tues|wednes|thurs|fri|satur|sun)day)";

/** A date by its words. */
interface Rule {
  readonly pattern: RegExp;
  /** Only where the words look ahead. */
  readonly isAhead?: boolean;
  readonly iso: (
    groups: Readonly<Record<string, string | undefined>>,
    instant: Date,
    future: boolean,
  ) => string;
}

const RULES: readonly Rule[] = [
  {
    pattern: new RegExp(
      `\\b(?:in|within) (?:about |around |like |just |roughly )?(?:the next )?(?:${NUMBER}|(?:a )?(?<vague>couple|few)(?: of)?)(?: more)? ${UNIT}(?:['’]s?)?(?: time| from (?:now|today))?\\b`,
      "i",
    ),
    iso: (groups, instant) => counted(groups, instant, 1),
    // "I read it in two weeks": how long it took.
    isAhead: true,
  },
  {
    pattern: new RegExp(
      `\\b(?:${NUMBER}|(?:a )?(?<vague>couple|few)(?: of)?) ${UNIT} (?:from (?:now|today)|(?<ago>ago|back))\\b(?<exact> today\\b| to the day\\b| exactly\\b)?`,
      "i",
    ),
    iso: (groups, instant) => counted(groups, instant, groups.ago === undefined ? 1 : -1),
  },
  {
    pattern: new RegExp(`\\b(?:a|one) week (?:from|on) (?:next )?${WEEKDAY}\\b`, "i"),
    iso: (groups, instant) => weekday(groups, instant, 1),
  },
  {
    pattern: new RegExp(
      `\\b(?:the )?(?<nth>first|second|third|fourth|last) ${WEEKDAY} (?:of|in) (?:the |this )?(?<which>month|next month|january|february|march|april|may|june|july|august|september|october|november|december)\\b`,
      "i",
    ),
    iso: nthWeekday,
  },
  {
    pattern: new RegExp(`\\b${WEEKDAY} week\\b(?! (?:day|end|long))`, "i"),
    iso: (g, at) => weekday(g, at, 1),
  },
  {
    pattern: new RegExp(`\\b(?:the )?${WEEKDAY} after next\\b`, "i"),
    iso: (groups, instant) => weekday(groups, instant, 1),
  },
  {
    pattern: /\b(?:the )?weekend after next\b/i,
    iso: (_groups, instant) => weekday({ weekday: "saturday" }, instant, 1),
  },
  {
    pattern:
      /\b(?<feast>easter(?: (?:sunday|monday|weekend))?|good friday|whit monday|pentecost|ash wednesday|mardi gras)(?: (?:of )?(?<which>last year|this year|next year|(?:19|20)\d\d))?\b/i,
    iso: ({ feast = "", which }, instant, future) => easterFeast(feast.toLowerCase(), which, instant, future),
  },
  {
    pattern: /\b(?:the )?week after next\b/i,
    iso: (_groups, instant) => day(instant.getTime() + 14 * DAY),
  },
];

function counted(
  { count = "", vague, unit = "day", exact }: Readonly<Record<string, string | undefined>>,
  instant: Date,
  sign: 1 | -1,
): string {
  const word = (vague ?? count).toLowerCase();
  const many = sign * (COUNTS.get(word) ?? Number(word));
  const name = unit.toLowerCase();
  if (name === "day") return day(instant.getTime() + many * DAY);
  if (name === "week") return day(instant.getTime() + many * 7 * DAY);
  if (name === "fortnight") return day(instant.getTime() + many * 14 * DAY);
  const date = new Date(instant);
  if (exact !== undefined) {
    if (name === "year") date.setUTCFullYear(date.getUTCFullYear() + many);
    else date.setUTCMonth(date.getUTCMonth() + many);
    return day(date.getTime());
  }
  if (name === "year") return String(date.getUTCFullYear() + many);
  date.setUTCDate(1);
  date.setUTCMonth(date.getUTCMonth() + many);
  return date.toISOString().slice(0, 7);
}

function weekday(
  { weekday: name = "" }: Readonly<Record<string, string | undefined>>,
  instant: Date,
  weeks: number,
): string {
  const ahead = (WEEKDAYS.indexOf(name.toLowerCase()) - instant.getUTCDay() + 7) % 7 || 7;
  return day(instant.getTime() + (ahead + 7 * weeks) * DAY);
}

const NTH = ["first", "second", "third", "fourth"];
const MONTHS = "january february march april may june july august september october november december".split(
  " ",
);

/** "the last Sunday of the month" */
function nthWeekday(
  { nth = "first", weekday: name = "", which = "month" }: Readonly<Record<string, string | undefined>>,
  instant: Date,
): string {
  const named = MONTHS.indexOf(which.toLowerCase());
  const ahead = named < 0 ? Number(/next/i.test(which)) : (named - instant.getUTCMonth() + 12) % 12;
  const first = new Date(Date.UTC(instant.getUTCFullYear(), instant.getUTCMonth() + ahead, 1));
  const wanted = WEEKDAYS.indexOf(name.toLowerCase());
  const start = 1 + ((wanted - first.getUTCDay() + 7) % 7);
  const length = new Date(Date.UTC(first.getUTCFullYear(), first.getUTCMonth() + 1, 0)).getUTCDate();
  const at =
    nth.toLowerCase() === "last"
      ? start + 7 * Math.floor((length - start) / 7)
      : start + 7 * NTH.indexOf(nth.toLowerCase());
  first.setUTCDate(at);
  return day(first.getTime());
}

function day(time: number): string {
  return new Date(time).toISOString().slice(0, 10);
}

/** Days from Easter Sunday. */
const FROM_EASTER: Readonly<Record<string, number>> = {
  "good friday": -2,
  "easter monday": 1,
  "whit monday": 50,
  pentecost: 49,
  "ash wednesday": -46,
  "mardi gras": -47,
};

/** A feast that moves with Easter: of the year named, else the next one or the last. */
function easterFeast(feast: string, which: string | undefined, instant: Date, future: boolean): string {
  const year = instant.getUTCFullYear();
  const dayIn = (one: number): string => day(easterOf(one) + (FROM_EASTER[feast] ?? 0) * DAY);
  if (which !== undefined) {
    const named: Readonly<Record<string, number>> = {
      "last year": year - 1,
      "this year": year,
      "next year": year + 1,
    };
    return dayIn(named[which.toLowerCase()] ?? Number(which));
  }
  const here = dayIn(year);
  const today = day(instant.getTime());
  if (future) return here < today ? dayIn(year + 1) : here;
  return here > today ? dayIn(year - 1) : here;
}

/** Easter Sunday of the Gregorian calendar, by the rule of Butcher (1876). */
function easterOf(year: number): number {
  const [a, b, c] = [year % 19, Math.floor(year / 100), year % 100];
  const f = Math.floor((b + 8) / 25);
  const g = Math.floor((b - f + 1) / 3);
  const h = (19 * a + b - Math.floor(b / 4) - g + 15) % 30;
  const l = (32 + 2 * (b % 4) + 2 * Math.floor(c / 4) - h - (c % 4)) % 7;
  const m = Math.floor((a + 11 * h + 22 * l) / 451);
  const n = h + l - 7 * m + 114;
  return Date.UTC(year, Math.floor(n / 31) - 1, (n % 31) + 1);
}

const FEASTS: readonly (readonly [RegExp, string])[] = [
  [/\bchristmas eve\b/i, "12-24"],
  [/\b(?:christmas(?: day)?|xmas)\b/i, "12-25"],
  [/\bboxing day\b/i, "12-26"],
  [/\bnew year['’]?s eve\b|\bnye\b/i, "12-31"],
  [/\bnew year['’]?s(?: day)?\b/i, "01-01"],
  [/\bvalentine['’]?s(?: day)?\b/i, "02-14"],
  [/\bhalloween\b/i, "10-31"],
];

/** The first date of these kinds in a text, with its place. */
export function relativeDate(
  text: string,
  instant: Date,
  future: boolean,
): { start: number; end: number; iso: string } | undefined {
  for (const { pattern, iso, isAhead } of RULES) {
    const found = isAhead && !future ? undefined : pattern.exec(text);
    if (found?.groups)
      return {
        start: found.index,
        end: found.index + found[0].length,
        iso: iso(found.groups, instant, future),
      };
  }
  return feast(text, instant, future);
}

/** "on New Year's Eve": the next one, or the last. "Before Christmas" is no day. */
function feast(
  text: string,
  instant: Date,
  future: boolean,
): { start: number; end: number; iso: string } | undefined {
  for (const [pattern, monthDay] of FEASTS) {
    const found = pattern.exec(text);
    if (!found) continue;
    const before = text.slice(0, found.index);
    if (!/\b(?:on|at|for|since|this|last|next|is|was)\s+$/i.test(before)) return undefined;
    const year = instant.getUTCFullYear();
    const today = day(instant.getTime());
    const here = `${year}-${monthDay}`;
    const isPast = /\b(?:last|since|was)\s+$/i.test(before) || !future;
    const moved = isPast ? (here > today ? year - 1 : year) : here < today ? year + 1 : year;
    return { start: found.index, end: found.index + found[0].length, iso: `${moved}-${monthDay}` };
  }
  return undefined;
}
