import { Hono } from "hono";
import * as z from "zod";
import type { Where } from "../../domain/filter.ts";
import type { RecallOptions } from "../../domain/recall.ts";
import type { Keepsake } from "../../engine/surface.ts";
import { invalid } from "../../errors.ts";
import type { App, Exchange, RequestFacts } from "../app-types.ts";
import { readOptionalBody, readQuery } from "../body.ts";
import { count, countText, kind, maybe, metadata, share, text } from "../fields.ts";
import { given, itemToWire, toWire } from "../wire.ts";

const QUERY = z.strictObject({ query: maybe(text), top_k: maybe(countText) });

const BODY = z.strictObject({
  query: maybe(text),
  top_k: maybe(count),
  limit: maybe(count),
  max_tokens: maybe(z.int().min(1)),
  kinds: maybe(z.array(kind)),
  types: maybe(z.array(z.enum(["memory", "passage"]))),
  as_of: maybe(text),
  known_at: maybe(text),
  session_id: maybe(text),
  where: maybe(metadata),
  min_score: maybe(share),
  explain: maybe(z.boolean()),
  profile: maybe(text),
});

/** Recall over HTTP: a query behind the "?", or the same and more as JSON. */
export function searchRoutes(keepsake: Keepsake): App {
  const app = new Hono<RequestFacts>();
  app.post("/memories/:user/search", async (context) => {
    const { query, ...options } = await searchOf(context);
    const found = await keepsake
      .scope({ project: context.get("project"), user: context.req.param("user") })
      .recall(query, options);
    return context.json({ ...(toWire(found) as object), items: found.items.map(itemToWire) });
  });
  app.get("/memories/:user/recalls/:id", async (context) => {
    const { about } = readQuery(context, z.strictObject({ about: maybe(text) }));
    const explained = await keepsake
      .scope({ project: context.get("project"), user: context.req.param("user") })
      .explain(context.req.param("id"), given({ about }));
    return context.json(toWire(explained) as object);
  });
  return app;
}

/** What the body says counts before what stands behind the "?". */
async function searchOf(context: Exchange): Promise<RecallOptions & { query: string }> {
  const asked = readQuery(context, QUERY);
  const body = await readOptionalBody(context, BODY);
  const query = body?.query ?? asked.query;
  if (query === undefined) throw invalid("query: say what to search for.");
  return {
    query,
    ...given({
      limit: body?.top_k ?? body?.limit ?? asked.top_k,
      maxTokens: body?.max_tokens,
      kinds: body?.kinds,
      types: body?.types,
      asOf: body?.as_of,
      knownAt: body?.known_at,
      session: body?.session_id,
      where: body?.where as Where | undefined,
      minScore: body?.min_score,
      explain: body?.explain,
      profile: body?.profile,
    }),
  };
}
