import { toDateSpan } from "../../domain/time.ts";

const DATE = /^(\d{4})(?:-(\d{2})(?:-(\d{2}))?)?(?:T.*)?$/;

/** A date as a model gives it ("2026-03-04", "2026-03", "2026"), or nothing where it is none. */
export function parseModelDate(said: unknown): string | undefined {
  if (typeof said !== "string") return undefined;
  const [, year = "", month = "01", day = "01"] = DATE.exec(said.trim()) ?? [];
  if (year < "1900" || year > "2199") return undefined;
  const moment = new Date(`${year}-${month}-${day}T00:00:00Z`);
  // The 31st of February is no date.
  if (Number.isNaN(moment.getTime()) || moment.getUTCDate() !== Number(day)) return undefined;
  return said.trim().split("T")[0];
}

/** The moment at which such a date begins, or is over, where it was said. */
export function toMoment(
  date: string | undefined,
  edge: "from" | "to",
  zone: string | undefined,
): string | undefined {
  return date === undefined ? undefined : toDateSpan(date, zone)[edge];
}
