import * as z from "zod";
import type { Where } from "../../domain/filter.ts";
import type { RecallOptions } from "../../domain/recall.ts";
import { invalid } from "../../errors.ts";
import { count, countText, filter, kind, maybe, moment, name, share, text } from "../fields.ts";
import { OF_ONE, OF_USER, type Operation, operation } from "../operation.ts";
import { RECALL, RECALL_EXPLANATION } from "../shapes/recall.ts";
import { given, itemToWire, toWire } from "../wire.ts";

const QUERY = z.strictObject({ query: text.optional(), top_k: countText.optional() });

const BODY = z.strictObject({
  query: maybe(text),
  top_k: maybe(count),
  limit: maybe(count),
  max_tokens: maybe(z.int().min(1).max(1_000_000)),
  kinds: maybe(z.array(kind)),
  types: maybe(z.array(z.enum(["memory", "passage"]))),
  as_of: maybe(moment),
  known_at: maybe(moment),
  session_id: maybe(name),
  where: maybe(filter),
  min_score: maybe(share),
  explain: maybe(z.boolean()),
  profile: maybe(text),
});

const ABOUT = z.strictObject({ about: name.optional() });

/** Recall over HTTP: a query behind the "?", or the same and more as JSON; and why a recall gave what it gave. */
export const searchOperations: readonly Operation[] = [
  operation({
    id: "searchMemories",
    method: "POST",
    path: "/api/v1/memories/{user_id}/search",
    tag: "Search",
    summary: "Finds what is relevant to a query",
    description: "The query stands behind the `?` or in the body; what the body says counts first.",
    scope: "read",
    parameters: OF_USER,
    query: QUERY,
    body: BODY,
    isBodyOptional: true,
    answers: {
      200: { says: "What was found, best first; nothing where nothing is relevant.", schema: RECALL },
    },
    async handle({ exchange, path, query: asked, body, memoryOf }) {
      const { query, ...options } = searchOf(asked, body);
      const { items, ...found } = await memoryOf(path.user_id).recall(query, options);
      return exchange.json({ ...(toWire(found) as object), items: items.map(itemToWire) });
    },
  }),
  operation({
    id: "explainRecall",
    method: "GET",
    path: "/api/v1/memories/{user_id}/recalls/{id}",
    tag: "Search",
    summary: "Why an earlier recall gave what it gave, and left out what it left out",
    description: "`about` asks for one memory, passage or message by its id.",
    scope: "read",
    parameters: OF_ONE,
    query: ABOUT,
    answers: {
      200: {
        says: "The explanation; of what has been erased since, it says that and no more.",
        schema: RECALL_EXPLANATION,
      },
    },
    problems: [404],
    async handle({ exchange, path, query, memoryOf }) {
      const explained = await memoryOf(path.user_id).explain(path.id, given({ about: query.about }));
      return exchange.json(toWire(explained) as object);
    },
  }),
];

function searchOf(
  asked: z.infer<typeof QUERY>,
  body: z.infer<typeof BODY> | undefined,
): RecallOptions & { query: string } {
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
