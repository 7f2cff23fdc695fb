import { invalid } from "../errors.ts";

const MONTHS = [
  "january",
  "february",
  "march",
  "april",
  "may",
  "june",
  "july",
  "august",
  "september",
  "october",
  "november",
  "december",
];

/**
 * A time as the data sets write it, "1:56 pm on 8 May, 2023" or "2023/05/30 (Tue) 23:40", taken for UTC, and later by
 * a number of seconds, which keeps turns of one time in order. `invalid_input` for any other form.
 */
export function parseDatasetTime(text: unknown, plusSeconds: number): string {
  const start = toMilliseconds(typeof text === "string" ? text.trim() : "");
  return new Date(start + plusSeconds * 1000).toISOString();
}

function toMilliseconds(text: string): number {
  const spoken = /^(\d{1,2}):(\d{2}) ?([ap]m) on (\d{1,2}) (\w+),? (\d{4})$/i.exec(text);
  if (spoken) {
    const [, hour, minute, half, day, month = "", year] = spoken;
    const hours = (Number(hour) % 12) + (half?.toLowerCase() === "pm" ? 12 : 0);
    if (Number(hour) > 12) throw createTimeError();
    return toTime(Number(year), MONTHS.indexOf(month.toLowerCase()), Number(day), hours, Number(minute));
  }
  const written = /^(\d{4})\/(\d{2})\/(\d{2}) \(\w+\) (\d{2}):(\d{2})$/.exec(text);
  if (!written) throw createTimeError();
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0] = written.slice(1).map(Number);
  return toTime(year, month - 1, day, hour, minute);
}

function toTime(year: number, month: number, day: number, hour: number, minute: number): number {
  const time = new Date(Date.UTC(year, month, day, hour, minute));
  const isReal = time.getUTCMonth() === month && time.getUTCDate() === day && hour < 24 && minute < 60;
  if (!isReal) throw createTimeError();
  return time.getTime();
}

function createTimeError(): Error {
  return invalid(
    'a session has no date as the format wants it ("1:56 pm on 8 May, 2023" or "2023/05/30 (Tue) 23:40").',
  );
}
