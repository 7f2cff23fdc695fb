import { findOffset, toDateSpan } from "../../../domain/time.ts";
import type { Question } from "../../../ports/language/question-reader.ts";
import { datesIn } from "../grammar/time/dates.ts";
import { stretchIn } from "../grammar/time/validity.ts";

/** A question about a time, put so that it can be read as any other, and what the time is about. */
interface TimelyForm extends Pick<Question, "order" | "measures"> {
  readonly text: string;
}

const LAST = "last|latest|most recent|previous";
const FIRST = "first|very first";
const DID = "(?:did|do|have|had|has|was|were)";

const FORMS: readonly {
  readonly pattern: RegExp;
  readonly put: (groups: Readonly<Record<string, string | undefined>>) => string;
}[] = [
  // "When was the last time I went to the opera?"
  {
    pattern: new RegExp(
      `\\bwhen(?: is|['’]s| was) (?:the |my )(?<order>${LAST}|${FIRST}) time (?:that |when )?(?<who>i|we|my \\S+|\\p{Lu}\\S+) (?<rest>.+)$`,
      "iu",
    ),
    put: ({ who, rest }) => `when did ${who} ${rest}`,
  },
  // "When did I last go to the opera?"
  {
    pattern: new RegExp(
      `\\bwhen (?<aux>${DID}) (?<who>i|we|my \\S+|\\p{Lu}\\S+) (?<order>last|first|most recently) (?<rest>.+)$`,
      "iu",
    ),
    put: ({ aux, who, rest }) => `when ${aux} ${who} ${rest}`,
  },
  {
    pattern: new RegExp(`\\bwhen (?<aux>${DID}) (?<rest>.+?) for the (?<order>first|last) time\\b`, "iu"),
    put: ({ aux, rest }) => `when ${aux} ${rest}`,
  },
  // "When was my last haircut?"
  {
    pattern: new RegExp(
      `\\bwhen(?<aux> is|['’]s| was) (?<who>my|our) (?<order>${LAST}|${FIRST}) (?<rest>(?!name|day)\\S.+)$`,
      "iu",
    ),
    put: ({ aux, who, rest }) => `when${aux} ${who} ${rest}`,
  },
];

/** "When did Ulf and I break up?" is asked of the one who asks. */
const TOGETHER =
  /\b(?<aux>did|do|are|were|have|had|will) (?<whom>\p{Lu}\p{L}+|(?:my|our) \p{L}+) and i (?<rest>[^?.!]+)/iu;

