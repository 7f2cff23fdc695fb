import * as z from "zod";
import type { Where } from "../../domain/filter.ts";
import type { RecallOptions } from "../../domain/recall.ts";
import { invalid } from "../../errors.ts";
import {
  countSchema,
  countTextSchema,
  filterSchema,
  kindSchema,
  momentSchema,
  nameSchema,
  shareSchema,
  textSchema,
  toOptional,
} from "../fields.ts";
import { defineOperation, ITEM_PATH_PARAMETERS, type Operation, USER_PATH_PARAMETERS } from "../operation.ts";
import { RECALL_EXPLANATION_SCHEMA, RECALL_SCHEMA } from "../shapes/recall.ts";
import { itemToWire, omitUndefined, toWire } from "../wire.ts";

const SEARCH_QUERY = z.strictObject({ query: textSchema.optional(), top_k: countTextSchema.optional() });

const SEARCH_BODY = z.strictObject({
  query: toOptional(textSchema),
  top_k: toOptional(countSchema),
  limit: toOptional(countSchema),
  max_tokens: toOptional(z.int().min(1).max(1_000_000)),
  kinds: toOptional(z.array(kindSchema)),
  types: toOptional(z.array(z.enum(["memory", "passage"]))),
  as_of: toOptional(momentSchema),
  known_at: toOptional(momentSchema),
  session_id: toOptional(nameSchema),
  where: toOptional(filterSchema),
  min_score: toOptional(shareSchema),
  explain: toOptional(z.boolean()),
  profile: toOptional(textSchema),
});

const EXPLAIN_QUERY = z.strictObject({ about: nameSchema.optional() });

/** Recall over HTTP: a query behind the "?", or the same and more as JSON; and why a recall gave what it gave. */
export const searchOperations: readonly Operation[] = [
  defineOperation({
    id: "searchMemories",
    method: "POST",
    path: "/api/v1/memories/{user_id}/search",
    tag: "Search",
    summary: "Finds what is relevant to a query",
    description: "The query stands behind the `?` or in the body; what the body says counts first.",
    scope: "read",
    parameters: USER_PATH_PARAMETERS,
    query: SEARCH_QUERY,
    body: SEARCH_BODY,
    isBodyOptional: true,
    answers: {
      200: { says: "What was found, best first; nothing where nothing is relevant.", schema: RECALL_SCHEMA },
    },
    async handle({ exchange, path, query: asked, body, memoryOf }) {
      const { query, ...options } = toRecallOptions(asked, body);
      const { items, ...found } = await memoryOf(path.user_id).recall(query, options);
      return exchange.json({ ...(toWire(found) as object), items: items.map(itemToWire) });
    },
  }),
  defineOperation({
    id: "explainRecall",
    method: "GET",
    path: "/api/v1/memories/{user_id}/recalls/{id}",
    tag: "Search",
    summary: "Why an earlier recall gave what it gave, and left out what it left out",
    description: "`about` asks for one memory, passage or message by its id.",
    scope: "read",
    parameters: ITEM_PATH_PARAMETERS,
    query: EXPLAIN_QUERY,
    answers: {
      200: {
        says: "The explanation; of what has been erased since, it says that and no more.",
        schema: RECALL_EXPLANATION_SCHEMA,
      },
    },
    problems: [404],
    async handle({ exchange, path, query, memoryOf }) {
      const explained = await memoryOf(path.user_id).explain(path.id, omitUndefined({ about: query.about }));
      return exchange.json(toWire(explained) as object);
    },
  }),
];

function toRecallOptions(
  asked: z.infer<typeof SEARCH_QUERY>,
  body: z.infer<typeof SEARCH_BODY> | undefined,
): RecallOptions & { query: string } {
  const query = body?.query ?? asked.query;
  if (query === undefined) throw invalid("query: say what to search for.");
  return {
    query,
    ...omitUndefined({
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
