import * as z from "zod";
import { ANSWER_TROUBLES, RERANK_OUTCOMES } from "../../domain/recall.ts";
import { timeSchema, wholeNumberSchema, withSchemaId } from "./fields.ts";
import { CLAIM_SCHEMA, KIND_SCHEMA, RECEIPT_SCHEMA, SOURCE_SCHEMA, STATUS_SCHEMA } from "./memory.ts";

const ITEM_TYPE_SCHEMA = z.enum(["memory", "passage"]);
const RETRIEVERS_SCHEMA = z.record(z.string(), z.object({ rank: wholeNumberSchema, score: z.number() }));
const SCORE_PARTS_SCHEMA = z.record(z.string(), z.number());

/** How a score came about. */
const SCORE_FIELDS = {
  adds: SCORE_PARTS_SCHEMA.describe(
    "The parts of the score: their sum, times all factors, is the score",
  ).optional(),
  factors: SCORE_PARTS_SCHEMA.optional(),
};

/** What a reranker said of an item, and of a recall. */
const RERANKED_SCHEMA = z
  .object({ rank: wholeNumberSchema, score: z.number().min(0).max(1) })
  .describe("The reranker's rank and score");
const RERANKING_SCHEMA = z
  .object({
    name: z.string().describe("The reranker's model"),
    outcome: z.enum(RERANK_OUTCOMES).describe("Unless it is `reranked`, the order stayed"),
    error: z.string().describe("The code of its error, if it failed").optional(),
    candidates: wholeNumberSchema.describe("The number of items that the reranker was given"),
  })
  .describe("Only with a reranker");

/** An item after `itemToWire`. */
const ITEM_SCHEMA: z.ZodType = withSchemaId(
  "Item",
  z.object({
    id: z.string(),
    type: ITEM_TYPE_SCHEMA,
    content: z.string().describe("The same as `text`"),
    text: z.string(),
    display: z.string().describe("The text of a memory, said to the user").optional(),
    kind: KIND_SCHEMA.optional(),
    claim: CLAIM_SCHEMA.optional(),
    status: STATUS_SCHEMA,
    score: z.number().min(0).max(1),
    at: timeSchema.describe("When it was said"),
    when: z.string().optional(),
    valid_from: timeSchema.optional(),
    valid_to: timeSchema.optional(),
    sources: z.array(SOURCE_SCHEMA),
    owner: z.string().describe("The other user who shares it; absent for the user's own").optional(),
    grant: z.string().describe("The id of the grant by which it is shared").optional(),
    why: z
      .object({
        arms: RETRIEVERS_SCHEMA,
        parts: SCORE_PARTS_SCHEMA.describe("Contributions to the relevance"),
        ...SCORE_FIELDS,
        words: z.array(z.string()),
        reranked: RERANKED_SCHEMA.optional(),
      })
      .describe("Only with `explain`")
      .optional(),
  }),
);

const DROPPED_SCHEMA = z.object({
  id: z.string(),
  type: ITEM_TYPE_SCHEMA,
  score: z.number(),
  why: z.string(),
});

export const RECALL_SCHEMA: z.ZodType = withSchemaId(
  "Recall",
  z
    .object({
      id: z.string().describe("The id to explain the recall later"),
      items: z.array(ITEM_SCHEMA).describe("Best first"),
      context: z.string().describe("The items as text for a prompt, within the budget"),
      tokens: wholeNumberSchema.describe("An estimate of the size of `context`"),
      abstained: z.boolean().describe("True if nothing is relevant"),
      explanation: z
        .object({
          query: z.string(),
          profile: z.string(),
          considered: wholeNumberSchema,
          threshold: z.number(),
          reranking: RERANKING_SCHEMA.optional(),
          dropped: z.array(DROPPED_SCHEMA),
        })
        .optional(),
    })
    .describe("The result of a recall."),
);

