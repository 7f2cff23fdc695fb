import type { Claim } from "../../../../domain/memory.ts";
import { splitWords, stem } from "../../../../domain/search/search-terms.ts";
import type { AddProposal } from "../../../../ports/language/extractor.ts";
import { formatDateInWords } from "../../format-date.ts";
import { conjugate } from "../../word-forms.ts";
import { compose } from "../claims/sentence.ts";
import { adding, type Context, claimOf } from "../context.ts";
import { type Held, held, targetOf, telling } from "../forgetting/targets.ts";
import type { KnownMemory } from "../known-memory.ts";
import { datesIn, isYearlyDay } from "../time/dates.ts";
import { KINDS } from "./correction-words.ts";

/** The newest claim that holds a value of the same kind: a weekday for a weekday, "terminal 3" for "terminal 2". */
export function sameKind(
  context: Context,
  value: string,
  fits: (one: Held) => boolean = () => true,
): { held: Held; old: string; fresh: string } | undefined {
  const recent = new Set(context.known.slice(-40).map(({ id }) => id));
  const all = held(context).filter((one) => (!one.memory || recent.has(one.memory.id)) && fits(one));
  for (const pattern of KINDS) {
    const mine = pattern.exec(value);
    if (!mine) continue;
    const unit = (mine.groups?.word ?? mine.groups?.unit)?.toLowerCase();
    const found = all.flatMap((one) => {
      const where = `${one.claim.value} | ${one.claim.qualifier ?? ""} | ${one.memory?.text ?? ""}`;
      const theirs = pattern.exec(where);
      if (
        !theirs ||
        (unit !== undefined && (theirs.groups?.word ?? theirs.groups?.unit)?.toLowerCase() !== unit)
      )
        return [];
      const old = pattern === KINDS.at(-1) ? numberFor(where, value) : theirs[0];
      return old === undefined ? [] : [{ held: one, old, fresh: mine[0] }];
    });
    const best = newest(found.map((one) => one.held));
    const hit = found.find((one) => one.held === best);
    if (hit) return hit;
  }
  const named = properName(context, value, all);
  return named && { ...named, fresh: value };
}

/**
 * Whether a claim tells of what can have this value now: "had to sell three goats" is over, and stays as it was, and "two cigarettes"
 * say nothing of three sisters.
 */
export function canChange({ message }: Context, value: string): (one: Held) => boolean {
  const noun = COUNTED_NOUN.exec(value)?.groups?.noun;
  const counted = noun === undefined ? undefined : stem(noun.toLowerCase());
  return ({ claim, memory }) => {
    const isOver = memory?.kind === "event" && (memory.when ?? "") < message.at.slice(0, 10);
    const words = splitWords(
      `${claim.subject} ${claim.value} ${claim.qualifier ?? ""} ${memory?.text ?? ""}`,
    );
    return (
      !isOver && (counted === undefined || words.some((word) => stem(word) === counted || isUnit(word, noun)))
    );
  };
}

/** "76 KILOS", "two CIGARETTES a day"; in "twice a week" and "52 a month" nothing is counted. */
const COUNTED_NOUN =
  /^(?:(?:about|around|over|nearly|almost) )*(?:[\d.,]+|(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty|thirty|forty|fifty)) (?!(?:an?|per|of|or|in|on|at|every|each|and|now|to|for|the|times?)\b)(?<noun>\p{L}+)/iu;

/** "kilos" for "kg". */
function isUnit(word: string, noun = ""): boolean {
  return /^(?:kg|kgs|kilos?)$/i.test(word) && /^(?:kg|kgs|kilos?)$/i.test(noun);
}

const NUMBER = new RegExp(KINDS.at(-1) ?? /\d+/, "gi");
const CLOCK = /\b\d{1,2}:\d\d\b/g;
const MONTH_DAY =
  /\b\d{1,2} (?:january|february|march|april|may|june|july|august|september|october|november|december)\b(?: \d{4}\b)?/gi;

