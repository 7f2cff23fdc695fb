import * as z from "zod";
import { mapInSlices } from "../engine/time-slicing.ts";
import { invalid } from "../errors.ts";
import type { RequestContext } from "./request-context.ts";
import { countTextSchema, cursorSchema, nameSchema } from "./schemas/fields.ts";

interface PageQuery {
  readonly cursor?: string | undefined;
  readonly limit?: number | undefined;
}

const PAGE_QUERY_FIELDS = { cursor: cursorSchema.optional(), limit: countTextSchema.optional() };

/** What every list takes behind the "?". */
export const PAGE_QUERY: z.ZodType<PageQuery> = z.strictObject(PAGE_QUERY_FIELDS);
/** The same for lists that may be of one user. */
export const USER_PAGE_QUERY: z.ZodType<PageQuery & { readonly user_id?: string | undefined }> =
  z.strictObject({
    ...PAGE_QUERY_FIELDS,
    user_id: nameSchema.optional(),
  });

/**
 * A page of a list that only grows at its end. The cursor names the last one given by its id, so that it stands where
 * others come. `invalid_input` for a cursor that names none of them.
 */
export function paginate<Entry>(
  all: readonly Entry[],
  { cursor: after, limit = 100 }: PageQuery,
  idOf: (entry: Entry) => string,
): { readonly items: readonly Entry[]; readonly cursor?: string; readonly next_cursor?: string } {
  const last = after === undefined ? -1 : all.findIndex((entry) => toCursor(idOf(entry)) === after);
  if (after !== undefined && last === -1) throw invalid("the cursor is none that this list gave.");
  const items = all.slice(last + 1, last + 1 + limit);
  const end = items.at(-1);
  const isMore = last + 1 + limit < all.length;
  return { items, ...toCursorFields(end && isMore ? toCursor(idOf(end)) : undefined) };
}

/** Where a list goes on, as fields of its page: under its name, and for one more release under the earlier one. */
export function toCursorFields(next: string | undefined): {
  readonly cursor?: string;
  readonly next_cursor?: string;
} {
  return next === undefined ? {} : { cursor: next, next_cursor: next };
}

function toCursor(id: string): string {
  return Buffer.from(id, "utf8").toString("base64url");
}

/** Items that become JSON at once, before others have their turn: one of them may be some 100 KB. */
const SLICE_SIZE = 20;

/** Answers with a page: what is made of each, and what stands beside them. A page of many large items is made in slices. */
export async function sendPage<One>(
  exchange: RequestContext,
  all: readonly One[],
  make: (one: One) => unknown,
  beside: object,
): Promise<Response> {
  const texts = await mapInSlices(all, (one) => JSON.stringify(make(one)), SLICE_SIZE);
  const rest = JSON.stringify(beside).slice(1, -1);
  const body = `{"items":[${texts.join(",")}]${rest === "" ? "" : `,${rest}`}}`;
  return exchange.body(body, 200, { "content-type": "application/json" });
}

interface CursorFields {
  readonly cursor: z.ZodOptional<z.ZodString>;
  readonly next_cursor: z.ZodOptional<z.ZodString>;
}

/** Where a list goes on, as fields of a page. */
export const CURSOR_FIELDS: CursorFields = {
  cursor: z.string().describe("Goes into `cursor` of the next request; absent on the last page").optional(),
  next_cursor: z
    .string()
    .meta({ deprecated: true, description: "Deprecated, and gone with the next release: use `cursor`" })
    .optional(),
};