export const CONTEXT_SCHEMA: z.ZodType = withSchemaId(
  "Context",
  z
    .object({
      text: z.string().describe("The text for a prompt, within the budget; empty if nothing is known"),
      tokens: wholeNumberSchema.describe("An estimate of the size of `text`"),
      parts: z
        .object({
          standing: z.string().describe("Wishes and profile: the same bytes until the memories in it change"),
          request: z.string().describe("What bears on this request"),
        })
        .describe("The same text in two parts, for providers that cache the beginning of a prompt"),
      items: z.array(ITEM_SCHEMA).describe("What went in beyond the profile, best first"),
      left: wholeNumberSchema.describe("The number of relevant items that did not fit"),
      recall_id: z.string().describe("The id to explain the recall later"),
    })
    .describe("What a model is told before it answers a request."),
);

/** A source of an answer: an item, or a memory that its recall did not rank. */
const USED_ITEM_SCHEMA = z.looseObject({
  id: z.string(),
  type: ITEM_TYPE_SCHEMA,
  content: z.string(),
  text: z.string(),
});

export const CONVERSATION_REPLY_SCHEMA: z.ZodType = withSchemaId(
  "ConversationReply",
  z.object({
    reply: z.string(),
    by: z.enum(["model", "memory"]).describe("The author of the reply: composed from memory, or by a model"),
    model: z.string().describe("The model that was called, as its server names it").optional(),
    trouble: z
      .enum(ANSWER_TROUBLES)
      .describe(
        "Why the model gave no reply, or an incomplete one; `busy`: others were answered, and there was no time to read closely",
      )
      .optional(),
    memories_used: z.array(USED_ITEM_SCHEMA).describe("The sources of the reply, best first"),
    receipt: RECEIPT_SCHEMA,
    turn_number: wholeNumberSchema,
    usage: z.object({
      memories_used: wholeNumberSchema,
      prompt_tokens: wholeNumberSchema.describe("0 if no model was called"),
      cached_tokens: wholeNumberSchema.describe("Tokens among these from the provider's cache"),
      completion_tokens: wholeNumberSchema,
      total_tokens: wholeNumberSchema,
    }),
  }),
);

const PRESENT_STATUS_SCHEMA = z.enum(["current", "superseded", "retracted", "expired", "undone", "erased"]);

export const RECALL_EXPLANATION_SCHEMA: z.ZodType = withSchemaId(
  "RecallExplanation",
  z
    .object({
      id: z.string(),
      at: timeSchema,
      kind: z.enum(["recall", "answer"]),
      revision: wholeNumberSchema,
      session: z.string().optional(),
      message: z.string().optional(),
      bounds: z.object({
        limit: wholeNumberSchema,
        min_score: z.number(),
        as_of: timeSchema.optional(),
        known_at: timeSchema.optional(),
        session: z.string().optional(),
        agent: z.string().optional(),
        kinds: z.array(z.string()).optional(),
        types: z.array(z.string()).optional(),
        where: z.literal(true).optional(),
        where_text: z.literal(true).optional(),
        weights: SCORE_PARTS_SCHEMA.optional(),
      }),
      profile: z.string(),
      considered: wholeNumberSchema,
      threshold: z.number(),
      reranking: RERANKING_SCHEMA.optional(),
      items: z.array(
        z.object({
          id: z.string(),
          type: ITEM_TYPE_SCHEMA,
          now: PRESENT_STATUS_SCHEMA.describe(
            "The current status; for an erased item, nothing else is given",
          ),
          score: z.number().optional(),
          status: STATUS_SCHEMA.optional(),
          arms: RETRIEVERS_SCHEMA.optional(),
          parts: SCORE_PARTS_SCHEMA.optional(),
          ...SCORE_FIELDS,
          reranked: RERANKED_SCHEMA.optional(),
          text: z.string().optional(),
          sources: z.array(SOURCE_SCHEMA).optional(),
        }),
      ),
      dropped: z.array(
        z.object({
          id: z.string(),
          type: ITEM_TYPE_SCHEMA,
          now: PRESENT_STATUS_SCHEMA,
          score: z.number().optional(),
          why: z.string().optional(),
        }),
      ),
      shared: wholeNumberSchema
        .describe("The number of items that other users shared; nothing else of them is kept")
        .optional(),
      used: z.array(z.string()).optional(),
      about: z.object({ id: z.string(), reason: z.string(), text: z.string() }).optional(),
    })
    .describe("Which items a recall returned or dropped, and why."),
);
