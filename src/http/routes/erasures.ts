import { Hono } from "hono";
import * as z from "zod";
import type { Where } from "../../domain/filter.ts";
import type { Forget, Keepsake } from "../../engine/surface.ts";
import { MemoryError } from "../../errors.ts";
import type { App, RequestFacts } from "../app-types.ts";
import { readBody } from "../body.ts";
import { maybe, metadata, text } from "../fields.ts";
import { receiptToWire, toWire } from "../wire.ts";

const ERASURE = z
  .strictObject({
    user_id: text,
    about: maybe(text),
    ids: maybe(z.array(text).min(1).max(1000)),
    session_id: maybe(text),
    where: maybe(metadata),
    everything: maybe(z.literal(true)),
    dry_run: maybe(z.boolean()),
  })
  .refine(
    ({ about, ids, session_id, where, everything }) =>
      [about, ids, session_id, where, everything].filter((one) => one !== undefined).length === 1,
    { message: "say what to erase by exactly one of about, ids, session_id, where, everything" },
  );

/** Erasing: first the plan, where asked for, then the deed and its receipt, which can be read again. */
export function erasureRoutes(keepsake: Keepsake): App {
  const app = new Hono<RequestFacts>();
  app.post("/erasures", async (context) => {
    const body = await readBody(context, ERASURE);
    const memory = keepsake.scope({ project: context.get("project"), user: body.user_id });
    const what = meantBy(body);
    if (body.dry_run) {
      return context.json(receiptToWire(await memory.forget(what, { dryRun: true })));
    }
    const receipt = await memory.forget(what);
    const isKept = receipt.erased.memories + receipt.erased.messages > 0;
    return context.json(toWire(receipt) as object, isKept ? 201 : 200);
  });

  app.get("/erasures/:id", async (context) => {
    const { receipts } = await keepsake.audit();
    const receipt = receipts.find(
      ({ id, project }) => id === context.req.param("id") && project === context.get("project"),
    );
    if (!receipt) throw new MemoryError("not_found", "there is no receipt of an erasure with this id.");
    return context.json(toWire(receipt) as object);
  });
  return app;
}

/** The schema has made sure that there is exactly one. */
function meantBy({ about, ids, session_id, where, everything }: z.infer<typeof ERASURE>): Forget {
  if (about !== undefined) return about;
  if (ids !== undefined) return { ids };
  if (session_id !== undefined) return { session: session_id };
  if (where !== undefined) return { where: where as Where };
  return { everything: everything ?? true };
}
