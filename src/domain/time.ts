import { invalid } from "../errors.ts";

const EARLIEST = Date.UTC(1000, 0, 1);
const LATEST = Date.UTC(3000, 0, 1);
const ZONED = /^\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:?\d{2}))?$/;

/**
 * A time as ISO 8601 in UTC, from a `Date` or from ISO 8601 with a zone (a bare date is midnight UTC).
 * `invalid_input` for anything else, and outside the years 1000 to 2999.
 */
export function isoTime(time: Date | string, name: string): string {
  const text = typeof time === "string" ? time.trim() : undefined;
  if (text !== undefined && !ZONED.test(text)) {
    throw invalid(`${name} is no time: give ISO 8601 with a zone, such as 2026-01-31T18:00:00Z.`);
  }
  const moment = text === undefined ? (time as Date).getTime() : Date.parse(text);
  if (!Number.isFinite(moment)) {
    throw invalid(`${name} is no time: give ISO 8601 with a zone, such as 2026-01-31T18:00:00Z.`);
  }
  if (moment < EARLIEST || moment >= LATEST) throw invalid(`${name} lies outside the years 1000 to 2999.`);
  return new Date(moment).toISOString();
}
