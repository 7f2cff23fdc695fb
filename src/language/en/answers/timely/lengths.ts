const DAY = 86_400_000;

/** How long a time is in whole units, and whether it is as exact as that. */
export interface Length {
  readonly count: number;
  readonly unit: "year" | "month" | "week" | "day";
  readonly isExact: boolean;
}

/**
 * The time from one date to another, in the greatest unit that tells it well. A date is ISO 8601 and as exact as it
 * is long: from "2019" on, years are all that can be told.
 */
export function lengthBetween(from: string, to: string): Length | undefined {
  const start = dateOf(from);
  const end = dateOf(to);
  if (start === undefined || end === undefined || end < start) return undefined;
  if (from.length === 4 || to.length === 4)
    return { count: end.getUTCFullYear() - start.getUTCFullYear(), unit: "year", isExact: false };
  const isMonth = from.length === 7 || to.length === 7;
  const months = monthsBetween(start, end) - (!isMonth && end.getUTCDate() < start.getUTCDate() ? 1 : 0);
  if (months >= 24) return years(months, isMonth);
  if (months >= 2)
    return months === 12 ? years(12, isMonth) : { count: months, unit: "month", isExact: !isMonth };
  if (isMonth) return { count: months, unit: "month", isExact: false };
  const days = Math.round((end.getTime() - start.getTime()) / DAY);
  return days >= 14
    ? { count: Math.floor(days / 7), unit: "week", isExact: days % 7 === 0 }
    : { count: days, unit: "day", isExact: true };
}

function years(months: number, isMonth: boolean): Length {
  return { count: Math.floor(months / 12), unit: "year", isExact: months % 12 === 0 && !isMonth };
}

function monthsBetween(start: Date, end: Date): number {
  return 12 * (end.getUTCFullYear() - start.getUTCFullYear()) + end.getUTCMonth() - start.getUTCMonth();
}

function dateOf(iso: string): Date | undefined {
  const date = new Date(iso.slice(0, 10));
  return Number.isNaN(date.getTime()) ? undefined : date;
}

/** "5 years", "about 3 weeks", "a day". */
export function sayLength({ count, unit, isExact }: Length): string {
  const said = count === 1 ? `${unit === "day" ? "one" : "a"} ${unit}` : `${count} ${unit}s`;
  return isExact ? said : `about ${said}`;
}

/** Whole years from a birth to a time; a birth that is only known by year gives the age that year brings. */
export function ageAt(born: string, at: string): { years: number; isExact: boolean } | undefined {
  const length = lengthBetween(born, at.slice(0, 10));
  if (!length) return undefined;
  const start = new Date(born.slice(0, 10));
  const end = new Date(at.slice(0, 10));
  const isBefore =
    born.length > 4 &&
    (end.getUTCMonth() < start.getUTCMonth() ||
      (born.length > 7 &&
        end.getUTCMonth() === start.getUTCMonth() &&
        end.getUTCDate() < start.getUTCDate()));
  const isExact = born.length > 7 || (born.length > 4 && end.getUTCMonth() !== start.getUTCMonth());
  return { years: end.getUTCFullYear() - start.getUTCFullYear() - Number(isBefore), isExact };
}
