import { InvalidArgumentError } from "commander";
import { parseTimeOption } from "./command.ts";

const DURATION_UNITS: { readonly [letter: string]: number } = {
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};

/** A length of time in milliseconds: "90d", "24h", "30m", "45s", "0". */
export function parseDuration(text: string): number {
  const milliseconds = toDuration(text);
  if (milliseconds === undefined)
    throw new InvalidArgumentError("It must be a length of time such as 24h or 7d.");
  return milliseconds;
}

/** A moment (ISO 8601), or how long from now. */
export function parseMomentOrDuration(text: string): string | number {
  return toDuration(text) ?? parseTimeOption(text);
}

function toDuration(text: string): number | undefined {
  if (text === "0") return 0;
  const [, count, unit = ""] = /^(\d{1,9})([smhd])$/.exec(text) ?? [];
  return count === undefined ? undefined : Number(count) * (DURATION_UNITS[unit] ?? 0);
}