/**
 * The first number of a text whose place another value can take. A number inside a date or an hour is no amount: only a day of a month
 * takes the place of a day ("80" none), and the whole hour goes for an hour alone ("one every hour" is none).
 */
function numberFor(text: string, value: string): string | undefined {
  const alone = /^\d{1,2}$/.test(value) ? Number(value) : Number.NaN;
  for (const { 0: found, index } of text.matchAll(NUMBER)) {
    const isIn = (one: RegExpExecArray): boolean => one.index <= index && index < one.index + one[0].length;
    const clock = Array.from(text.matchAll(CLOCK)).find(isIn);
    if (clock && alone <= 24) return clock[0];
    const date = Array.from(text.matchAll(MONTH_DAY)).find(isIn);
    const isDay = date?.index === index && alone >= 1 && alone <= 31;
    if (!clock && (!date || isDay)) return found;
  }
  return undefined;
}

/** Another value in the place of one that held until now. */
export function replaced(
  context: Context,
  place: { start: number; end: number },
  { held: found, old, fresh }: { held: Held; old: string; fresh: string },
): AddProposal {
  const { corrects: _corrects, ...rest } = corrected(context, place, found, old, fresh);
  return isOfThePast(found) ? asOfNow(context, place, rest) : rest;
}

const PAST = /^used to /;

function isOfThePast({ claim }: Held): boolean {
  return PAST.test(claim.relation);
}

/** "I'm down to 82", after "I used to weigh 95 kilos": what was so once stays, and what is so now stands beside it. */
function asOfNow(
  context: Context,
  place: { start: number; end: number },
  { claim, text }: AddProposal,
): AddProposal {
  const now = claim && { ...claim, relation: claim.relation.replace(PAST, "") };
  const display = text.split(/ used to /)[0] ?? text;
  const verb = conjugate(now?.relation ?? "", "third");
  return adding(context, place, {
    text: now ? compose(display, verb, now.value, now.qualifier ?? "") : text,
    claim: now ?? claimOf(context.discourse.speaker.path, "", ""),
  });
}

/** A name for the name that was told last. */
function properName(
  _context: Context,
  value: string,
  all: readonly Held[],
): { held: Held; old: string } | undefined {
  if (!/^(?:the )?\p{Lu}[\p{L}\p{N}.'’-]*(?: (?:\p{Lu}|\d)[\p{L}\p{N}'’-]*){0,3}$/u.test(value))
    return undefined;
  const last = newest(
    all.filter(
      ({ claim, memory }) => /^(?:the )?\p{Lu}/u.test(claim.value) && memory?.kind !== "instruction",
    ),
  );
  return last && { held: last, old: last.claim.value.replace(/^the /i, "") };
}

/** The old claim with the right words in place of the wrong ones. */
export function corrected(
  context: Context,
  place: { start: number; end: number },
  found: Held,
  old: string,
  fresh: string,
): AddProposal {
  const { claim, memory } = found;
  const swap = (text: string): string => replaceWords(text, old, fresh);
  const value = swap(claim.value);
  const qualifier = claim.qualifier === undefined ? undefined : swap(claim.qualifier);
  const changed = value !== claim.value || (qualifier ?? "") !== (claim.qualifier ?? "");
  const next: Claim = {
    ...claim,
    value: changed ? value : fresh,
    ...(qualifier === undefined ? {} : { qualifier }),
  };
  const target = targetOf([found, ...siblings(context, found, old)]);
  const when = whenOf(memory, fresh);
  const text = memory ? textWith(memory, claim, next, swap, when) : `${next.value}`;
  return adding(context, place, {
    text,
    claim: next,
    ...(memory ? { kind: memory.kind } : {}),
    // What is put right is named: others that are told the same way stay ("I have asthma", beside "I have a flight to Milan").
    ...(target ? { replaces: target, holds: "many" } : { holds: "one" }),
    corrects: true,
    importance: memory?.importance ?? 0.6,
    ...(when ? { when } : {}),
  });
}