/** "When was the last time I swam?" is "When did I swim?", and of all times the last. */
export function timelyForm(asked: string): TimelyForm {
  const question = asked.replace(TOGETHER, "$<aux> I $<rest> with $<whom>");
  for (const { pattern, put } of FORMS) {
    const groups = pattern.exec(question)?.groups;
    if (!groups) continue;
    const order = new RegExp(FIRST, "i").test(groups.order ?? "") ? "first" : "last";
    return { text: put(groups), order };
  }
  const text = question.replace(/\bsince when\b/i, "how long").replace(/\bfor how long\b/i, "how long");
  if (/\bhow long ago\b/i.test(text))
    return { text: text.replace(/\bhow long ago\b/i, "when"), measures: "ago" };
  if (/\bhow long (?:have|has|had|did|do|does|was|were|am|is|are|will)\b/i.test(text))
    return { text, measures: "duration" };
  if (/\bhow old\b|\bwhat age\b|\bwhat(?: is|['’]s) \S+(?: \S+)? age\b/i.test(text))
    return { text, measures: "age" };
  return { text: question };
}

const BESIDE =
  /^(?<rest>.*\b(?:did|was|were|had|happened)\b(?:.*?\S)?),? (?:right |just |shortly |immediately )?(?<side>before|after|when|while|prior to) (?<of>\S.*?)[?.!\s]*$/i;
/** "look after", "named after": the verb's own word. */
const OWN = /\b(?:look(?:ed|ing)?|named?|call(?:ed)?|ask(?:ed)?|tak(?:e|en)|took|run|ran|go|went)$/i;

/** "Where did I live before Porto?": what it is asked beside, and the question without it. */
export function besideOf(text: string): Pick<Question, "beside"> {
  const { rest, side, of } = BESIDE.exec(text)?.groups ?? {};
  if (!rest || !side || !of || !/^(?:and |so |but )?(?:what|which|where|who|how|whose)\b/i.test(rest))
    return {};
  if (/^(?:all|that|then|this|now|noon|midnight|\d)\b/i.test(of) || (/after/i.test(side) && OWN.test(rest)))
    return {};
  const sides = {
    before: "before",
    "prior to": "before",
    after: "after",
    when: "when",
    while: "when",
  } as const;
  return { beside: { side: sides[side.toLowerCase() as keyof typeof sides], of, rest: `${rest}?` } };
}

const DAY = 86_400_000;
const TIMELY =
  /\b(?:last|this|next|past|coming|in|on|over|during|at|for|yesterday|today|tonight|tomorrow|since|ago|between|from|until|weekend|week)\b/i;
const SEASONS: Readonly<Record<string, number>> = { spring: 2, summer: 5, autumn: 8, fall: 8, winter: 11 };

/** The span that a question names, and the words that name it. */
export function spanIn(text: string, at: string): Pick<Question, "from" | "to" | "dated"> {
  if (at === "" || !TIMELY.test(text)) return {};
  const zone = findOffset(at);
  const ahead = looksAhead(text);
  const range = stretchIn(text, at, ahead);
  if (range.from !== undefined && range.until !== undefined) {
    const dated = /\b(?:from|between|in|during) \S.*$/i.exec(text)?.[0].replace(/[?.!\s]+$/, "");
    return {
      from: toDateSpan(range.from, zone).from,
      to: toDateSpan(range.until, zone).to,
      ...(dated ? { dated } : {}),
    };
  }
  return wideSpan(text, at, ahead) ?? dateSpan(text, at, ahead);
}

function looksAhead(text: string): boolean {
  if (/\b(?:did|was|were|had|last|ago|yesterday|happened|used to)\b/i.test(text)) return false;
  return (
    /\b(?:will|going to|next|coming|upcoming|tomorrow|tonight|planning|planned|plans?|scheduled|in (?:about )?\w+ (?:days?|weeks?|months?))\b/i.test(
      text,
    ) ||
    /\b(?:am|is|are|we) \w+.*ing\b|\b(?:due|expires?|runs? out|renews?|ends|starts|opens|closes)\b/i.test(
      text,
    ) ||
    /\b(?:do|does) (?:i|we) have\b|\bhave i got\b|\b(?:what['’]?s|what is|am i|is there|anything)\b.*\bon\b/i.test(
      text,
    )
  );
}

/** "last week", "at the weekend", "in the spring of 2022": more than a day. */
function wideSpan(
  text: string,
  at: string,
  ahead: boolean,
): Pick<Question, "from" | "to" | "dated"> | undefined {
  const found =
    /\b(?:(?:at|on|over|during|for|in) )?(?:(?:the|this) )?(?<which>last|past|this|next|coming|the)? ?(?<unit>weekend|week|spring|summer|autumn|fall|winter)(?:,? (?:of )?(?<year>(?:19|20)\d\d|last year|this year|next year))?(?= ?(?:[?.!,]|$| (?:did|do|was|i)\b))/i.exec(
      text,
    );
  const unit = found?.groups?.unit?.toLowerCase();
  if (!found || unit === undefined) return undefined;
  const here = new Date(at.slice(0, 10));
  const which = found.groups?.which?.toLowerCase();
  const back = /last|past/.test(which ?? "") || (which === undefined && !ahead && !/this/i.test(found[0]));
  const forward = /next|coming/.test(which ?? "");
  const dated = found[0].trim();
  if (unit === "week" || unit === "weekend") return { ...weekSpan(here, unit, { back, forward }), dated };
  return { ...seasonSpan(here, unit, { back, forward, year: found.groups?.year }), dated };
}

interface Which {
  readonly back: boolean;
  readonly forward: boolean;
  readonly year?: string | undefined;
}

/** Weeks begin on Monday; the weekend that is meant behind is the last one that is over or under way. */
function weekSpan(here: Date, unit: string, { back, forward }: Which): { from: string; to: string } {
  const weekday = (here.getUTCDay() + 6) % 7;
  const monday = here.getTime() - weekday * DAY;
  const shift = forward ? 7 : back ? -7 : 0;
  const start = monday + shift * DAY;
  const [from, to] = unit === "weekend" ? [start + 5 * DAY, start + 7 * DAY] : [start, start + 7 * DAY];
  return { from: iso(from), to: iso(to) };
}

function seasonSpan(
  here: Date,
  season: string,
  { back, forward, year }: Which,
): { from: string; to: string } {
  const month = SEASONS[season] ?? 5;
  const now = here.getUTCFullYear();
  const over = Date.UTC(now, month + (back ? 3 : 0), 1) <= here.getTime();
  const away = back && !over ? -1 : forward && over ? 1 : 0;
  const first = namedYear(year, now) ?? now + away;
  return { from: iso(Date.UTC(first, month, 1)), to: iso(Date.UTC(first, month + 3, 1)) };
}

function namedYear(words: string | undefined, now: number): number | undefined {
  if (words === undefined) return undefined;
  const counted = { "last year": now - 1, "this year": now, "next year": now + 1 }[words.toLowerCase()];
  return counted ?? Number(words);
}

function iso(time: number): string {
  return new Date(time).toISOString();
}

function dateSpan(text: string, at: string, ahead: boolean): Pick<Question, "from" | "to" | "dated"> {
  const [date] = datesIn(text, at, ahead);
  if (!date) return {};
  const before =
    /(?:\b(?:on|in|at|during|over|for|since|by|back in|around|this|the) )*$/i.exec(
      text.slice(0, date.start),
    )?.[0] ?? "";
  const dated = `${before}${text.slice(date.start, date.end)}`.trim();
  const { from, to } = toDateSpan(date.iso, findOffset(at));
  if (/\bsince\b/i.test(before)) return { from, to: new Date(at).toISOString(), dated };
  return { from, to, dated };
}
