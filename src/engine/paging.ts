import { invalid, MemoryError } from "../errors.ts";

/** What pages go by: newest first, and among those of one time by id. */
interface PageKey {
  readonly at: string;
  readonly id: string;
}

/** For `sort`: newest first. */
export function compareNewestFirst(one: PageKey, other: PageKey): number {
  if (one.at === other.at) return one.id === other.id ? 0 : one.id < other.id ? 1 : -1;
  return one.at < other.at ? 1 : -1;
}

/** A cursor names the last one given, by its time and id, so that it stands where others come and go. */
export function toCursor({ at, id }: PageKey): string {
  return Buffer.from(JSON.stringify([at, id])).toString("base64url");
}

/** The place of the first one after a cursor. `invalid_input` for a cursor that nobody gave. */
export function findAfterCursor(all: readonly PageKey[], cursor: string): number {
  const place = parseCursor(cursor);
  const next = all.findIndex((one) => compareNewestFirst(place, one) < 0);
  return next === -1 ? all.length : next;
}

function parseCursor(cursor: string): PageKey {
  let place: unknown;
  try {
    place = JSON.parse(Buffer.from(cursor, "base64url").toString("utf8"));
  } catch (cause) {
    throw new MemoryError("invalid_input", INVALID_CURSOR, { cause });
  }
  const [at, id] = Array.isArray(place) ? (place as unknown[]) : [];
  if (typeof at !== "string" || typeof id !== "string") throw invalid(INVALID_CURSOR);
  return { at, id };
}

const INVALID_CURSOR = "the cursor is none that a list gave.";

/** A page that is chosen from many that come one by one, in any order. */
interface PageCollector<One> {
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
export function createNewestPage<One extends PageKey>(
  cursor: string | undefined,
  limit: number,
): PageCollector<One> {
  const after = cursor === undefined ? undefined : parseCursor(cursor);
  let held: One[] = [];
  let [total, following] = [0, 0];
  let least: One | undefined;
  const cut = (): void => {
    held = held.sort(compareNewestFirst).slice(0, limit);
    least = held.length === limit ? held.at(-1) : undefined;
  };
  return {
    add(one) {
      total += 1;
      if (after && compareNewestFirst(after, one) >= 0) return;
      following += 1;
      if (least && compareNewestFirst(least, one) <= 0) return;
      held.push(one);
      if (held.length >= limit + SPARE) cut();
    },
    end() {
      cut();
      return { found: held, total, isLast: following <= limit };
    },
  };
}