function textWith(
  memory: KnownMemory,
  claim: Claim,
  next: Claim,
  swap: (text: string) => string,
  when: string | undefined,
): string {
  const day = isYearlyDay(claim.subject) ? dayOfYear(next.value, memory.at) : undefined;
  if (day !== undefined) return memory.text.replace(/\bon \d{1,2} \p{Lu}\p{L}+/u, `on ${day}`);
  const swapped = swap(memory.text);
  if (swapped !== memory.text) return swapped;
  const said = memory.when === undefined ? "" : formatDateInWords(memory.when, { weekday: false });
  if (when !== undefined && said !== "" && memory.text.includes(said))
    return memory.text.replace(said, formatDateInWords(when, { weekday: false }));
  if (memory.text.includes(claim.value)) return memory.text.replace(claim.value, next.value);
  return memory.text.replace(/[.!]$/, `, ${next.value}.`);
}

/** "15 May", of a day that returns each year. */
function dayOfYear(value: string, at: string): string | undefined {
  const [date] = datesIn(value, at, true);
  return date && formatDateInWords(date.iso, { weekday: false }).replace(/ \d{4}\b/, "");
}

/** Other memories of the same words in which the wrong value stands too. */
function siblings(context: Context, found: Held, old: string): Held[] {
  const message = found.memory?.sources[0]?.message;
  if (!message) return [];
  const words = telling(old);
  return held(context).filter(
    (one) =>
      one !== found &&
      one.memory?.sources[0]?.message === message &&
      one.claim.subject === found.claim.subject &&
      one.claim.relation === found.claim.relation &&
      words.every((word) => telling(one.claim.value).includes(word)),
  );
}

function whenOf(memory: KnownMemory | undefined, fresh: string): string | undefined {
  if (memory?.when === undefined) return undefined;
  const hour = /^(?:at )?(\d{1,2})[:.](\d\d)$/.exec(fresh);
  if (hour?.[1]) return `${memory.when.slice(0, 10)}T${hour[1].padStart(2, "0")}:${hour[2]}:00.000Z`;
  const half = /^(?:at )?(?<hour>\d{1,2})(?:[:.](?<minute>\d\d))? ?(?<half>am|pm)$/i.exec(fresh)?.groups;
  if (half) {
    const hour = (Number(half.hour) % 12) + (half.half?.toLowerCase() === "pm" ? 12 : 0);
    return `${memory.when.slice(0, 10)}T${String(hour).padStart(2, "0")}:${half.minute ?? "00"}:00.000Z`;
  }
  // "the 9th": of the month that was told.
  const day = /^(?:the )?(\d{1,2})(?:st|nd|rd|th)$/i.exec(fresh)?.[1];
  if (day !== undefined && memory.when.length >= 10)
    return `${memory.when.slice(0, 8)}${day.padStart(2, "0")}${memory.when.slice(10)}`;
  const bare = fresh;
  const [date] = datesIn(bare, memory.at, memory.when >= memory.at.slice(0, 10));
  if (!date) return memory.when;
  return date.iso;
}

function replaceWords(text: string, wrong: string, fresh: string): string {
  const unit = / (\S+)$/.exec(fresh)?.[1];
  // "not 2, 3 kg": the unit stands there already.
  const old = unit !== undefined && text.includes(`${wrong} ${unit}`) ? `${wrong} ${unit}` : wrong;
  const bare = old.replace(/^(?:the|a|an|my|on|in|at) /i, "");
  const pattern = new RegExp(
    `(?<![\\p{L}\\p{N}])${bare.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")}(?![\\p{L}\\p{N}])`,
    "iu",
  );
  return text.replace(pattern, fresh.replace(/^(?:the|a|an|my|on|in|at) (?=\S)/i, ""));
}

export function newest(all: readonly Held[]): Held | undefined {
  return all.reduce<Held | undefined>(
    (best, one) => (best === undefined || (one.memory?.at ?? "9") >= (best.memory?.at ?? "9") ? one : best),
    undefined,
  );
}
