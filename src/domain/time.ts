import { invalid } from "../errors.ts";

const EARLIEST = Date.UTC(1000, 0, 1);
const LATEST = Date.UTC(3000, 0, 1);
const ZONED = /^\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:?\d{2}))?$/;

/** The UTC offset in a time ("+08:00"). Undefined for UTC, a bare date and a `Date`. */
export function findOffset(time: Date | string): string | undefined {
  const [, hours, minutes] = (typeof time === "string" && /T.*([+-]\d{2}):?(\d{2})$/.exec(time.trim())) || [];
  return hours === undefined || (Number(hours) === 0 && Number(minutes) === 0)
    ? undefined
    : `${hours}:${minutes}`;
}

/**
 * Converts a time (ISO 8601, UTC) to local time: "2026-03-10T16:30:00.000Z" ->
 * "2026-03-11T00:30:00.000+08:00".
 */
export function toLocalTime(time: string, zone: string | undefined): string {
  if (zone === undefined) return time;
  const moment = Date.parse(time);
  if (Number.isNaN(moment)) return time;
  return new Date(moment + parseOffset(zone)).toISOString().replace("Z", zone);
}

/** An offset in milliseconds: "+08:00" -> 28,800,000. */
function parseOffset(zone: string): number {
  const [, sign, hours = "0", minutes = "0"] = /^([+-])(\d{2}):?(\d{2})$/.exec(zone) ?? [];
  return (sign === "-" ? -1 : 1) * (Number(hours) * 60 + Number(minutes)) * 60_000;
}

/**
 * Converts a `Date` or an ISO 8601 text with a zone to ISO 8601 in UTC (a bare date is midnight UTC). Throws
 * `invalid_input` for anything else, and outside the years 1000 to 2999.
 */
export function toIsoTime(time: Date | string, name: string): string {
  const text = typeof time === "string" ? time.trim() : undefined;
  if (text !== undefined && !ZONED.test(text)) {
    throw invalid(`${name} is not a time. Use ISO 8601 with a zone, such as 2026-01-31T18:00:00Z.`);
  }
  const moment = text === undefined ? (time as Date).getTime() : Date.parse(text);
  if (!Number.isFinite(moment)) {
    throw invalid(`${name} is not a time. Use ISO 8601 with a zone, such as 2026-01-31T18:00:00Z.`);
  }
  if (moment < EARLIEST || moment >= LATEST) throw invalid(`${name} is outside the years 1000 to 2999.`);
  return new Date(moment).toISOString();
}

/** The period of a date: a day, a month or a year in a zone, as [from, to) in ISO 8601, UTC. */
export function toDateSpan(iso: string, zone?: string): { from: string; to: string } {
  const [year = 1970, month = 1, day = 1] = iso.slice(0, 10).split("-").map(Number);
  const from = new Date(Date.UTC(year, month - 1, day));
  const to = new Date(from);
  if (iso.length === 4) to.setUTCFullYear(year + 1);
  else if (iso.length === 7) to.setUTCMonth(to.getUTCMonth() + 1);
  else to.setUTCDate(to.getUTCDate() + 1);
  const offset = zone === undefined ? 0 : parseOffset(zone);
  return {
    from: new Date(from.getTime() - offset).toISOString(),
    to: new Date(to.getTime() - offset).toISOString(),
  };
}
