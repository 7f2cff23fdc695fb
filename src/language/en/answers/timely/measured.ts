import type { Memory } from "../../../../domain/memory.ts";
import type { Question } from "../../../../ports/language/question-reader.ts";
import { formatDateInWords } from "../../format-date.ts";
import { toSecondPerson, toSentence } from "../../word-forms.ts";
import type { Match } from "../match.ts";
import { sayPath } from "../say.ts";
import { ageAt, type Length, lengthBetween, sayLength } from "./lengths.ts";
import { dateSpelt } from "./moments.ts";
import type { TimelyAnswer, TimelyAsking } from "./timely.ts";

/** "How long have I lived in Ghent?", "How long ago …?", "How old is my daughter?" */
export function measuredAnswer(asking: TimelyAsking): TimelyAnswer {
  const { measures } = asking.read;
  if (measures === undefined) return undefined;
  return measures === "age" ? ageAnswer(asking) : lengthAnswer(asking, measures);
}

const NUMBERS =
  "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen twenty".split(
    " ",
  );

/** From the birth where it is known; else from an age that was told, and the years since. */
function ageAnswer({ read, look, text, looking }: TimelyAsking): TimelyAnswer {
  const now = looking.asOf ?? looking.now;
  const birth: Question = {
    asks: "when",
    relations: ["be born on", "be born in"],
    tense: "past",
    ...(read.subject === undefined ? {} : { subject: read.subject }),
  };
  const born = look("born", birth).found.find(
    ({ by, memory }) => by === "relation" && bornOn(memory) !== undefined,
  );
  const day = born && bornOn(born.memory);
  const age = day === undefined ? undefined : ageAt(day, now);
  if (born && day !== undefined && age) return sayAge(born.memory, age, day);
  const told = look(text, { ...read, relations: ["be aged"] }).found.find(
    ({ memory }) => memory.claim?.relation === "be aged",
  );
  return told && agedSince(told.memory, now);
}

function bornOn({ claim, when }: Memory): string | undefined {
  return when ?? dateSpelt(`${claim?.value ?? ""} ${claim?.qualifier ?? ""}`);
}

function sayAge(
  memory: Memory,
  { years, isExact }: { years: number; isExact: boolean },
  day: string,
): TimelyAnswer {
  const subject = sayPath(memory.claim?.subject ?? "user");
  const be = subject === "You" ? "are" : "is";
  const born = `born ${day.length > 7 ? "on" : "in"} ${formatDateInWords(day, { weekday: false })}`;
  return { text: `${subject} ${be} ${isExact ? "" : "about "}${years} (${born}).`, used: [memory.id] };
}

/** "four, in March 2026": two years later about six. */
function agedSince(memory: Memory, now: string): TimelyAnswer {
  const value = memory.claim?.value.toLowerCase() ?? "";
  const age = /^\d+$/.test(value) ? Number(value) : NUMBERS.indexOf(value);
  const years = lengthBetween(memory.at.slice(0, 10), now.slice(0, 10));
  const passed = years?.unit === "year" ? years.count : years?.unit === "month" && years.count >= 11 ? 1 : 0;
  if (age < 1 || passed === 0) return undefined;
  const subject = sayPath(memory.claim?.subject ?? "user");
  const [was, is] = subject === "You" ? ["were", "are"] : ["was", "is"];
  const then = formatDateInWords(memory.at.slice(0, 7));
  return {
    text: `${subject} ${was} ${value} in ${then}, so ${subject === "You" ? "you" : "now"} ${is} about ${age + passed}.`.replace(
      "so now is",
      "and is now",
    ),
    used: [memory.id],
  };
}

const SAID_LENGTH =
  /\bfor (?:about |over |almost |nearly |around |some |the (?:last|past) )?(?:an?|\d+|\w+)(?: and a half)? (?:years?|months?|weeks?|days?|decades?)\b/i;

/** How long something has lasted, lasted, or is ago. */
function lengthAnswer(asking: TimelyAsking, measures: "duration" | "ago"): TimelyAnswer {
  const { read, look, text, looking } = asking;
  const now = looking.asOf ?? looking.now;
  const { topic: _topic, ...rest } = read;
  const { found } = look(text, { ...rest, asks: "when" });
  const best = found.find((match) => measurable(match, measures));
  if (!best) return undefined;
  const { memory } = best;
  const said = toSentence(toSecondPerson(memory.text)).replace(/\.$/, "");
  if (measures === "duration" && memory.validTo !== undefined && memory.validFrom !== undefined)
    return lasted(memory, said);
  if (measures === "duration" && SAID_LENGTH.test(said)) return asSaid(memory, said, now);
  const begin = beginning(memory);
  const length = begin === undefined ? undefined : lengthBetween(begin, now.slice(0, 10));
  if (!length || begin === undefined) return undefined;
  return { text: withLength(said, begin, length, measures), used: [memory.id] };
}

/** "for 15 years", as it was said; where years have passed since, when it was said as well. */
function asSaid(memory: Memory, said: string, now: string): TimelyAnswer {
  const passed = lengthBetween(memory.at.slice(0, 10), now.slice(0, 10));
  const isOld =
    passed !== undefined && (passed.unit === "year" || (passed.unit === "month" && passed.count > 10));
  const when = isOld && memory.kind !== "event" ? `, as of ${formatDateInWords(memory.at.slice(0, 7))}` : "";
  return { text: `${said}${when}.`, used: [memory.id] };
}

function measurable({ memory }: Match, measures: "duration" | "ago"): boolean {
  return beginning(memory) !== undefined || (measures === "duration" && SAID_LENGTH.test(memory.text));
}

/** Since when, as exactly as it was told; what began when it was said began then only if it says so. */
function beginning({ when, validFrom, validTo, at, kind, text }: Memory): string | undefined {
  if (when !== undefined && (kind === "event" || validFrom === undefined)) return when.slice(0, 10);
  if (validFrom === undefined || validFrom === at)
    return validTo === undefined ? when?.slice(0, 10) : undefined;
  const day = validFrom.slice(0, 10);
  if (!day.endsWith("-01")) return day;
  const isYear = day.endsWith("-01-01") && !/\bjan/i.test(text);
  return isYear ? day.slice(0, 4) : /\b1(?:st)?\b/.test(text) ? day : day.slice(0, 7);
}

function withLength(said: string, begin: string, length: Length, measures: "duration" | "ago"): string {
  const date = formatDateInWords(begin, { weekday: false });
  const isDated = said.includes(date.replace(/ \d{4}$/, "")) || said.includes(begin.slice(0, 4));
  if (length.count === 0) return `${said}${isDated ? "" : ` (${date})`}.`;
  if (measures === "ago") return `${said}${isDated ? "" : ` on ${date}`}, ${sayLength(length)} ago.`;
  return `${said}${isDated ? "" : ` (since ${date})`}, so for ${sayLength(length)}.`;
}

function lasted(memory: Memory, said: string): TimelyAnswer {
  const from = beginning(memory) ?? memory.validFrom ?? "";
  const last = new Date(Date.parse(memory.validTo ?? "") - 1).toISOString().slice(0, 10);
  const length = lengthBetween(from.slice(0, from.length), last.slice(0, from.length));
  if (!length || length.count === 0) return { text: `${said}.`, used: [memory.id] };
  return { text: `${said}: ${sayLength(length)}.`, used: [memory.id] };
}
