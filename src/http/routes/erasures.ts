import * as z from "zod";
import type { Where } from "../../domain/filter.ts";
import type { ErasureReceipt } from "../../domain/receipt.ts";
import type { Forget } from "../../engine/surface.ts";
import { MemoryError } from "../../errors.ts";
import { filter, maybe, moment, name, text } from "../fields.ts";
import { noteErasures } from "../once.ts";
import { type Asked, type Operation, operation } from "../operation.ts";
import { PAGE_OF_SOME, pageOf } from "../pages.ts";
import { ERASURE_PLAN, ERASURE_RECEIPT, ERASURES } from "../shapes/receipt.ts";
import { given, receiptToWire, toWire } from "../wire.ts";

const ERASURE = z
  .strictObject({
    user_id: name,
    about: maybe(text),
    ids: maybe(z.array(name).min(1).max(1000)),
    session_id: maybe(name),
    from: maybe(moment),
    to: maybe(moment),
    topic: maybe(text),
    where: maybe(filter),
    everything: maybe(z.literal(true)),
    dry_run: maybe(z.boolean()),
  })
  .refine(
    ({ about, ids, session_id, from, to, topic, where, everything }) =>
      [about, ids, session_id, from ?? to, topic, where, everything].filter((one) => one !== undefined)
        .length === 1,
    {
      message:
        "say what to erase by exactly one of about, ids, session_id, from and to, topic, where, everything",
    },
  );

const WHOSE = z.strictObject({ user_id: name.optional() });
const BY_ID = z.strictObject({ id: name });

/** Erasing: first the plan, where asked for, then the deed and its receipt, which can be read again. */
export const erasureOperations: readonly Operation[] = [
  operation({
    id: "erase",
    method: "POST",
    path: "/api/v1/erasures",
    tag: "Erasure",
    summary: "Erases what is named, from every place, with a receipt",
    description: "With `dry_run` it gives the plan, and nothing is gone.",
    scope: "erase",
    body: ERASURE,
    takesKey: true,
    answers: {
      200: {
        says: "The plan; or that there was nothing to erase.",
        schema: z.union([ERASURE_PLAN, ERASURE_RECEIPT]),
      },
      201: { says: "The receipt of what was erased.", schema: ERASURE_RECEIPT },
    },
    problems: [404, 409],
    async handle({ exchange, body, memoryOf }) {
      const memory = memoryOf(body.user_id);
      const what = meantBy(body);
      if (body.dry_run) return exchange.json(receiptToWire(await memory.forget(what, { dryRun: true })));
      const receipt = await memory.forget(what);
      noteErasures(exchange, [receipt]);
      const { memories, messages, rewritten = 0 } = receipt.erased;
      const isKept = memories + messages + rewritten > 0;
      return exchange.json(toWire(receipt) as object, isKept ? 201 : 200);
    },
  }),
  operation({
    id: "listErasures",
    method: "GET",
    path: "/api/v1/erasures",
    tag: "Erasure",
    summary: "The receipts of one user's erasures, or of all of the project, oldest first",
    scope: "read",
    query: PAGE_OF_SOME,
    answers: { 200: { says: "A page of the receipts.", schema: ERASURES } },
    async handle({ exchange, query, ...asked }) {
      const receipts = await receiptsOf(asked, query.user_id);
      const { items, ...next } = pageOf(receipts, query, ({ id }) => id);
      return exchange.json({ items: items.map(toWire), total: receipts.length, ...next });
    },
  }),
  operation({
    id: "getErasure",
    method: "GET",
    path: "/api/v1/erasures/{id}",
    tag: "Erasure",
    summary: "The receipt of an erasure again",
    scope: "read",
    parameters: BY_ID,
    query: WHOSE,
    answers: { 200: { says: "The receipt.", schema: ERASURE_RECEIPT } },
    problems: [404],
    async handle({ exchange, path, query, ...asked }) {
      const receipts = await receiptsOf(asked, query.user_id);
      const receipt = receipts.find(({ id }) => id === path.id);
      if (!receipt) throw new MemoryError("not_found", "there is no receipt of an erasure with this id.");
      return exchange.json(toWire(receipt) as object);
    },
  }),
];

/** Of one user, or of all of the project; a key that is bound to a user has that user's alone. */
function receiptsOf(
  { memoryOf, project, services, bearer }: Pick<Asked, "memoryOf" | "project" | "services" | "bearer">,
  user: string | undefined = bearer?.user,
): Promise<ErasureReceipt[]> {
  return user === undefined ? services.keepsake.erasures(project()) : memoryOf(user).erasures();
}

/** The schema has made sure that there is exactly one. */
function meantBy(body: z.infer<typeof ERASURE>): Forget {
  const { about, ids, session_id, from, to, topic, where, everything } = body;
  if (about !== undefined) return about;
  if (ids !== undefined) return { ids };
  if (session_id !== undefined) return { session: session_id };
  if (from !== undefined || to !== undefined) return given({ from, to });
  if (topic !== undefined) return { topic };
  if (where !== undefined) return { where: where as Where };
  return { everything: everything ?? true };
}
