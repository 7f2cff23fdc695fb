import { readFileSync, statSync } from "node:fs";
import { MemoryError } from "../errors.ts";

/** One JSON value cannot be read piece by piece, and must fit into a string. */
const MOST_BYTES = 500_000_000;

/** A whole file as one JSON value. `invalid_input` where it is none, or too large. */
export function jsonFile(path: string): unknown {
  if (statSync(path).size > MOST_BYTES) {
    throw new MemoryError("invalid_input", "the file is larger than 500 MB: turn it into JSON lines first.");
  }
  try {
    return JSON.parse(readFileSync(path, "utf8"));
  } catch (cause) {
    if (!(cause instanceof SyntaxError)) throw cause;
    throw new MemoryError("invalid_input", "the file is no JSON.", { cause });
  }
}

/** A time as "1:56 pm on 8 May, 2023" or "2023/05/30 (Tue) 23:40" in UTC, later by a number of seconds. */
export function timeOf(text: string, plusSeconds: number): string {
  const spoken = /^(\d{1,2}):(\d{2}) (am|pm) on (\d{1,2}) (\w+), (\d{4})$/.exec(text.trim());
  if (spoken) {
    const [, hour, minute, half, day, month, year] = spoken;
    const hours = (Number(hour) % 12) + (half === "pm" ? 12 : 0);
    return shifted(
      Date.parse(`${day} ${month} ${year} 00:00 UTC`) + (hours * 60 + Number(minute)) * 60_000,
      plusSeconds,
    );
  }
  const written = /^(\d{4})\/(\d{2})\/(\d{2}) \(\w+\) (\d{2}):(\d{2})$/.exec(text.trim());
  if (written) {
    const [, year, month, day, hour, minute] = written;
    return shifted(Date.parse(`${year}-${month}-${day}T${hour}:${minute}:00Z`), plusSeconds);
  }
  throw new MemoryError("invalid_input", "a session has a date of an unknown form.");
}

function shifted(milliseconds: number, plusSeconds: number): string {
  if (!Number.isFinite(milliseconds))
    throw new MemoryError("invalid_input", "a session has a date that is none.");
  return new Date(milliseconds + plusSeconds * 1000).toISOString();
}
