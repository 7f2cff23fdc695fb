import { Hono } from "hono";
import * as z from "zod";
import type { Metadata } from "../../domain/filter.ts";
import { KINDS } from "../../domain/memory.ts";
import type { Keepsake, MemoryChanges, ScopedMemory } from "../../engine/surface.ts";
import type { App, Exchange, RequestFacts } from "../app-types.ts";
import { readBody, readQuery } from "../body.ts";
import { claim, countText, kind, maybe, metadata, share, text } from "../fields.ts";
import { given, memoryToWire, receiptToWire, toWire } from "../wire.ts";

const FIELDS = {
  kind: maybe(kind),
  type: maybe(kind),
  claim: maybe(claim),
  source_turn: maybe(z.int().min(0)),
  confidence: maybe(share),
  importance: maybe(share),
  valid_from: maybe(text),
  expires_at: maybe(text),
  metadata: maybe(metadata),
};

const NEW_MEMORY = z.strictObject({ user_id: text, content: text, created_at: maybe(text), ...FIELDS });

const CHANGES = z.strictObject({
  content: maybe(text),
  text: maybe(text),
  valid_to: maybe(text),
  ...FIELDS,
});

const LIST = z.strictObject({
  kind: maybe(kind),
  type: maybe(kind),
  status: maybe(z.enum(["current", "superseded", "retracted", "all"])),
  cursor: maybe(text),
  limit: maybe(countText),
});

const UNDO = z.strictObject({ revision: z.int().min(1) });

/** The memories of one user, by hand and by search. */
export function memoryRoutes(keepsake: Keepsake): App {
  const app = new Hono<RequestFacts>();
  const userOf = (context: Exchange): string => context.req.param("user") ?? "";
  const memoryOf = (context: Exchange, user = userOf(context)): ScopedMemory =>
    keepsake.scope({ project: context.get("project"), user });

  app.post("/memories", async (context) => {
    const body = await readBody(context, NEW_MEMORY);
    const memory = memoryOf(context, body.user_id);
    const fields = { ...fieldsOf(body, {}), ...given({ at: body.created_at }) };
    const receipt = await memory.add({ text: body.content, ...fields });
    const [line] = receipt.memories;
    const made = memoryToWire(body.user_id, await memory.get(line?.id ?? ""));
    const place = `/api/v1/memories/${encodeURIComponent(body.user_id)}/${line?.id}`;
    return context.json({ ...made, receipt: receiptToWire(receipt) }, 201, { location: place });
  });

  app.get("/memories/:user", async (context) => {
    const { type, kind: asked = type, ...rest } = readQuery(context, LIST);
    const { items, total, cursor } = await memoryOf(context).list(given({ kind: asked, ...rest }));
    return context.json({
      items: items.map((memory) => memoryToWire(userOf(context), memory)),
      total,
      ...(cursor === undefined ? {} : { cursor, next_cursor: cursor }),
    });
  });

  app.get("/memories/:user/stats", async (context) => {
    return context.json(await statsOf(userOf(context), memoryOf(context)));
  });

  app.delete("/memories/:user/all", async (context) => {
    return context.json(toWire(await memoryOf(context).forget({ everything: true })) as object);
  });

  app.post("/memories/:user/undo", async (context) => {
    const { revision } = await readBody(context, UNDO);
    return context.json(receiptToWire(await memoryOf(context).undo(revision)));
  });

  app.get("/memories/:user/:id", async (context) => {
    return context.json(memoryToWire(userOf(context), await memoryOf(context).get(context.req.param("id"))));
  });

  app.patch("/memories/:user/:id", async (context) => {
    const body = await readBody(context, CHANGES);
    const memory = memoryOf(context);
    const id = context.req.param("id");
    const held = await memory.get(id);
    const changes: MemoryChanges = {
      ...fieldsOf(body, held.metadata ?? {}),
      ...given({ text: body.content ?? body.text, validTo: body.valid_to }),
    };
    const receipt = await memory.update(id, changes);
    return context.json({
      ...memoryToWire(userOf(context), await memory.get(id)),
      receipt: receiptToWire(receipt),
    });
  });

  app.delete("/memories/:user/:id", async (context) => {
    return context.json(receiptToWire(await memoryOf(context).remove(context.req.param("id"))));
  });

  app.get("/memories/:user/:id/history", async (context) => {
    const versions = await memoryOf(context).history(context.req.param("id"));
    return context.json({ items: versions.map((version) => memoryToWire(userOf(context), version)) });
  });

  return app;
}

type Fields = Omit<z.infer<typeof CHANGES>, "content" | "text" | "valid_to">;

/** `source_turn` has no place of its own in a memory: it is kept in the metadata. */
function fieldsOf(body: Fields, held: Metadata): MemoryChanges {
  const asked = body.metadata as Metadata | undefined;
  const turn = body.source_turn;
  return given({
    kind: body.type ?? body.kind,
    claim: body.claim,
    confidence: body.confidence,
    importance: body.importance,
    validFrom: body.valid_from,
    expiresAt: body.expires_at,
    metadata: turn === undefined ? asked : { ...(asked ?? held), source_turn: turn },
  });
}

async function statsOf(user: string, memory: ScopedMemory): Promise<object> {
  const [current, superseded, retracted] = await Promise.all(
    (["current", "superseded", "retracted"] as const).map(async (status) =>
      memory.list({ status, limit: 1 }),
    ),
  );
  const kinds = await Promise.all(
    KINDS.map(async (kind) => [kind, (await memory.list({ kind, limit: 1 })).total] as const),
  );
  const [newest] = await memory.history(undefined, { limit: 1 });
  return {
    user_id: user,
    total: (current?.total ?? 0) + (superseded?.total ?? 0) + (retracted?.total ?? 0),
    current: current?.total ?? 0,
    superseded: superseded?.total ?? 0,
    retracted: retracted?.total ?? 0,
    kinds: Object.fromEntries(kinds),
    revision: newest?.revision ?? 0,
    ...given({ changed_at: newest?.at }),
  };
}
