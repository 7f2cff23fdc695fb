const DAYS = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];
const MONTHS = "January February March April May June July August September October November December".split(
  " ",
);

/** "2026-04-17" -> "Friday, 17 April 2026"; with a time of day, "… at 15:00". */
export function formatDateInWords(iso: string, options: { weekday?: boolean } = {}): string {
  // Shows the local time of its zone, with the date there.
  const date = new Date(
    `${iso.slice(0, 10)}${iso.length === 4 ? "-01-01" : iso.length === 7 ? "-01" : ""}T00:00:00Z`,
  );
  if (Number.isNaN(date.getTime())) return iso;
  if (iso.length === 4) return iso;
  if (iso.length === 7) return `${MONTHS[date.getUTCMonth()]} ${date.getUTCFullYear()}`;
  const day = `${date.getUTCDate()} ${MONTHS[date.getUTCMonth()]} ${date.getUTCFullYear()}`;
  const named = options.weekday === false ? day : `${DAYS[date.getUTCDay()]}, ${day}`;
  return iso.length > 10 ? `${named} at ${iso.slice(11, 16)}` : named;
}
