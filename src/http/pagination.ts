import * as z from "zod";
import { runInSlices } from "../domain/time-slicing.ts";
import { invalid } from "../errors.ts";
import type { RequestContext } from "./request-context.ts";
import { countTextSchema, cursorSchema, nameSchema } from "./schemas/fields.ts";

interface PageQuery {
  readonly cursor?: string | undefined;
  readonly limit?: number | undefined;
}

const PAGE_QUERY_FIELDS = { cursor: cursorSchema.optional(), limit: countTextSchema.optional() };

/** The query parameters of every list. */
export const PAGE_QUERY: z.ZodType<PageQuery> = z.strictObject(PAGE_QUERY_FIELDS);
/** The same for lists that can be limited to one user. */
export const USER_PAGE_QUERY: z.ZodType<PageQuery & { readonly user_id?: string | undefined }> =
  z.strictObject({
    ...PAGE_QUERY_FIELDS,
    user_id: nameSchema.optional(),
  });

/**
 * Gives a page of a list that only grows at its end. The cursor is the id of the last entry, so it stays valid when the list
 * grows. Throws `invalid_input` for an unknown cursor.
 */
export function paginate<Entry>(
  all: readonly Entry[],
  { cursor: after, limit = 100 }: PageQuery,
  idOf: (entry: Entry) => string,
): { readonly items: readonly Entry[]; readonly cursor?: string; readonly next_cursor?: string } {
  const last = after === undefined ? -1 : all.findIndex((entry) => toCursor(idOf(entry)) === after);
  if (after !== undefined && last === -1) throw invalid("the cursor is not from this list.");
  const items = all.slice(last + 1, last + 1 + limit);
  const end = items.at(-1);
  const isMore = last + 1 + limit < all.length;
  return { items, ...toCursorFields(end && isMore ? toCursor(idOf(end)) : undefined) };
}

/** Gives the cursor fields of a page: `cursor` and, for one more release, its earlier name. */
export function toCursorFields(next: string | undefined): {
  readonly cursor?: string;
  readonly next_cursor?: string;
} {
  return next === undefined ? {} : { cursor: next, next_cursor: next };
}

function toCursor(id: string): string {
  return Buffer.from(id, "utf8").toString("base64url");
}

/** Sends a page of formatted items with further fields. Pauses between items: one can be about 100 KB. */
export async function sendPage<One>(
  exchange: RequestContext,
  all: readonly One[],
  make: (one: One) => unknown,
  beside: object,
): Promise<Response> {
  const texts = await runInSlices(serialise(all, make));
  const rest = JSON.stringify(beside).slice(1, -1);
  const body = `{"items":[${texts.join(",")}]${rest === "" ? "" : `,${rest}`}}`;
  return exchange.body(body, 200, { "content-type": "application/json" });
}

function* serialise<One>(
  all: readonly One[],
  make: (one: One) => unknown,
): Generator<void, readonly string[], void> {
  const texts: string[] = [];
  for (const one of all) {
    texts.push(JSON.stringify(make(one)));
    yield;
  }
  return texts;
}
