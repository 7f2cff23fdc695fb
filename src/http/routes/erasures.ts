import * as z from "zod";
import type { Where } from "../../domain/filters/metadata-filter.ts";
import type { WhereText } from "../../domain/filters/text-filter.ts";
import type { ErasureReceipt } from "../../domain/receipt.ts";
import type { Forget } from "../../engine/api/writing-types.ts";
import { MemoryError } from "../../errors.ts";
import { noteErasures } from "../idempotency.ts";
import { defineOperation, type Operation, type OperationRequest } from "../operation.ts";
import { paginate, USER_PAGE_QUERY } from "../pagination.ts";
import {
  filterSchema,
  momentSchema,
  nameSchema,
  textFilterSchema,
  textSchema,
  toOptional,
} from "../schemas/fields.ts";
import { ERASURE_PLAN_SCHEMA, ERASURE_RECEIPT_SCHEMA, ERASURES_SCHEMA } from "../schemas/memory.ts";
import { omitUndefined, receiptToWire, toWire } from "../schemas/wire.ts";

const ERASURE_BODY = z
  .strictObject({
    user_id: nameSchema,
    about: toOptional(textSchema),
    ids: toOptional(z.array(nameSchema).min(1).max(1000)),
    session_id: toOptional(nameSchema),
    from: toOptional(momentSchema),
    to: toOptional(momentSchema),
    topic: toOptional(textSchema),
    where: toOptional(filterSchema),
    where_text: toOptional(textFilterSchema),
    attachments: toOptional(z.array(nameSchema).min(1).max(1000)),
    everything: toOptional(z.literal(true)),
    dry_run: toOptional(z.boolean()),
    if_revision: toOptional(z.int().min(0)),
  })
  .refine(
    ({ about, ids, session_id, from, to, topic, where, where_text, attachments, everything }) =>
      [about, ids, session_id, from ?? to, topic, where, where_text, attachments, everything].filter(
        (one) => one !== undefined,
      ).length === 1,
    {
      message:
        "set exactly one of about, ids, session_id, from and to, topic, where, where_text, attachments, everything",
    },
  );

const USER_QUERY = z.strictObject({ user_id: nameSchema.optional() });
const ID_PARAMETERS = z.strictObject({ id: nameSchema });

/** Erasures: an optional plan, the erasure, and its receipt. */
export const erasureOperations: readonly Operation[] = [
  defineOperation({
    id: "erase",
    method: "POST",
    path: "/api/v1/erasures",
    tag: "Erasure",
    summary: "Erases matching data from every store, with a receipt",
    description:
      "With `dry_run` it gives the plan and erases nothing. With `if_revision`, the `revision` of a plan, it erases only if nothing " +
      "has been stored since; otherwise it ends with 409.",
    scope: "erase",
    body: ERASURE_BODY,
    acceptsIdempotencyKey: true,
    answers: {
      200: {
        says: "The plan, or an empty receipt if nothing matched.",
        schema: z.union([ERASURE_PLAN_SCHEMA, ERASURE_RECEIPT_SCHEMA]),
      },
      201: { says: "The receipt of the erasure.", schema: ERASURE_RECEIPT_SCHEMA },
    },
    problems: [404, 409],
    async handle({ exchange, body, signal, memoryOf, services }) {
      const memory = memoryOf(body.user_id);
      const what = toErasureTarget(body);
      if (body.dry_run) {
        // Read before the plan: what is stored meanwhile may be in the plan, and makes the revision an old one.
        const revision = await memory.revision();
        const plan = receiptToWire(
          await memory.forget(what, { dryRun: true, signal }),
          services.keepsake.receiptWriter,
        );
        return exchange.json({ ...plan, revision });
      }
      const { if_revision: ifRevision } = body;
      const receipt = await memory.forget(what, omitUndefined({ signal, ifRevision }));
      noteErasures(exchange, [receipt]);
      const { memories, messages, rewritten = 0 } = receipt.erased;
      const isKept = memories + messages + rewritten > 0;
      return exchange.json(toWire(receipt) as object, isKept ? 201 : 200);
    },
  }),
  defineOperation({
    id: "listErasures",
    method: "GET",
    path: "/api/v1/erasures",
    tag: "Erasure",
    summary: "Lists the erasure receipts of one user, or of the project, oldest first",
    scope: "read",
    query: USER_PAGE_QUERY,
    answers: { 200: { says: "A page of receipts.", schema: ERASURES_SCHEMA } },
    async handle({ exchange, query, ...call }) {
      const receipts = await listReceipts(call, query.user_id);
      const { items, ...next } = paginate(receipts, query, ({ id }) => id);
      return exchange.json({ items: items.map(toWire), total: receipts.length, ...next });
    },
  }),
  defineOperation({
    id: "getErasure",
    method: "GET",
    path: "/api/v1/erasures/{id}",
    tag: "Erasure",
    summary: "Gives the receipt of an erasure",
    scope: "read",
    parameters: ID_PARAMETERS,
    query: USER_QUERY,
    answers: { 200: { says: "The receipt.", schema: ERASURE_RECEIPT_SCHEMA } },
    problems: [404],
    async handle({ exchange, path, query, ...call }) {
      const receipts = await listReceipts(call, query.user_id);
      const receipt = receipts.find(({ id }) => id === path.id);
      if (!receipt) throw new MemoryError("not_found", "no erasure receipt has this id.");
      return exchange.json(toWire(receipt) as object);
    },
  }),
];

/** Lists the receipts of one user or of the project. A key for one user gets only that user's. */
function listReceipts(
  {
    memoryOf,
    project,
    services,
    bearer,
  }: Pick<OperationRequest, "memoryOf" | "project" | "services" | "bearer">,
  user: string | undefined = bearer?.user,
): Promise<ErasureReceipt[]> {
  return user === undefined ? services.keepsake.erasures(project()) : memoryOf(user).erasures();
}

/** Gives the target of an erasure. The schema ensures that there is exactly one. */
function toErasureTarget(body: z.infer<typeof ERASURE_BODY>): Forget {
  const { about, ids, session_id, from, to, topic, where, where_text, attachments, everything } = body;
  if (about !== undefined) return about;
  if (ids !== undefined) return { ids };
  if (session_id !== undefined) return { session: session_id };
  if (from !== undefined || to !== undefined) return omitUndefined({ from, to });
  if (topic !== undefined) return { topic };
  if (where !== undefined) return { where: where as Where };
  if (where_text !== undefined) return { whereText: where_text as WhereText };
  if (attachments !== undefined) return { attachments };
  return { everything: everything ?? true };
}
