import { invalid, MemoryError } from "../errors.ts";

/** What pages go by: newest first, and among those of one time by id. */
interface Placed {
  readonly at: string;
  readonly id: string;
}

/** For `sort`: newest first. */
export function newestFirst(one: Placed, other: Placed): number {
  if (one.at === other.at) return one.id === other.id ? 0 : one.id < other.id ? 1 : -1;
  return one.at < other.at ? 1 : -1;
}

/** A cursor names the last one given, by its time and id, so that it stands where others come and go. */
export function cursorOf({ at, id }: Placed): string {
  return Buffer.from(JSON.stringify([at, id])).toString("base64url");
}

/** The place of the first one after a cursor. `invalid_input` for a cursor that nobody gave. */
export function afterCursor(all: readonly Placed[], cursor: string): number {
  const place = placeIn(cursor);
  const next = all.findIndex((one) => newestFirst(place, one) < 0);
  return next === -1 ? all.length : next;
}

function placeIn(cursor: string): Placed {
  let place: unknown;
  try {
    place = JSON.parse(Buffer.from(cursor, "base64url").toString("utf8"));
  } catch (cause) {
    throw new MemoryError("invalid_input", NO_CURSOR, { cause });
  }
  const [at, id] = Array.isArray(place) ? (place as unknown[]) : [];
  if (typeof at !== "string" || typeof id !== "string") throw invalid(NO_CURSOR);
  return { at, id };
}

const NO_CURSOR = "the cursor is none that a list gave.";

/** A page that is chosen from many that come one by one, in any order. */
interface PageOfMany<One> {
  add(one: One): void;
  /** The page in its order, how many were added in all, and whether nothing comes after the page. */
  end(): { readonly found: readonly One[]; readonly total: number; readonly isLast: boolean };
}

/** Beside the page so many more are held before they are put in order: few sorts, and each a short one. */
const SPARE = 1000;

/**
 * The newest so many after a cursor. Only about as many as stand on the page are ever put in order, so that no step takes
 * long. `invalid_input` for a cursor that nobody gave.
 */
export function newestAfter<One extends Placed>(cursor: string | undefined, limit: number): PageOfMany<One> {
  const after = cursor === undefined ? undefined : placeIn(cursor);
  let held: One[] = [];
  let [total, following] = [0, 0];
  let least: One | undefined;
  const cut = (): void => {
    held = held.sort(newestFirst).slice(0, limit);
    least = held.length === limit ? held.at(-1) : undefined;
  };
  return {
    add(one) {
      total += 1;
      if (after && newestFirst(after, one) >= 0) return;
      following += 1;
      if (least && newestFirst(least, one) <= 0) return;
      held.push(one);
      if (held.length >= limit + SPARE) cut();
    },
    end() {
      cut();
      return { found: held, total, isLast: following <= limit };
    },
  };
}
