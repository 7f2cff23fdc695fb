import { invalid, MemoryError } from "../errors.ts";

/** What pages go by: newest first, and among those of one time by id. */
interface Placed {
  readonly at: string;
  readonly id: string;
}

/** For `sort`: newest first. */
export function newestFirst(one: Placed, other: Placed): number {
  if (one.at === other.at) return one.id < other.id ? 1 : -1;
  return one.at < other.at ? 1 : -1;
}

/** A cursor names the last one given, by its time and id, so that it stands where others come and go. */
export function cursorOf({ at, id }: Placed): string {
  return Buffer.from(JSON.stringify([at, id])).toString("base64url");
}

/** The place of the first one after a cursor. `invalid_input` for a cursor that nobody gave. */
export function afterCursor(all: readonly Placed[], cursor: string): number {
  let place: unknown;
  try {
    place = JSON.parse(Buffer.from(cursor, "base64url").toString("utf8"));
  } catch (cause) {
    throw new MemoryError("invalid_input", NO_CURSOR, { cause });
  }
  const [at, id] = Array.isArray(place) ? (place as unknown[]) : [];
  if (typeof at !== "string" || typeof id !== "string") throw invalid(NO_CURSOR);
  const next = all.findIndex((one) => one.at < at || (one.at === at && one.id < id));
  return next === -1 ? all.length : next;
}

const NO_CURSOR = "the cursor is none that a list gave.";
