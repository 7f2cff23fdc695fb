import * as z from "zod";
import { defineOperation, type Operation, USER_PATH_PARAMETERS } from "../operation.ts";
import {
  countTextSchema,
  createCountTextSchema,
  kindNameSchema,
  momentSchema,
  nameSchema,
  wholeNumberSchema,
  withSchemaId,
} from "../schemas/fields.ts";
import { MEMORY_SCHEMA } from "../schemas/memory.ts";
import { memoryToWire, omitUndefined, toWire } from "../schemas/wire.ts";

const CLUSTERS_QUERY = z.strictObject({
  limit: createCountTextSchema(1, 50).optional(),
  memories: createCountTextSchema(0, 100).optional(),
  kind: kindNameSchema.optional(),
});

const CLUSTERS_SCHEMA: z.ZodType = withSchemaId(
  "MemoryClusters",
  z.object({
    items: z.array(
      z.object({
        name: z.string().describe("Words that tell the group apart, joined by commas"),
        words: z.array(z.string()),
        size: wholeNumberSchema.describe("Number of memories"),
        memories: z.array(MEMORY_SCHEMA).describe("The most typical ones"),
      }),
    ),
    total: wholeNumberSchema.describe("Number of current memories"),
    left: wholeNumberSchema.describe("Number of memories in no group"),
  }),
);

const REFLECTIONS_QUERY = z.strictObject({
  from: momentSchema.optional(),
  to: momentSchema.optional(),
  topic: nameSchema.optional(),
  min_memories: countTextSchema.optional(),
  limit: countTextSchema.optional(),
  by: z.enum(["memory", "model"]).optional(),
});

const REFLECTIONS_SCHEMA: z.ZodType = withSchemaId(
  "Reflections",
  z.object({
    items: z.array(
      z.object({
        kind: z.literal("reflection"),
        topic: z.string(),
        month: z.string().describe("In UTC: `2026-03`"),
        text: z
          .string()
          .describe("The weightiest statements, word for word; by a model, what it says of them"),
        by: z.enum(["memory", "model"]).describe("Whose words these are"),
        memories: z.array(z.string()).describe("Ids of the memories that it sums up"),
        sources: z.array(z.string()).describe("Ids of the messages that these come from"),
        sensitive: z.boolean().optional(),
      }),
    ),
    total: wholeNumberSchema.describe("Number found, before the limit"),
  }),
);

/** Memories grouped by topic, and summed up by month. */
export const overviewOperations: readonly Operation[] = [
  defineOperation({
    id: "listClusters",
    method: "GET",
    path: "/api/v1/memories/{user_id}/clusters",
    tag: "Memories",
    summary: "Groups current memories by topic, and names each group",
    description:
      "Largest first, at most `limit` groups (default 12), each with its most typical `memories` (default 5). Computed at " +
      "each call; nothing is stored.",
    scope: "read",
    parameters: USER_PATH_PARAMETERS,
    query: CLUSTERS_QUERY,
    answers: { 200: { says: "The groups.", schema: CLUSTERS_SCHEMA } },
    async handle({ exchange, path, query, signal, memoryOf, services }) {
      const { items, ...counts } = await memoryOf(path.user_id).clusters({ ...omitUndefined(query), signal });
      const groups = items.map((group) => ({
        ...group,
        memories: group.memories.map((memory) =>
          memoryToWire(path.user_id, memory, services.keepsake.receiptWriter),
        ),
      }));
      return exchange.json({ items: groups, ...counts });
    },
  }),
  defineOperation({
    id: "listReflections",
    method: "GET",
    path: "/api/v1/memories/{user_id}/reflections",
    tag: "Memories",
    summary: "Sums up what the user said, by month and topic",
    description:
      "The words are those of the memories, which are named with their messages; with `by=model`, a configured model words the " +
      "first 12, and a sentence that cites no memory is left out. A reflection sums up at least " +
      "`min_memories` (default 2). Nothing is stored, so what was ended or erased is in none.",
    scope: "read",
    parameters: USER_PATH_PARAMETERS,
    query: REFLECTIONS_QUERY,
    answers: { 200: { says: "The newest month first.", schema: REFLECTIONS_SCHEMA } },
    async handle({ exchange, path, query, signal, memoryOf }) {
      const { from, to, topic, min_memories: minMemories, limit, by } = query;
      const found = await memoryOf(path.user_id).reflect({
        ...omitUndefined({ from, to, topic, minMemories, limit, by }),
        signal,
      });
      return exchange.json(toWire(found) as object);
    },
  }),
];
