import { Hono } from "hono";
import * as z from "zod";
import type { Where } from "../../domain/filter.ts";
import type { ErasureReceipt } from "../../domain/receipt.ts";
import type { Forget, Keepsake } from "../../engine/surface.ts";
import { MemoryError } from "../../errors.ts";
import type { App, Exchange, RequestFacts } from "../app-types.ts";
import { readBody, readQuery } from "../body.ts";
import { maybe, metadata, text } from "../fields.ts";
import { given, receiptToWire, toWire } from "../wire.ts";

const ERASURE = z
  .strictObject({
    user_id: text,
    about: maybe(text),
    ids: maybe(z.array(text).min(1).max(1000)),
    session_id: maybe(text),
    from: maybe(text),
    to: maybe(text),
    topic: maybe(text),
    where: maybe(metadata),
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

const WHOSE = z.strictObject({ user_id: maybe(text) });

/** Erasing: first the plan, where asked for, then the deed and its receipt, which can be read again. */
export function erasureRoutes(keepsake: Keepsake): App {
  const app = new Hono<RequestFacts>();
  const receiptsOf = (context: Exchange, user: string | undefined): Promise<ErasureReceipt[]> => {
    const project = context.get("project");
    return user === undefined ? keepsake.erasures(project) : keepsake.scope({ project, user }).erasures();
  };
  app.post("/erasures", async (context) => {
    const body = await readBody(context, ERASURE);
    const memory = keepsake.scope({ project: context.get("project"), user: body.user_id });
    const what = meantBy(body);
    if (body.dry_run) {
      return context.json(receiptToWire(await memory.forget(what, { dryRun: true })));
    }
    const receipt = await memory.forget(what);
    const { memories, messages, rewritten = 0 } = receipt.erased;
    const isKept = memories + messages + rewritten > 0;
    return context.json(toWire(receipt) as object, isKept ? 201 : 200);
  });

  app.get("/erasures", async (context) => {
    const { user_id } = readQuery(context, WHOSE);
    const receipts = await receiptsOf(context, user_id);
    return context.json({ items: receipts.map(toWire), total: receipts.length });
  });

  app.get("/erasures/:id", async (context) => {
    const { user_id } = readQuery(context, WHOSE);
    const receipts = await receiptsOf(context, user_id);
    const receipt = receipts.find(({ id }) => id === context.req.param("id"));
    if (!receipt) throw new MemoryError("not_found", "there is no receipt of an erasure with this id.");
    return context.json(toWire(receipt) as object);
  });
  return app;
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
