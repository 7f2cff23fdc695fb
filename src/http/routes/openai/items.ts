import * as z from "zod";
import type { ScopedMemory } from "../../../engine/api/scoped-memory.ts";
import type { OperationRequest } from "../../operation.ts";
import { refuseField } from "../../problem.ts";
import { type ItemMessage, showConversationItems } from "../../proxy/conversation/conversation-store.ts";
import { requireNamedUser } from "../../proxy/request/memory-access.ts";
import { toFields } from "../../proxy/request/reply-reader.ts";
import { createCountTextSchema, nameSchema } from "../../schemas/fields.ts";

type OptionalText = z.ZodOptional<z.ZodString>;
type IncludeQuery = { readonly include: OptionalText; readonly "include[]": OptionalText };

/** The query for more of an item. It is ignored: items are kept whole. */
export const INCLUDE_QUERY: IncludeQuery = {
  include: z.string().optional(),
  "include[]": z.string().optional(),
};
/** The query for a page of items. */
export const ITEM_PAGE_QUERY: z.ZodObject<
  IncludeQuery & {
    readonly after: z.ZodOptional<typeof nameSchema>;
    readonly limit: z.ZodOptional<ReturnType<typeof createCountTextSchema>>;
    readonly order: z.ZodOptional<z.ZodEnum<{ asc: "asc"; desc: "desc" }>>;
  },
  z.core.$strict
> = z.strictObject({
  ...INCLUDE_QUERY,
  after: nameSchema.optional(),
  limit: createCountTextSchema(1, 100).optional(),
  order: z.enum(["asc", "desc"]).optional(),
});

export const ITEM_SCHEMA: z.ZodType = z.looseObject({ id: z.string(), type: z.string() });
export const ITEM_LIST_SCHEMA: z.ZodType = z.strictObject({
  object: z.literal("list"),
  data: z.array(ITEM_SCHEMA),
  first_id: z.string().nullable(),
  last_id: z.string().nullable(),
  has_more: z.boolean(),
});

/** Gives the user of a request for what is stored by OpenAI's API. */
export function findItemOwner(
  call: Pick<OperationRequest, "exchange" | "bearer" | "body" | "services">,
): string {
  return requireNamedUser(call, toFields(call.body), call.services.proxy);
}

/** Gives the memory of a request's user, after what was said before is stored. */
export async function openNamedMemory(call: OperationRequest): Promise<ScopedMemory> {
  const user = findItemOwner(call);
  const memory = call.memoryOf(user);
  await call.services.proxy.writer.waitForWrites(JSON.stringify([call.project(), user]));
  return memory;
}

/** Gives items as a list of OpenAI. */
export function toItemList(data: readonly { readonly id: string }[], hasMore: boolean): object {
  return {
    object: "list",
    data,
    first_id: data[0]?.id ?? null,
    last_id: data.at(-1)?.id ?? null,
    has_more: hasMore,
  };
}

/** Gives a page of stored items, newest first unless the query says otherwise. Throws a 400 error for an unknown `after`. */
export async function showItemPage(
  memory: ScopedMemory,
  items: readonly ItemMessage[],
  { after, limit = 20, order = "desc" }: z.output<typeof ITEM_PAGE_QUERY>,
): Promise<object> {
  const all = order === "asc" ? items : items.toReversed();
  const last = after === undefined ? -1 : all.findIndex(({ id }) => id === after);
  if (after !== undefined && last === -1)
    throw refuseField("after", "after must be the id of an item of this list.");
  const page = all.slice(last + 1, last + 1 + limit);
  const hasMore = last + 1 + limit < all.length;
  return toItemList(await showConversationItems(memory, page), hasMore);
}
