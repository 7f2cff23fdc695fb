import { getValidityStart } from "../../../../domain/memories/current-memories.ts";
import type { Memory } from "../../../../domain/memory.ts";
import { toDateSpan } from "../../../../domain/time.ts";

/** A span of time, [from, to) in ISO 8601. */
export interface Span {
  readonly from: string;
  readonly to: string;
}

/** When what a memory tells took place, or began; empty where only its end is known. */
export function startOf(memory: Memory): string {
  return spanTold(memory)?.from ?? getValidityStart(memory);
}

/** What a memory is put in order by: its beginning, or else its end. */
export function placeInTime(memory: Memory): string {
  return startOf(memory) || (memory.validTo ?? memory.at);
}

/** The span that an event's own date stands for. */
export function spanTold({ when, validFrom, validTo, at }: Memory): Span | undefined {
  if (validTo !== undefined && validFrom !== undefined && validFrom !== at)
    return { from: validFrom, to: validTo };
  if (when === undefined) return undefined;
  return when.length <= 10 ? toDateSpan(when) : pointOf(when);
}

function pointOf(time: string): Span {
  const from = new Date(time);
  return { from: from.toISOString(), to: new Date(from.getTime() + 1).toISOString() };
}

/** Whether what a memory tells was so, or took place, in a span. */
export function wasIn(memory: Memory, { from, to }: Span): boolean {
  const isDated = memory.when !== undefined && (memory.validFrom ?? memory.at) === memory.at;
  const told =
    isDated || memory.kind === "event" || memory.kind === "commitment" ? spanTold(memory) : undefined;
  if (told) return told.from < to && told.to > from;
  if (memory.kind === "event" || memory.kind === "commitment") return memory.at >= from && memory.at < to;
  const isOpen = memory.status === "superseded" && memory.validTo === undefined;
  return !isOpen && getValidityStart(memory) < to && (memory.validTo === undefined || memory.validTo > from);
}

const MONTHS = "jan feb mar apr may jun jul aug sep oct nov dec".split(" ");

/** The date that a value spells ("9 August 1990", "May 2020", "1985"), as exactly as it does. */
export function dateSpelt(text: string): string | undefined {
  const found =
    /(?:\b(?<day>\d{1,2})(?:st|nd|rd|th)?(?: of)? )?(?:(?<month>\p{L}{3})\p{L}* )?(?:(?<after>\d{1,2})(?:st|nd|rd|th)?,? )?\b(?<year>(?:19|20)\d\d)\b/u.exec(
      text,
    );
  const groups = found?.groups;
  if (!groups?.year) return /\b(?:19|20)\d\d-\d\d-\d\d\b/.exec(text)?.[0];
  const month = MONTHS.indexOf(groups.month?.toLowerCase() ?? "") + 1;
  if (month === 0) return groups.year;
  const day = groups.day ?? groups.after;
  const whole = `${groups.year}-${String(month).padStart(2, "0")}`;
  return day === undefined ? whole : `${whole}-${day.padStart(2, "0")}`;
}
